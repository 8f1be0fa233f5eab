"""Answers, names and judges that users give in odd forms."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from rag_rule_explainer import Answer, Explainer, Explanation, InvalidInput, Source, judged
from rag_rule_explainer.sources import SourceSet

SOURCES = [Source("a", "Twenty days of leave."), Source("b", "Dogs are welcome.")]


def explained(answer: Callable[[], Answer]) -> Explanation:
    def replay(_: str, __: Sequence[Source]) -> Answer:
        return answer()

    return Explainer(replay).explain("?", SOURCES)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"note": 5}, "the note of an Answer is 5; give a str"),
        ({"delivered": "memo"}, "delivered of an Answer is 'memo'; give a tuple of ids"),
        ({"seen": 5}, "seen of an Answer is 5; give a tuple of ids"),
    ],
)
def test_an_answer_with_something_else_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        explained(lambda: Answer("x", **given))


@pytest.mark.parametrize(
    "given", [{"seen": ["a"]}, {"models": {"m": 5}}, {"usage": {5: 5, "in": -3, "out": True}}]
)
def test_an_answer_in_another_form_is_read_and_can_be_read_back(given: Any) -> None:
    explanation = explained(lambda: Answer("x", **given))
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation
    assert all(count >= 0 for count in explanation.spent.replays.values())


def nothing() -> None:
    """Takes no request."""


def test_a_judge_that_cannot_be_called_with_a_request() -> None:
    with pytest.raises(InvalidInput, match="the judge is nothing, which cannot be called with one"):
        judged("is right", cast("Any", nothing))


def test_a_source_without_an_id_gets_no_id_of_another_source() -> None:
    assert SourceSet.of([{"id": "D2", "text": "one"}, "two", "three"]).ids == ("D2", "D2.2", "D3")
