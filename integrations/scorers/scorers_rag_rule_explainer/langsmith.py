"""This module turns a scorer into an evaluator for LangSmith's ``evaluate``. It does not import
LangSmith."""

from collections.abc import Callable
from typing import Any

from .scoring import RuleScorer


def langsmith_evaluator(scorer: RuleScorer, key: str | None = "question") -> Callable[..., Any]:
    """Returns the scorer as an evaluator. If a score is undecided, it is None, and the feedback has the
    value "undecided"; LangSmith averages only the other scores.

    What the scorer expects of the answer, such as ids of documents, is read from the example's outputs.
    ``key``: the key of the application's input in the example's inputs; None if the application gets all
    of them.
    """

    def evaluator(inputs: Any, outputs: Any, reference_outputs: Any) -> dict[str, Any]:
        scored = scorer.of_record(inputs, key, outputs, reference_outputs)
        undecided = {"value": "undecided"} if scored.undecided else {}
        return {"key": scored.name, "score": scored.value, "comment": scored.reason, **undecided}

    evaluator.__name__ = scorer.name
    return evaluator
