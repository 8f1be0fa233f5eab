"""This module makes the threads in which LangGraph saves results of nodes part of the run.

LangGraph saves them in threads that do not have the context of the run.
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
        # If several nodes run at once, the thread of the node that ended calls this method.
        with taking_part_again(run):
            return method(loop, *args, **kwargs)

    return begin if name == "__init__" else save


INTERCEPTIONS = (
    Interception("langgraph.pregel._loop", "PregelLoop", re.compile("__init__|put_writes"), _in_its_run),
)
