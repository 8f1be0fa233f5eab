"""What a call of a retriever takes part in."""

from rag_rule_explainer.instrumentation.recording.current import GoingOn
from rag_rule_explainer.instrumentation.run_context import inside_retrieval
from rag_rule_explainer.instrumentation.searches.intercepted_call import asked_part as asked_in_run

from .ordinary import ordinary_recording


def asked_part(retriever: object) -> GoingOn | None:
    """Returns a replay, a baseline, or a run with our callback handler; None for none of these."""
    part = asked_in_run(retriever)
    if part is None and not inside_retrieval.get():
        part = ordinary_recording()
    return part if part is not None and part.concerns(retriever) else None
