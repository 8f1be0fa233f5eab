"""The sentence below what would flip an answer: which removals keep it away, and which do not."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Source, contains, equals
from rag_rule_explainer.report.lasting_fixes import fixes_in_words

NAMES = "abcdef"


def explained(
    is_bad: Callable[[str], bool], size: int, pinned: Sequence[str] = (), **more: Any
) -> Explanation:
    def replay(_question: str, sources: Sequence[Source]) -> str:
        return "bad" if is_bad("".join(source.id for source in sources)) else "good"

    sources = [Source(name, f"text of {name}") for name in NAMES[:size]]
    return Explainer(replay, equals("bad"), **more).explain("?", sources, pinned=pinned)


def test_fixes_are_named_with_their_claims_and_a_flip_as_none() -> None:
    explanation = explained(lambda shown: "a" in shown or shown == "b", 3)
    assert fixes_in_words(explanation, str) == (
        "To keep it away, whatever else is left out, remove a and b (proved). "
        "Removing a is enough while all others are there; with others left out too, it can come back."
    )
    for form in ("text", "markdown", "html"):
        assert "To keep it away, whatever else is left out, remove" in explanation.report(form)


def test_of_many_some_are_named_and_the_rest_is_counted() -> None:
    said = fixes_in_words(explained(lambda shown: len(shown) >= 5, 6), str)
    assert said.count("(proved)") == 3
    assert "or one of 12 more (explanation.fixes())" in said


def test_the_promise_is_made_while_pinned_documents_stay() -> None:
    said = fixes_in_words(explained(lambda shown: "a" in shown, 3, pinned=["c"]), str)
    assert said.startswith(
        "To keep it away, whatever else is left out (the pinned documents stay), remove a"
    )


@pytest.mark.parametrize(
    "explanation",
    [
        lambda: explained(lambda _shown: True, 3),
        lambda: explained(lambda shown: "a" in shown, 3, rules="retention"),
        lambda: explained(lambda shown: "a" in shown, 3, limits=2),
        lambda: explained(lambda shown: "a" in shown, 3, omission_predicate=contains("oo")),
    ],
)
def test_where_nothing_is_promised_nothing_is_said(explanation: Callable[[], Explanation]) -> None:
    made = explanation()
    assert fixes_in_words(made, str) == ""
    assert "To keep it away" not in made.report()
