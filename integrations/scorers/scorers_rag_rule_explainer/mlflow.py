"""This module turns a scorer into a scorer for ``mlflow.genai.evaluate``."""

from typing import Any

from .scoring import RuleScorer, framework


def mlflow_scorer(scorer: RuleScorer, key: str | None = "question") -> Any:
    """Returns the scorer as a scorer of MLflow. An undecided score is a feedback with an error, which
    MLflow leaves out of its means.

    What the scorer expects of the answer, such as ids of documents, is read from the record's
    expectations. ``key``: the key of the application's input in the record's inputs; None if the
    application gets all of them. Raises MissingExtra if MLflow is not installed.
    """
    genai, entities = framework("mlflow.genai", "mlflow"), framework("mlflow.entities", "mlflow")

    def scored(inputs: Any, outputs: Any, expectations: Any) -> Any:
        score = scorer.of_record(inputs, key, outputs, expectations)
        if score.undecided:
            error = entities.AssessmentError("UNDECIDED", score.reason)
            return entities.Feedback(name=score.name, error=error, rationale=score.reason)
        return entities.Feedback(name=score.name, value=score.value, rationale=score.reason)

    return genai.scorer(scored, name=scorer.name)
