"""This module finds the run in which a retriever is called."""

from rag_rule_explainer.instrumentation.recording.current import GoingOn
from rag_rule_explainer.instrumentation.run_context import inside_retrieval
from rag_rule_explainer.instrumentation.searches.intercepted_call import asked_part

from .ordinary import ordinary_recording


def current_part(retriever: object) -> GoingOn | None:
    """Returns the gate of the run in which the retriever is called: the object that records or serves it.

    The run is a replay, a baseline or an ordinary run that is recorded. Returns None outside of such
    runs, and if the explanation does not concern this retriever.
    """
    part = asked_part(retriever)
    if part is None and not inside_retrieval.get():
        part = ordinary_recording()
    return part if part is not None and part.concerns(retriever) else None
