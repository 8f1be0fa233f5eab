"""This module turns a scorer into a scorer of Inspect (inspect_ai)."""

from functools import partial
from typing import Any

from anyio import to_thread

from .scoring import RuleScorer, framework


def inspect_scorer(scorer: RuleScorer) -> Any:
    """Returns the scorer as a scorer of Inspect. An undecided score is "unscored": it stays in the log,
    and is left out of metrics.

    The application gets the text of the sample's input. What the scorer expects of the answer, such as
    ids of documents, is read from the sample's metadata. Raises MissingExtra if Inspect is not installed.
    """
    inspect = framework("inspect_ai.scorer", "inspect-ai")

    def made() -> Any:
        async def score(state: Any, _target: Any) -> Any:
            answer = state.output.completion if state.output.choices else None
            asked = partial(scorer.of_record, state.input_text, None, answer, state.metadata)
            scored = await to_thread.run_sync(asked)
            if scored.value is None:
                return inspect.Score.unscored(reason="undecided", explanation=scored.reason)
            return inspect.Score(value=scored.value, answer=answer, explanation=scored.reason)

        return score

    return inspect.scorer(metrics=[inspect.mean(), inspect.stderr()], name=scorer.name)(made)()
