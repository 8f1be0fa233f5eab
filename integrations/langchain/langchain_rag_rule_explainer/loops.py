"""This module makes LangGraph save the results of nodes in the context of the current run.

LangGraph saves them in threads that do not have this context. Without this module, a replay would save
them in the real checkpointer.
"""

import re
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation, taking_part_again

_RUN = "_rag_rule_run"


def _in_its_run(name: str, method: Any) -> Any:
    @wraps(method)
    def begin(loop: Any, *args: Any, **kwargs: Any) -> None:
        setattr(loop, _RUN, participation())
        method(loop, *args, **kwargs)

    @wraps(method)
    def save(loop: Any, *args: Any, **kwargs: Any) -> Any:
        run = getattr(loop, _RUN, None)
        if run is None or participation() is not None:
            return method(loop, *args, **kwargs)
        # If several nodes run at the same time, LangGraph calls this method in the thread of a node that
        # has ended. That thread may lack the context of the run, so the context is set.
        with taking_part_again(run):
            return method(loop, *args, **kwargs)

    return begin if name == "__init__" else save


INTERCEPTIONS = (
    Interception("langgraph.pregel._loop", "PregelLoop", re.compile("__init__|put_writes"), _in_its_run),
)
