"""Which texts a question retrieves."""

import pytest

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.testing.ranking import best_matches

TEXTS = (
    "Bread is baked from flour and water.",
    "A tower of iron stands in Paris; the tower is painted every seven years.",
    "Paris lies on the Seine and has many bridges, parks, museums and a tower.",
    "The Seine flows into the sea.",
)


def test_the_best_match_comes_first() -> None:
    assert best_matches("tower of iron in Paris", TEXTS, 4) == [1, 2]
    assert best_matches("Where does the Seine flow into the sea?", TEXTS, 4) == [3, 2]


def test_no_more_are_returned_than_asked_for() -> None:
    assert best_matches("tower of iron in Paris", TEXTS, 1) == [1]


def test_texts_that_share_no_word_with_the_question_are_left_out() -> None:
    assert best_matches("flour", TEXTS, 10) == [0]
    assert best_matches("volcano", TEXTS, 10) == []


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    texts = ["common common", "common rare", "common thing", "common stuff"]
    assert best_matches("common rare", texts, 1) == [1]


def test_a_word_counts_for_more_in_a_short_text() -> None:
    texts = ["needle " + "hay " * 50, "needle hay"]
    assert best_matches("needle", texts, 2) == [1, 0]


def test_equal_matches_keep_their_order() -> None:
    texts = ["other words", *["the same text"] * 12]
    assert best_matches("same text", texts, 12) == list(range(1, 13))


def test_case_and_punctuation_make_no_difference() -> None:
    assert best_matches("FLOUR?!", TEXTS, 1) == [0]


@pytest.mark.parametrize("question", ["", "  ", "?!", "the of and"])
def test_a_question_without_words_that_count_retrieves_nothing(question: str) -> None:
    assert best_matches(question, TEXTS, 3) == []


def test_empty_texts_are_never_retrieved() -> None:
    assert best_matches("flour", ["", "flour", "  "], 3) == [1]
    assert best_matches("flour", ["", ""], 3) == []
    assert best_matches("flour", [], 3) == []


@pytest.mark.parametrize("count", [0, -1])
def test_at_least_one_has_to_be_asked_for(count: int) -> None:
    with pytest.raises(InvalidInput, match=f"is {count}; give at least 1"):
        best_matches("flour", TEXTS, count)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    best_matches("tower", TEXTS * 100, 5)
    assert capfd.readouterr() == ("", "")
