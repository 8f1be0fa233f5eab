"""This module turns a scorer into an evaluator of Langfuse's experiments."""

from collections.abc import Callable
from functools import partial
from typing import Any

from anyio import to_thread

from rag_rule_explainer.pytest_plugin import Undecided

from .scoring import RuleScorer, framework


def langfuse_evaluator(scorer: RuleScorer, key: str | None = "question") -> Callable[..., Any]:
    """Returns the scorer as an evaluator for ``run_experiment``. If a score is undecided, the evaluator
    raises an error: Langfuse logs the error, and gets no score.

    What the scorer expects of the answer, such as ids of documents, is read from the item's
    ``expected_output``. ``key``: the key of the application's input in an item's input, if this is a
    mapping; None if the application gets all of it. Raises MissingExtra if Langfuse is not installed.
    """
    langfuse = framework("langfuse", "langfuse")

    async def evaluator(*, input: Any, output: Any, expected_output: Any = None, **_: Any) -> Any:  # noqa: A002 -- Langfuse's name
        asked = partial(scorer.of_record, input, key, output, expected_output)
        scored = await to_thread.run_sync(asked)
        if scored.value is None:
            raise Undecided(scored.reason)
        return langfuse.Evaluation(name=scored.name, value=scored.value, comment=scored.reason)

    evaluator.__name__ = scorer.name
    return evaluator
