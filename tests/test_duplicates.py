"""Which texts are near-duplicates, held against the definition."""

import random
import time
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.duplicates import SIMILARITY, Tie, near_duplicates

words = st.lists(st.sampled_from("abc"), max_size=9).map(" ".join)
texts = st.lists(words, max_size=8).map(
    lambda given: {f"D{place}": text for place, text in enumerate(given, start=1)}
)
shares = st.sampled_from([n / 20 for n in range(1, 21)]) | st.floats(0.05, 1.0)


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[n : n + 3]) for n in range(max(1, len(words) - 2))} if words else {("",)}


def alike(one: str, other: str) -> float:
    a, b = shingles(one), shingles(other)
    return len(a & b) / len(a | b)


def by_definition(texts: dict[str, str], threshold: float) -> set[frozenset[str]]:
    groups = {identity: {identity} for identity in texts}
    for (one, text), (other, its_text) in combinations(texts.items(), 2):
        if groups[one] is not groups[other] and alike(text, its_text) >= threshold:
            joint = groups[one] | groups[other]
            groups.update(dict.fromkeys(joint, joint))
    return {frozenset(group) for group in groups.values() if len(group) > 1}


@given(texts, shares)
def test_ties_are_what_the_definition_says(texts: dict[str, str], threshold: float) -> None:
    ties = near_duplicates(texts, threshold)
    assert {frozenset(tie.sources) for tie in ties} == by_definition(texts, threshold)
    for tie in ties:
        least = min(alike(texts[a], texts[b]) for a in tie.sources for b in tie.sources)
        assert tie.similarity == pytest.approx(least)


@given(texts, shares, st.randoms())
def test_the_order_of_texts_makes_no_difference(
    texts: dict[str, str], threshold: float, draw: random.Random
) -> None:
    shuffled = list(texts.items())
    draw.shuffle(shuffled)

    def ties(given: dict[str, str]) -> set[tuple[frozenset[str], float]]:
        return {(frozenset(tie.sources), tie.similarity) for tie in near_duplicates(given, threshold)}

    assert ties(dict(shuffled)) == ties(texts)


def tied(*given: str, threshold: float = SIMILARITY) -> list[tuple[str, ...]]:
    ids = {f"D{place}": text for place, text in enumerate(given, start=1)}
    return [tie.sources for tie in near_duplicates(ids, threshold)]


@pytest.mark.parametrize("text", ["", "  ", "?!", "one", "Zwölf Bücher.", "你好，世界"])
def test_identical_texts_are_tied_whatever_they_are(text: str) -> None:
    assert tied(text, "something else altogether", text, threshold=1.0) == [("D1", "D3")]


def test_case_spacing_punctuation_and_forms_of_characters_do_not_count() -> None:
    assert tied("The ﬁnal report, 2024!", "the  FINAL report\n2024") == [("D1", "D2")]
    assert not tied("?!", "...")


def test_one_word_in_a_long_text_may_differ_and_in_a_short_one_none() -> None:
    words = [f"word{n}" for n in range(80)]
    assert tied(" ".join(words), " ".join([*words[:40], "not", *words[41:]])) == [("D1", "D2")]
    assert not tied("calcium does help", "calcium does not help")


def test_a_script_without_spaces_is_compared_by_its_characters() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(90))
    assert tied(text, text[:45] + "新" + text[46:], text[::-1]) == [("D1", "D2")]


def test_a_chain_ties_its_ends_and_says_how_alike_they_are() -> None:
    words = [f"w{n}" for n in range(60)]
    chain = {str(n): " ".join(words[n : n + 30]) for n in range(0, 12, 2)}
    (tie,) = near_duplicates(chain, 0.8)
    assert tie.sources == tuple(chain)
    assert tie.similarity == pytest.approx((28 - 10) / (28 + 10))
    assert tie.shared == "at least 47 %"
    assert Tie(("a", "b"), 0.9999).shared == "at least 99 %"


def test_a_thousand_texts_take_no_time_to_speak_of() -> None:
    draw = random.Random(0)
    words = [draw.choice("abcdefghij") + str(draw.randrange(500)) for _ in range(150)]

    def variant(n: int) -> str:
        return " ".join([*words[: n % 150], "other", *words[n % 150 + 1 :]])

    # The hard case: each is near to each.
    many = {str(n): f"{variant(n)} {n // 150}" for n in range(1000)}
    began = time.thread_time()
    (tie,) = near_duplicates(many, SIMILARITY)
    assert time.thread_time() - began < 5
    assert len(tie.sources) == 1000
