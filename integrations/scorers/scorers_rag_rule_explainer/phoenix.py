"""This module turns a scorer into an evaluator of Phoenix (phoenix.evals)."""

from typing import Any

from .scoring import RuleScorer, framework


def phoenix_evaluator(scorer: RuleScorer) -> Any:
    """Returns the scorer as an evaluator of Phoenix. An undecided score has the label "undecided", and no
    number.

    A record has the application's input under "input", its output under "output", and what the scorer
    expects of the answer, such as ids of documents, under "metadata"; ``phoenix.evals.bind_evaluator``
    maps other names. Raises MissingExtra if Phoenix's package of evaluators is not installed.
    """
    evals = framework("phoenix.evals", "arize-phoenix-evals")

    def evaluator(input: Any, output: Any = None, metadata: Any = None) -> Any:  # noqa: A002 -- Phoenix passes the entries of a record by these names
        scored = scorer.of_record(input, None, output, metadata)
        label = "undecided" if scored.undecided else "passed" if scored.value else "failed"
        return evals.Score(
            name=scored.name, score=scored.value, label=label, explanation=scored.reason, kind="code"
        )

    return evals.create_evaluator(scorer.name, kind="code")(evaluator)
