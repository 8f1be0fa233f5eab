"""This module hands a scorer to promptfoo. It needs nothing of promptfoo's.

An assertion of promptfoo passes or fails, also if it raises an error. Only a provider can have an error.
So a provider scores, and the assertion ``{type: python, value: output}`` says what it scored.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .scoring import RuleScorer


def promptfoo_provider(scorer: RuleScorer, key: str | None = "question") -> Callable[..., Any]:
    """Returns a provider, to be called ``call_api``. A score that is undecided is an error of the
    provider, which promptfoo counts apart from failures.

    The application's input and what is expected are variables of the test. ``key``: the variable with the
    input; None if the application gets all of them.
    """

    def call_api(_prompt: str, _options: Any, context: Mapping[str, Any]) -> dict[str, Any]:
        given = context["vars"]
        scored = scorer.of_record(given, key, None, given)
        if scored.value is None:
            return {"error": f"{scored.name} is undecided: {scored.reason}"}
        result = {"pass": scored.value == 1, "score": scored.value, "reason": scored.reason}
        return {"output": {**result, "namedScores": {scored.name: scored.value}}}

    return call_api
