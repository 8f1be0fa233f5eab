"""This module turns a scorer into a metric of DeepEval."""

from functools import partial
from typing import Any

from anyio import to_thread

from .scoring import RuleScorer, framework


def deepeval_metric(scorer: RuleScorer) -> Any:
    """Returns the scorer as a metric of DeepEval. If a score is undecided, the metric reports an error
    and no score.

    The application gets the test case's input. What the scorer expects of the answer, such as ids of
    documents, is read from the test case's metadata. Raises MissingExtra if DeepEval is not installed.
    """
    base: Any = framework("deepeval.metrics", "deepeval").BaseMetric

    class RuleMetric(base):
        threshold = 1.0
        __name__ = scorer.name

        def measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
            scored = scorer.of_record(
                test_case.input, None, test_case.actual_output, test_case.metadata or {}
            )
            self.score, self.reason = scored.value, scored.reason
            self.error = f"undecided: {scored.reason}" if scored.undecided else None
            self.success = scored.value == 1
            return scored.value

        async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float | None:
            return await to_thread.run_sync(partial(self.measure, test_case))

    return RuleMetric()
