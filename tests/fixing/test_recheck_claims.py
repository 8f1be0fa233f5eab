"""What a recheck says of the rules that it knew, and of the documents that it leaves out."""

from collections.abc import Sequence
from typing import Any

import pytest

from rag_rule_explainer import InvalidInput, Noise, Source
from rag_rule_explainer.fixing import recheck_corpus
from tests.fixing.test_recheck import CORPUS, first, telling


def test_what_holds_on_a_share_of_the_subsets_is_not_gone_on_all() -> None:
    """c alone is bad, which is one of eight subsets."""
    explainer = telling(
        lambda shown: "bad" if "a" in shown or shown == "c" else "good", noise=Noise(min_confidence=0.8)
    )
    before = explainer.explain("?", CORPUS[:3])
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first, exclude=["a"])
    assert recheck.is_gone
    assert recheck.last.lasting is None
    assert "every subset" not in str(recheck)
    assert "on some of its subsets it is there" in str(recheck)


def test_a_rule_that_was_known_is_no_other_rule_where_a_part_of_it_has_left() -> None:
    explainer = telling(lambda shown: "bad" if "a" in shown or {"b", "c"} <= set(shown) else "good")
    before = explainer.explain("?", CORPUS[:3])
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first, exclude=["a"], rounds=1)
    assert recheck.outcome == "same rule"


def test_what_was_added_and_is_left_out_again_is_not_counted_any_more() -> None:
    explainer = telling(lambda shown: "bad" if "x" in shown else "good")
    before = telling(lambda shown: "bad" if "a" in shown else "good").explain("?", CORPUS[:2])
    added = [Source("x", "an added text")]

    def last(question: str, documents: Sequence[Source], most: int) -> list[Source]:
        return list(reversed(documents))[:most]

    recheck = recheck_corpus(explainer, before, CORPUS, rank=last, exclude=["a"], add=added)
    assert [each.outcome for each in recheck.rounds] == ["back", "gone"]
    assert [len(each.change.added) for each in recheck.rounds] == [1, 0]
    assert recheck.left_out == ("a", "x")


def test_of_two_documents_with_one_text_the_one_that_is_meant_is_left_out() -> None:
    explainer = telling(lambda shown: "bad" if {"a", "b"} & {*shown} else "good")
    corpus = [Source("a", "a lie"), Source("c", "c"), Source("b", "a lie")]
    before = explainer.explain("?", corpus[:2])
    recheck = recheck_corpus(explainer, before, corpus, rank=first)
    assert recheck.is_gone
    assert recheck.left_out == ("a", "b")


def test_as_many_are_shown_as_production_shows_where_fewer_matched_before() -> None:
    """Only a and b matched before; x comes third."""
    matching = [*CORPUS[:2], Source("x", "an added text")]

    def rank(_question: str, documents: Sequence[Source], most: int) -> list[Source]:
        among = {each.id for each in documents}
        return [each for each in matching if each.id in among][:most]

    explainer = telling(lambda shown: "bad" if "x" in shown else "good")
    before = explainer.explain("?", CORPUS[:2])
    change: Any = {"exclude": ["h"], "add": matching[2:], "rounds": 1}
    as_before = recheck_corpus(explainer, before, CORPUS, rank=rank, **change)
    assert as_before.is_gone
    as_in_production = recheck_corpus(explainer, before, CORPUS, rank=rank, top_k=5, **change)
    assert "back through x (added)" in str(as_in_production)
    with pytest.raises(InvalidInput, match="top_k"):
        recheck_corpus(explainer, before, CORPUS, rank=rank, top_k=0, **change)


def alike(name: str) -> Source:
    return Source(name, f"the quick brown fox {name} jumps over the lazy dog and goes home late again")


def test_near_duplicates_that_were_tied_are_not_gone_on_every_subset() -> None:
    """b alone is bad, which was not asked, because c is like it."""
    explainer = telling(
        lambda shown: "bad" if "a" in shown or shown == "b" else "good", merge_duplicates=0.5
    )
    corpus = [CORPUS[0], alike("b"), alike("c")]
    before = explainer.explain("?", corpus)
    recheck = recheck_corpus(explainer, before, corpus, rank=first, exclude=["a"])
    assert recheck.is_gone
    assert recheck.last.lasting is None
    assert "on every subset of what is retrieved now that was promised [proved" in str(recheck)


def test_of_tied_near_duplicates_none_is_said_to_be_new() -> None:
    """b is bad, and was shown before; c is like it, and fills the gap."""
    explainer = telling(lambda shown: "bad" if "b" in shown else "good", merge_duplicates=0.5)
    corpus = [CORPUS[0], alike("b"), alike("c")]
    before = explainer.explain("?", corpus[:2])
    recheck = recheck_corpus(explainer, before, corpus, rank=first, exclude=["a"], rounds=1)
    assert recheck.outcome == "still there"
    assert recheck.last.through == ("b", "c")
    assert "whether by another rule is not known" in str(recheck)


def test_where_tied_near_duplicates_are_separated_no_other_rule_is_claimed() -> None:
    """d is enough before and after; it was named with the near-duplicates of b."""
    explainer = telling(lambda shown: "bad" if {"b", "d"} & {*shown} else "good", merge_duplicates=0.5)
    corpus = [CORPUS[0], alike("b"), alike("c"), CORPUS[3]]
    before = explainer.explain("?", corpus)
    recheck = recheck_corpus(explainer, before, corpus, rank=first, exclude=["c"], rounds=1)
    assert recheck.outcome == "still there"
    pinned = explainer.explain("?", [corpus[0], corpus[3]], pinned=["d"])
    alone = recheck_corpus(explainer, pinned, corpus, rank=first, exclude=["a", "b", "c"], rounds=1)
    assert alone.outcome == "still there"
