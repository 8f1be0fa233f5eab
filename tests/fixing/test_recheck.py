"""A recheck over a corpus that is at hand: what each round says, held against all subsets."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Case, Explainer, InvalidInput, Source, Verdict, contains, equals
from rag_rule_explainer.fixing import recheck_corpus

NAMES = "abcdefgh"
_BAD: Any = equals("bad")
CORPUS = [Source(name, f"text of {name}") for name in NAMES]


def first(_question: str, documents: Sequence[Source], most: int) -> list[Source]:
    return list(documents[:most])


def telling(says: Callable[[str], str], predicate: Any = _BAD, **settings: Any) -> Explainer:
    def replay(_question: str, sources: Sequence[Source]) -> str:
        return says("".join(source.id for source in sources))

    return Explainer(replay, predicate, **settings)


@given(data=st.data())
def test_each_round_says_what_the_application_does(data: st.DataObject) -> None:
    """Bad wherever one of the drawn sets is shown whole."""
    sets = data.draw(
        st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=3), min_size=1, max_size=4)
    )
    top_k = data.draw(st.integers(1, 4))

    def is_bad(shown: str) -> bool:
        return any(each <= set(shown) for each in sets)

    explainer = telling(lambda shown: "bad" if is_bad(shown) else "good", check_repeatable=False)
    before = explainer.explain("?", CORPUS[:top_k])
    if before.fixes().first_sure is None:
        return
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first)
    left = list[str]()
    for place, each in enumerate(recheck.rounds):
        assert set(left) <= set(each.change.left_out)
        left = list(each.change.left_out)
        shown = "".join([name for name in NAMES if name not in left][:top_k])
        explanation = each.explanation
        assert (explanation is None) == (not shown)
        if explanation is not None:
            assert "".join(source.id for source in explanation.sources) == shown
        assert (each.outcome == "gone") is not is_bad(shown)
        if each.outcome == "gone":
            assert place == len(recheck.rounds) - 1
            assert (each.lasting is not None) == (explanation is not None)
        else:
            earlier = before if place == 0 else recheck.rounds[place - 1].explanation
            assert earlier is not None
            known = {source.id for source in earlier.sources}
            # What is left of the bad sets after a fix names something new.
            assert each.outcome == "back"
            assert set(each.through) <= set(shown) - known
    assert recheck.is_gone or recheck.why_ended
    assert recheck.is_gone or len(recheck.rounds) == 3


def test_each_round_leaves_out_what_the_backfill_promoted() -> None:
    """Each of a, c, d and e is enough; two are shown at a time, and three rounds are not enough."""
    explainer = telling(lambda shown: "bad" if set("acde") & set(shown) else "good")
    before = explainer.explain("?", CORPUS[:2])
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first)
    assert [each.outcome for each in recheck.rounds] == ["back"] * 3
    assert [each.promoted for each in recheck.rounds] == [("c",), ("d",), ("e",)]
    assert [each.through for each in recheck.rounds] == [("c",), ("d",), ("e",)]
    assert recheck.is_gone is False
    assert recheck.why_ended == "3 rounds were made; rounds= allows more"
    longer = recheck_corpus(explainer, before, CORPUS, rank=first, rounds=9)
    assert longer.is_gone
    assert longer.left_out == ("a", "c", "d", "e")


def test_the_new_answer_is_held_against_the_old_one() -> None:
    """The usual condition, that the answer stays the same, is about the answer before the change."""
    explainer = telling(lambda shown: shown[:1], predicate=None)
    before = explainer.explain("?", CORPUS[:3])
    assert before.baseline.text == "a"
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first)
    assert recheck.is_gone
    assert recheck.last.answer == "b"


def test_a_replaced_text_is_ranked_anew() -> None:
    """The shortest text comes first."""

    def shortest(_question: str, documents: Sequence[Source], most: int) -> list[Source]:
        return sorted(documents, key=lambda each: len(each.text))[:most]

    corpus = [Source(name, name * size) for size, name in enumerate("abcd", start=1)]
    explainer = telling(lambda shown: "bad" if "a" in shown else "good")
    before = explainer.explain("?", shortest("?", corpus, 2))
    recheck = recheck_corpus(
        explainer, before, corpus, rank=shortest, replace={"a": "long" * 9}, add=[Source("x", "")]
    )
    explanation = recheck.last.explanation
    assert explanation is not None
    assert [source.id for source in explanation.sources] == ["x", "b"]
    assert recheck.is_gone
    assert not recheck.notes


def test_where_another_rule_comes_up_over_what_was_there_it_says_so() -> None:
    """d silences b: once d has left, b is bad by itself, and was in no rule before."""

    def says(shown: str) -> str:
        return "bad" if "a" in shown or ("b" in shown and not set("dc") & set(shown)) else "good"

    explainer = telling(says)
    before = explainer.explain("?", CORPUS[:4])
    recheck = recheck_corpus(explainer, before, CORPUS[:4], rank=first, exclude=["a", "c", "d"], rounds=1)
    assert recheck.outcome == "another rule"
    assert "still there through b, by another rule now" in str(recheck)


def test_gone_with_all_shown_is_not_gone_on_every_subset() -> None:
    """c silences b, and c is shown."""
    explainer = telling(lambda shown: "bad" if "a" in shown or shown == "b" else "good")
    before = explainer.explain("?", CORPUS[:2])
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first, exclude=["a"])
    assert recheck.is_gone
    assert recheck.last.lasting is None
    assert "on some of its subsets it is there" in str(recheck)
    assert [fix.sources for fix in recheck.last.fixes] == [("b",)]
    stopped = telling(lambda shown: "bad" if "a" in shown else "good", limits=2, miner="exact")
    recheck = recheck_corpus(stopped, before, CORPUS, rank=first, exclude=["a"])
    assert recheck.is_gone
    assert "whether on every subset of it is not known" in str(recheck)


def test_a_condition_that_abstains_leaves_it_undecided() -> None:
    def judge(case: Case) -> Verdict:
        return Verdict.HOLDS if case.answer.text == "bad" else Verdict.UNKNOWN

    explainer = telling(lambda shown: "bad" if "a" in shown else "good", predicate=judge)
    before = explainer.explain("?", CORPUS[:2])
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first, exclude=["a"])
    assert recheck.outcome == "undecided"
    assert recheck.is_gone is None
    assert "undecided" in str(recheck)


def test_a_rule_or_a_fix_may_be_left_out() -> None:
    explainer = telling(lambda shown: "bad" if {"a", "c"} <= set(shown) else "good")
    before = explainer.explain("?", CORPUS[:4])
    (one, two) = before.fixes()
    assert recheck_corpus(explainer, before, CORPUS, rank=first, exclude=two).left_out == two.sources
    (rule,) = before.retention_rules
    assert recheck_corpus(explainer, before, CORPUS, rank=first, exclude=rule).left_out == ("a", "c")
    assert recheck_corpus(explainer, before, CORPUS, rank=first).left_out == one.sources


def test_what_is_bad_is_said_by_the_condition_of_omission_rules() -> None:
    """The answer has both words without a, so it is then as it should be, whatever the other one says."""

    def says(shown: str) -> str:
        return "flawed" if "a" in shown else "flawed but mended"

    own: Any = {"omission_predicate": contains("mended"), "check_repeatable": False}
    explainer = telling(says, contains("flawed"), **own)
    before = explainer.explain("?", CORPUS[:3])
    everything = recheck_corpus(explainer, before, CORPUS[:3], rank=first, exclude=[*"abc"])
    assert everything.last.explanation is None
    assert everything.outcome == "gone"
    still = recheck_corpus(explainer, before, CORPUS, rank=first, exclude=["b"], rounds=1)
    assert (still.outcome, still.last.through) == ("same rule", ("a",))


@pytest.mark.parametrize("limit", [1, 3, 5, 100])
def test_no_document_is_named_for_nothing_where_a_limit_ends_the_search(limit: int) -> None:
    """a alone is to blame; d comes in the place of b, and has no part in it."""

    def says(shown: str) -> str:
        return "bad" if "a" in shown else "good"

    before = telling(says).explain("?", CORPUS[:3])
    stopped = telling(says, miner="exact", limits=limit, check_repeatable=False)
    recheck = recheck_corpus(stopped, before, CORPUS, rank=first, exclude=["b"], rounds=1)
    assert recheck.last.promoted == ("d",)
    explanation = recheck.last.explanation
    assert explanation is not None
    assert explanation.complete is (limit > 8)
    assert recheck.outcome == ("same rule" if explanation.complete else "still there")
    assert set(recheck.last.through) <= {"a"}
    assert recheck.is_gone is False
    # Of a search that was cut off before, it is not known which rules there were.
    cut = stopped.explain("?", CORPUS[:3])
    recheck = recheck_corpus(telling(says), cut, CORPUS, rank=first, exclude=["b"], rounds=1)
    assert recheck.outcome == ("same rule" if cut.complete else "still there")
    assert recheck.last.through == ("a",)


def test_what_the_caller_brought_was_not_promoted_by_the_backfill() -> None:
    def replay(_question: str, sources: Sequence[Source]) -> str:
        return "bad" if any("lie" in source.text for source in sources) else "good"

    def shortest(_question: str, documents: Sequence[Source], most: int) -> list[Source]:
        return sorted(documents, key=lambda each: len(each.text))[:most]

    corpus = [
        Source("a", "a lie"),
        Source("b", "so so."),
        Source("c", "no lie"),
        Source("d", "a longer text"),
    ]
    explainer = Explainer(replay, _BAD)
    before = explainer.explain("?", corpus[:2])
    recheck = recheck_corpus(
        explainer, before, corpus, rank=shortest, replace={"a": "lie"}, add=["lies"], rounds=1
    )
    assert "back through a (rewritten) and through D5 (added); the answer" in str(recheck)
    recheck = recheck_corpus(explainer, before, corpus, rank=shortest, exclude=["a"], rounds=1)
    assert "back through c (promoted by the backfill); the answer" in str(recheck)
    recheck = recheck_corpus(explainer, before, corpus, rank=shortest, replace={"c": "so"}, exclude=["a"])
    assert recheck.is_gone


def test_what_was_pinned_is_told() -> None:
    explainer = telling(lambda shown: "bad" if "a" in shown else "good")
    before = explainer.explain("?", CORPUS[:3], pinned=["b"])
    recheck = recheck_corpus(explainer, before, CORPUS, rank=first)
    assert recheck.notes == ("what was pinned before was not pinned in the rounds",)


def test_bad_input_says_what_to_give() -> None:
    explainer = telling(lambda shown: "bad" if "a" in shown else "good")
    before = explainer.explain("?", CORPUS[:4])
    nothing: Any = None

    def none(*_: object) -> Any:
        return nothing

    def others(*_: object) -> list[str]:
        return ["a text of its own"]

    for rank in (none, others):
        with pytest.raises(InvalidInput, match="rank returns"):
            recheck_corpus(explainer, before, CORPUS, rank=rank)
    with pytest.raises(InvalidInput, match="before is None"):
        recheck_corpus(explainer, nothing, CORPUS, rank=first)
    wrong: Any = (
        {"exclude": ["z"]},
        {"exclude": before},
        {"rank": 5},
        {"rounds": 0},
        {"excluded": ["a"]},
        {"replace": ["a"]},
    )
    for options in wrong:
        given: Any = {"rank": first, **options}
        with pytest.raises(InvalidInput):
            recheck_corpus(explainer, before, CORPUS, **given)
    never = telling(lambda _shown: "good", predicate=contains("bad"), check_repeatable=False)
    with pytest.raises(InvalidInput, match="nothing has to be removed"):
        recheck_corpus(never, never.explain("?", CORPUS[:4]), CORPUS, rank=first)
