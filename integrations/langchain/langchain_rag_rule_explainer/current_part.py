"""This module finds the run that a call of a retriever belongs to."""

from rag_rule_explainer.instrumentation.recording.current import GoingOn
from rag_rule_explainer.instrumentation.run_context import inside_retrieval
from rag_rule_explainer.instrumentation.searches.intercepted_call import asked_part

from .ordinary import ordinary_recording


def current_part(retriever: object) -> GoingOn | None:
    """Returns the replay, baseline or recorded ordinary run of this call; None if there is none."""
    part = asked_part(retriever)
    if part is None and not inside_retrieval.get():
        part = ordinary_recording()
    return part if part is not None and part.concerns(retriever) else None
