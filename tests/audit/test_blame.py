"""The list of documents to blame, held against all subsets of documents, and against replays that vary
and depend on each other."""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Explanation, Source, equals
from rag_rule_explainer.audit.blame import BlameList, blame_list
from rag_rule_explainer.audit.blame_plan import (
    MOST_PAIRS,
    BlamePlan,
    PivotPair,
    Suspect,
    Trial,
    plan_blame,
)
from rag_rule_explainer.audit.pivots import suspects_of
from rag_rule_explainer.audit.randomization import PairTable, stratified_p_value
from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.verdicts import Verdict
from tests.audit.logged import suspects_in
from tests.drawing import drawn, examples

Kept = frozenset[str]
Truth = Mapping[Kept, bool]
"""Of each subset, whether the answer is bad."""
NAMES = "abcd"


def subsets(names: str) -> list[Kept]:
    return [frozenset(each) for size in range(len(names) + 1) for each in combinations(names, size)]


@st.composite
def truths(draw: st.DrawFn, *, monotone: bool = False) -> Truth:
    names = draw(st.sets(st.sampled_from(NAMES), min_size=1))
    every = subsets("".join(sorted(names)))
    if monotone:
        enough = draw(st.lists(st.sampled_from(every), max_size=3))
        return {kept: any(each <= kept for each in enough) for kept in every}
    bad = draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))
    return dict(zip(every, bad, strict=True))


def explained(truth: Truth, **fields: Any) -> Explanation:
    def replay(_question: str, sources: Sequence[Source]) -> str:
        kept = frozenset(each.id for each in sources)
        return "bad" if truth[kept] else "good"

    names = sorted(frozenset[str]().union(*truth))
    sources = [Source(name, f"text {name}") for name in names]
    explainer = Explainer(replay, equals("bad"), concurrency=1, miner="exact", **fields)
    return explainer.explain("?", sources)


def to_blame(truth: Truth) -> Kept:
    """The definition: with it some subset is bad that is not without it."""
    return frozenset(name for kept, bad in truth.items() for name in kept if bad > truth[kept - {name}])


def log_of(log: list[Truth]) -> list[tuple[str, Explanation]]:
    return [(str(place), explained(truth)) for place, truth in enumerate(log)]


def seen(plan: BlamePlan, log: list[Truth]) -> dict[Trial, Verdict]:
    return {
        each: Verdict.of(log[int(each.pair.question)][frozenset(each.kept)]) for each in plan.trials()
    }


@given(st.lists(truths(), min_size=1, max_size=4))
def test_nobody_is_listed_who_is_not_to_blame(log: list[Truth]) -> None:
    guilty = frozenset[str]().union(*map(to_blame, log))
    suspects = suspects_of(log_of(log))
    for deterministic in (True, False):
        plan = plan_blame(suspects, 0.05, deterministic=deterministic)
        found = blame_list(plan, seen(plan, log))
        assert set(found.documents) <= guilty
        assert {each.document for each in plan.proved} <= guilty
        if deterministic:
            assert not plan.replays  # each search was exact
            named = {name for _, each in log_of(log) for rule in each.rules for name in rule.sources}
            assert set(found.documents) == named
    for suspect in suspects:
        assert suspect.shown == sum(suspect.document in kept for kept in (max(t, key=len) for t in log))
        for pair in suspect.pairs:
            truth = log[int(pair.question)]
            assert truth[frozenset(pair.kept)]
            assert not truth[frozenset(pair.without)]


@given(st.lists(truths(monotone=True), min_size=1, max_size=3))
def test_everybody_is_listed_where_documents_never_make_an_answer_better(log: list[Truth]) -> None:
    guilty = frozenset[str]().union(*map(to_blame, log))
    suspects = suspects_of(log_of(log))
    for deterministic in (True, False):
        plan = plan_blame(suspects, 0.05, deterministic=deterministic)
        assert set(blame_list(plan, seen(plan, log)).documents) == guilty


def test_a_rule_of_which_a_part_is_enough_proves_nothing_of_the_rest() -> None:
    truth = {kept: "a" in kept for kept in subsets("abc")}
    suspects = suspects_of([("0", explained(truth, minimal=False))])
    assert {each.document for each in suspects} == {"a", "b", "c"}
    plan = plan_blame(suspects, 0.05, deterministic=True)
    assert [each.document for each in plan.proved] == ["a"]
    assert blame_list(plan, seen(plan, [truth])).documents == ("a",)


def test_what_decides_most_is_suspected_first() -> None:
    enough = [frozenset("b"), frozenset("cd")]
    explanation = explained(
        {kept: any(each <= kept for each in enough) for kept in map(frozenset, subsets("abcd"))}
    )
    assert suspects_in(explanation) == ("b", "c", "d")


def null_suspects(count: int, questions: int = 1) -> list[Suspect]:
    """Documents that change nothing."""
    return [
        Suspect(
            f"d{n}",
            questions,
            tuple(map(str, range(questions))),
            (),
            tuple(PivotPair(f"d{n}", str(q), (f"d{n}", "other"), (f"d{n}",)) for q in range(questions)),
        )
        for n in range(count)
    ]


def by_time(plan: BlamePlan, draw: random.Random) -> dict[Trial, Verdict]:
    """The model has bad hours, which hit whatever is asked."""
    trials = list(plan.trials())
    turns = sorted(draw.sample(range(len(trials)), 6))
    return {
        each: Verdict.of(sum(turn <= place for turn in turns) % 2 == 1)
        for place, each in enumerate(trials)
    }


def by_chance(plan: BlamePlan, draw: random.Random) -> dict[Trial, Verdict]:
    return {each: Verdict.of(draw.random() < 0.4) for each in plan.trials()}


def by_question(plan: BlamePlan, draw: random.Random) -> dict[Trial, Verdict]:
    """Some questions are mostly bad, others mostly not."""
    chances = {each: draw.choice([0.05, 0.95]) for each in plan.questions}
    return {each: Verdict.of(draw.random() < chances[each.pair.question]) for each in plan.trials()}


@pytest.mark.spread(fast="each")
@drawn
@pytest.mark.parametrize("outcomes", [by_time, by_chance, by_question])
@pytest.mark.parametrize("questions", [1, 3])
def test_noise_is_no_reason_to_blame(
    outcomes: Callable[[BlamePlan, random.Random], dict[Trial, Verdict]], questions: int
) -> None:
    """Where all are innocent, every list that is not empty is false; at most one in five may be."""
    times, false = examples(200), 0
    for seed in range(times):
        plan = plan_blame(null_suspects(8, questions), 0.2, seed=seed)
        false += bool(blame_list(plan, outcomes(plan, random.Random(seed))))
    assert false <= 0.2 * times


def test_bad_hours_would_be_blamed_if_the_order_were_not_drawn() -> None:
    """What the draw is for: if all replays with the document came first, a bad hour would look guilty."""
    plan = plan_blame(null_suspects(1), 0.2)
    ((suspect, count),) = plan.tested
    ordered = [Trial(suspect.pairs[0], number, number < count) for number in range(2 * count)]
    assert {each.number for each in plan.trials()} == {each.number for each in ordered}
    drawn = [each.with_document for each in plan.trials()]
    assert drawn != [each.with_document for each in ordered]
    assert sum(drawn) == count


@given(st.integers(1, 40), st.integers(1, 5), st.none() | st.integers(0, 2_000))
def test_what_it_costs_is_known_before(count: int, questions: int, most: int | None) -> None:
    plan = plan_blame(null_suspects(count, questions), 0.05, most_replays=most)
    trials = list(plan.trials())
    assert len(trials) == len(set(trials)) == plan.replays
    assert most is None or plan.replays <= most
    assert len(plan.tested) + len(plan.left_out) == count
    for suspect, repetitions in plan.tested:
        assert len(suspect.pairs) == min(questions, MOST_PAIRS)
        for pair in suspect.pairs:
            own = [each for each in trials if each.pair == pair]
            assert sum(each.with_document for each in own) == repetitions == len(own) // 2
    if most is not None and plan.left_out:
        # One more would be too many.
        more = plan_blame(null_suspects(len(plan.tested) + 1, questions), 0.05)
        assert more.replays > most


def guilty_list(missing: Callable[[Trial], bool]) -> BlameList:
    plan = plan_blame(null_suspects(1), 0.05)
    return blame_list(
        plan, {each: Verdict.of(each.with_document) for each in plan.trials() if not missing(each)}
    )


def test_what_was_not_seen_is_counted_neither_way() -> None:
    assert guilty_list(lambda each: False).documents == ("d0",)
    assert not guilty_list(lambda each: True)
    few = guilty_list(lambda each: each.number < 2)
    assert few.documents == ("d0",)
    assert "2 undecided" in str(few)
    (table,) = few[0].tables
    assert table.bad_with == table.of_with == 8 - table.unknown_with
    assert (table.bad_without, table.of_without) == (0, 8 - table.unknown_without)
    assert table.unknown_with + table.unknown_without == 2
    assert few[0].p_value == stratified_p_value([PairTable(table.of_with, 8, table.unknown_without, 8)])
    assert not guilty_list(lambda each: each.number % 2 == 0)


def test_what_is_printed_says_what_it_rests_on() -> None:
    proved = Suspect("p", 4, ("0", "1"), ("0",))
    plan = plan_blame([proved, *null_suspects(1)], 0.05, deterministic=True)
    found = blame_list(plan, {each: Verdict.of(each.with_document) for each in plan.trials()})
    replays = "bad in 8 of 8 fresh replays with it, in 0 of 8 without it"
    planned = "1 document to test, with 16 fresh replays of 1 question"
    rest = "0 of those tested not shown to be to blame"
    assert str(found).splitlines() == [
        "1. p: named by rules in 2 of the 4 bad answers that it was shown for [proved; no test needed]",
        f"2. d0: named by rules in 1 of the 1 bad answers that it was shown for [{replays}; p = 7.8e-05]",
        "(on average over such audits, at most 0.05 of those listed are innocent)",
        f"(1 document proved, with no test needed; {planned}; {rest})",
    ]
    assert [each.basis for each in found] == ["proved", "tested"]
    assert found[1].p_value is not None
    assert not found.not_shown


@pytest.mark.parametrize("fdr", [0, 1, 0.0, 1.0, -0.1, float("nan"), "0.05", None, True])
def test_a_rate_that_is_none_is_refused(fdr: float) -> None:
    with pytest.raises(InvalidInput, match=r"fdr is .*; give a share above 0 and below 1"):
        plan_blame([], fdr)


@pytest.mark.parametrize("most", [-1, 1.5, True, "9"])
def test_a_limit_that_is_none_is_refused(most: int) -> None:
    with pytest.raises(InvalidInput, match=r"most_replays is .*; give a whole number, at least 0"):
        plan_blame([], 0.05, most_replays=most)


def test_a_pair_is_about_what_it_shows() -> None:
    for removed in [("x",), ()]:
        with pytest.raises(InvalidInput, match="cannot be left out"):
            PivotPair("x", "q", ("a", "b"), removed)
