"""This module hands a scorer to LangSmith's ``evaluate``. It needs nothing of LangSmith's."""

from collections.abc import Callable
from typing import Any

from .scoring import RuleScorer


def langsmith_evaluator(scorer: RuleScorer, key: str | None = "question") -> Callable[..., Any]:
    """Returns an evaluator. A score that is undecided is None, with the value "undecided"; LangSmith
    averages the others.

    What is expected is read from the example's outputs. ``key``: the key of the application's input in
    the example's inputs; None if the application gets all of them.
    """

    def evaluator(inputs: Any, outputs: Any, reference_outputs: Any) -> dict[str, Any]:
        scored = scorer.of_record(inputs, key, outputs, reference_outputs)
        undecided = {"value": "undecided"} if scored.undecided else {}
        return {"key": scored.name, "score": scored.value, "comment": scored.reason, **undecided}

    evaluator.__name__ = scorer.name
    return evaluator
