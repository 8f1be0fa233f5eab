"""This module turns a scorer into an evaluator of Pydantic Evals."""

from functools import partial
from typing import Any

from anyio import to_thread

from rag_rule_explainer.pytest_plugin import Undecided

from .scoring import RuleScorer, framework


def pydantic_evaluator(scorer: RuleScorer, key: str | None = "question") -> Any:
    """Returns the scorer as an evaluator of Pydantic Evals. An undecided score is a failure of the
    evaluator, which a report lists apart from scores.

    What the scorer expects of the answer, such as ids of documents, is read from the case's metadata.
    ``key``: the key of the application's input in a case's inputs, if these are a mapping; None if the
    application gets all of them. Raises MissingExtra if Pydantic Evals is not installed.
    """
    evals = framework("pydantic_evals.evaluators", "pydantic-evals")

    class RuleEvaluator(evals.Evaluator):
        def get_default_evaluation_name(self) -> str:
            return scorer.name

        async def evaluate(self, ctx: Any) -> Any:
            asked = partial(scorer.of_record, ctx.inputs, key, ctx.output, ctx.metadata)
            scored = await to_thread.run_sync(asked)
            if scored.value is None:
                raise Undecided(scored.reason)
            return evals.EvaluationReason(value=scored.value, reason=scored.reason)

    return RuleEvaluator()
