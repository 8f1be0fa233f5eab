"""This module turns a scorer into a provider of promptfoo. It does not import promptfoo.

An assertion of promptfoo that raises an error counts as failed, but an undecided score must not count as
failed. Only a provider can report an error. So the scorer becomes a provider, whose output is the score.
The assertion ``{type: python, value: output}`` returns this output.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .scoring import RuleScorer


def promptfoo_provider(scorer: RuleScorer, key: str | None = "question") -> Callable[..., Any]:
    """Returns the scorer as a provider, a function that must have the name ``call_api``. An undecided
    score is an error of the provider, which promptfoo counts apart from failures.

    The application's input and what the scorer expects of the answer, such as ids of documents, are
    variables of the test. ``key``: the variable with the input; None if the application gets all of them.
    """

    def call_api(_prompt: str, _options: Any, context: Mapping[str, Any]) -> dict[str, Any]:
        given = context["vars"]
        scored = scorer.of_record(given, key, None, given)
        if scored.value is None:
            return {"error": f"{scored.name} is undecided: {scored.reason}"}
        result = {"pass": scored.value == 1, "score": scored.value, "reason": scored.reason}
        return {"output": {**result, "namedScores": {scored.name: scored.value}}}

    return call_api
