"""This module hands a scorer to Phoenix (phoenix.evals)."""

from typing import Any

from .scoring import RuleScorer, framework


def phoenix_evaluator(scorer: RuleScorer) -> Any:
    """Returns an evaluator of Phoenix. A score that is undecided has the label "undecided", and no
    score.

    A record has the application's input under "input", its output under "output", and what is expected
    under "metadata"; ``phoenix.evals.bind_evaluator`` maps other names. Raises MissingExtra if Phoenix's
    package of evaluators is not installed.
    """
    evals = framework("phoenix.evals", "arize-phoenix-evals")

    def evaluator(input: Any, output: Any = None, metadata: Any = None) -> Any:  # noqa: A002 -- a record's names
        scored = scorer.of_record(input, None, output, metadata)
        label = "undecided" if scored.undecided else "passed" if scored.value else "failed"
        return evals.Score(
            name=scored.name, score=scored.value, label=label, explanation=scored.reason, kind="code"
        )

    return evals.create_evaluator(scorer.name, kind="code")(evaluator)
