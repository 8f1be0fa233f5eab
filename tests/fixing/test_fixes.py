"""What is called a fix, held against all subsets: nothing bad is left, none is too large or missing."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Case, Explainer, Explanation, Noise, Source, contains, equals, load
from rag_rule_explainer.fixing import Fixes, OneTimeFlip
from rag_rule_explainer.verdicts import Verdict

NAMES = "abcde"


def explained(says: Sequence[str], size: int, **settings: Any) -> Explanation:
    """``says``: the answer by mask; the bad one is "bad"."""

    def replay(_question: str, sources: Sequence[Source]) -> str:
        return says[sum(1 << NAMES.index(source.id) for source in sources)]

    sources = [Source(name, f"text of {name}") for name in NAMES[:size]]
    return Explainer(replay, equals("bad"), **settings).explain("?", sources)


def subsets(size: int) -> list[frozenset[str]]:
    return [
        frozenset(name for place, name in enumerate(NAMES[:size]) if mask >> place & 1)
        for mask in range(1 << size)
    ]


def oracle(says: Sequence[str], size: int) -> set[frozenset[str]]:
    """The smallest sets without which no subset is bad."""
    every = subsets(size)
    bad = [every[mask] for mask in range(1 << size) if says[mask] == "bad"]
    fixing = [each for each in every if all(each & kept for kept in bad)]
    return {each for each in fixing if not any(other < each for other in fixing)}


def check_flip(flip: OneTimeFlip, says: Sequence[str], size: int) -> None:
    every, removed = subsets(size), frozenset(flip.sources)
    answer_of = dict(zip(every, says, strict=True))
    assert answer_of[every[-1] - removed] == flip.answer != "bad"
    assert flip.back_with is not None
    assert removed.isdisjoint(flip.back_with)
    assert answer_of[frozenset(flip.back_with)] == "bad" == flip.back_answer


@given(data=st.data(), size=st.integers(1, 5), miner=st.sampled_from(["exact", "exhaustive"]))
def test_fixes_are_those_that_trying_everything_finds(data: st.DataObject, size: int, miner: str) -> None:
    answers = st.sampled_from(["bad", "good", "N/A"])
    says = data.draw(st.lists(answers, min_size=1 << size, max_size=1 << size))
    fixes = explained(says, size, miner=miner).fixes()
    found = [frozenset(fix.sources) for fix in fixes]
    wanted = oracle(says, size)
    assert len(set(found)) == len(found)
    assert set(found) == wanted - {frozenset()}
    assert bool(fixes.why) == (not found)
    assert all(fix.claim == "proved" and fix.is_sure for fix in fixes)
    assert [len(each) for each in found] == sorted(map(len, found))
    for flip in fixes.flips:
        assert not any(each <= frozenset(flip.sources) for each in found)
        check_flip(flip, says, size)


@given(data=st.data(), size=st.integers(1, 4))
def test_what_a_fix_breaks_is_counted_on_all_subsets(data: st.DataObject, size: int) -> None:
    answers = st.sampled_from(["bad", "good", "N/A"])
    says = data.draw(st.lists(answers, min_size=1 << size, max_size=1 << size))
    fixes = explained(says, size, miner="exhaustive").fixes(good=equals("good"))
    every = subsets(size)
    good = {kept: says[mask] == "good" for mask, kept in enumerate(every)}
    for fix in fixes:
        removed, (effect,) = frozenset(fix.sources), fix.effects
        without = [kept for kept in every if kept.isdisjoint(removed)]
        assert effect.after is Verdict.of(good[every[-1] - removed])
        assert effect.holds == sum(good[kept] for kept in without)
        assert effect.holds + effect.breaks == len(without)
        assert effect.lost == sum(good[kept] and not good[kept - removed] for kept in every)
    lost = [fix.effects[0].lost for fix in fixes]
    assert lost == sorted(lost)


def of(size: int, bad: Callable[[frozenset[str]], bool], **settings: Any) -> Explanation:
    says = ["bad" if bad(kept) else "good" if "c" in kept else "N/A" for kept in subsets(size)]
    return explained(says, size, **settings)


def redundant(kept: frozenset[str]) -> bool:
    """Either a, or b and d; leaving one out never helps."""
    return "a" in kept or {"b", "d"} <= kept


def test_a_removal_that_flips_once_is_beside_the_fixes_with_where_it_is_back() -> None:
    """Only with all shown, c silences a: leaving a out flips it, and b alone brings it back."""
    fixes = of(3, lambda kept: "a" in kept or kept == frozenset("b")).fixes()
    assert [fix.sources for fix in fixes] == [("a", "b")]
    assert [flip.sources for flip in fixes.flips] == [("a",)]
    assert fixes.flips[0].back_with == ("b",)
    assert fixes[0].flips_already == ("a",)
    assert "no fix: removing a is enough while all others are there, but it is back ('bad')" in str(fixes)
    assert "with just b retained" in str(fixes)


def test_what_breaks_less_comes_first() -> None:
    """c carries the good answer, and is in the first of two fixes of one size."""
    explanation = of(4, lambda kept: {"a"} <= kept and ("c" in kept or "d" in kept), miner="exhaustive")
    plain = [fix.sources for fix in explanation.fixes()]
    assert plain == [("a",), ("c", "d")]
    ranked = explanation.fixes(good=[contains("good"), equals("N/A")])
    assert [fix.sources for fix in ranked] == plain
    assert ranked[1].effects[0].after is Verdict.BREAKS
    assert ranked[1].effects[0].lost > ranked[0].effects[0].lost == 0
    other = of(3, lambda kept: {"b", "c"} <= kept, miner="exhaustive")
    assert [fix.sources for fix in other.fixes()] == [("b",), ("c",)]
    assert [fix.sources for fix in other.fixes(good=contains("good"))] == [("b",), ("c",)]
    assert [fix.sources for fix in other.fixes(good=equals("N/A"))] == [("b",), ("c",)]


def test_a_saved_explanation_says_that_it_keeps_too_few_answers(tmp_path: Any) -> None:
    explanation = of(4, redundant, miner="exhaustive")
    explanation.save(tmp_path / "all.json")
    whole = load(tmp_path / "all.json").fixes(good=contains("good"))
    assert whole == explanation.fixes(good=contains("good"))
    assert not any("too few" in note for note in whole.notes)
    few = explanation.model_copy(update={"probes": explanation.probes[:3]})
    assert any(
        "keeps the answers of 3 of its 16 probes, too few" in note
        for note in few.fixes(good=contains("good")).notes
    )


def test_each_claim_is_told_and_unsure_fixes_come_last() -> None:
    stopped = of(5, lambda kept: "a" in kept and "b" in kept, limits=9).fixes()
    assert "there may be other fixes" in stopped.why
    voted = of(3, lambda kept: "a" in kept, noise=3).fixes()
    assert [(fix.sources, fix.claim) for fix in voted] == [(("a",), "voted")]
    tested = of(5, lambda kept: "a" in kept, miner="sampled").fixes()
    assert tested[0].sources == ("a",)
    assert tested[0].claim in {"proved", "tested"}


def test_what_cannot_be_fixed_says_why() -> None:
    always = of(2, lambda kept: True)
    assert not always.fixes()
    assert "no removal keeps the outcome away" in always.fixes().why
    never = explained(["N/A"] * 4, 2, check_repeatable=False).fixes()
    assert "nothing has to be removed" in never.why
    assert "does not meet" in str(never) or "not met" in str(never)
    assert "rules='both'" in of(2, redundant, rules="retention").fixes().why


def test_where_perhaps_nothing_has_to_be_removed_it_says_how_sure_that_is() -> None:
    """Bad on one subset of eight, and not on the whole."""
    share = of(3, lambda kept: kept == frozenset("b"), noise=Noise(min_confidence=0.8)).fixes()
    assert not share
    assert share.why.startswith("perhaps nothing has to be removed")
    assert "held on 7 of 8 subsets" in share.why
    never = of(3, lambda _: False).fixes()
    assert never.why.endswith("on every subset that was promised [proved on all 8 subsets]")


def test_a_promise_names_the_sources_that_were_pinned() -> None:
    def replay(_question: str, sources: Sequence[Source]) -> str:
        return "bad" if any(source.id == "a" for source in sources) else "good"

    sources = [Source(name, f"text of {name}") for name in "abc"]
    fixes = Explainer(replay, equals("bad")).explain("?", sources, pinned=["c"]).fixes()
    assert isinstance(fixes, Fixes)
    assert any("promised only while c stay" in note for note in fixes.notes)


def says_good(case: Case) -> bool:
    return "good" in case


@pytest.mark.parametrize("good", [contains("good"), says_good])
def test_a_good_outcome_may_be_a_function(good: Any) -> None:
    (fix,) = of(3, lambda kept: "a" in kept, miner="exhaustive").fixes(good=good)
    assert fix.effects[0].after is Verdict.HOLDS
