"""What is decided about rules, held against the definition of a valid rule."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_rule_explainer import Explanation, Limits, Noise, RuleKind, Sampled, Source
from rag_rule_explainer.explanation.deciding import Decision, decide_any_rule, decide_rule
from rag_rule_explainer.explanation.loose_judging import JUDGED_TOGETHER
from rag_rule_explainer.explanation.records import DOUBTED
from tests.comparison.explaining import explained, needs
from tests.drawing import examples

NAMES = "abcd"
SUBSETS = [frozenset(kept) for size in range(5) for kept in combinations(NAMES, size)]
truths = st.lists(st.booleans(), min_size=16, max_size=16) | st.lists(
    st.sampled_from(SUBSETS), max_size=3
).map(lambda needed: [any(each <= kept for each in needed) for kept in SUBSETS])
failing = st.lists(st.sampled_from(SUBSETS[:-1]), max_size=3)
miners = st.sampled_from(["exact", "exhaustive", "sampled", "grouped"])
kinds = st.sampled_from(list(RuleKind))


def is_valid(truth: Sequence[bool], kind: RuleKind, named: frozenset[str], pinned: str = "") -> bool:
    """The definition itself."""
    retained = kind is RuleKind.RETENTION
    about = [kept for kept in SUBSETS if {*pinned} <= kept]
    about = [kept for kept in about if (named <= kept if retained else not named & kept)]
    return all(truth[SUBSETS.index(kept)] is retained for kept in about)


def of(truth: Sequence[bool], failing: Sequence[frozenset[str]] = (), **options: Any) -> Explanation:
    def says_yes(shown: frozenset[str]) -> bool | Exception:
        return ValueError("the model is away") if shown in failing else truth[SUBSETS.index(shown)]

    return explained(says_yes, NAMES, **options)


def check(decision: Decision, truth: bool) -> None:
    assert decision.holds in {None, truth}
    assert (decision.why == "") == (decision.holds is not None)


@settings(max_examples=examples(400))
@given(truths, failing, miners, st.none() | st.integers(1, 17), kinds, st.sets(st.sampled_from(NAMES)))
def test_what_is_decided_is_so(
    truth: Sequence[bool],
    failing: list[frozenset[str]],
    miner: str,
    cap: int | None,
    kind: RuleKind,
    named: set[str],
) -> None:
    explanation = of(truth, failing, miner=miner, limits=Limits(cap))
    asked = frozenset(named)
    check(decide_rule(explanation, kind, asked), is_valid(truth, kind, asked))
    for size in range(5):
        among = [frozenset(s) for k in range(min(size, len(named)) + 1) for s in combinations(named, k)]
        decision = decide_any_rule(explanation, kind, named, size)
        check(decision, any(is_valid(truth, kind, each) for each in among))


@settings(max_examples=examples(300))
@given(
    truths, st.sampled_from(["exact", "exhaustive", "sampled"]), kinds, st.sets(st.sampled_from(NAMES))
)
def test_whoever_asked_about_everything_has_decided_it(
    truth: Sequence[bool], miner: str, kind: RuleKind, named: set[str]
) -> None:
    explanation = of(truth, miner=miner)
    assert decide_rule(explanation, kind, named).holds is not None
    for size in (None, 0, 1, 2):
        assert decide_any_rule(explanation, kind, named, size).holds is not None


@settings(max_examples=examples(200))
@given(truths, kinds, st.sets(st.sampled_from("acd")))
def test_pinned_sources_are_there_in_all_that_is_decided(
    truth: Sequence[bool], kind: RuleKind, named: set[str]
) -> None:
    explanation = of(truth, miner="exact", pinned=["b"])
    assert decide_rule(explanation, kind, named).holds is is_valid(truth, kind, frozenset(named), "b")


@settings(max_examples=examples(200))
@given(truths, kinds, st.sampled_from([0.5, 0.75, 0.9]), st.sets(st.sampled_from(NAMES)))
def test_with_a_minimum_confidence_a_share_decides(
    truth: Sequence[bool], kind: RuleKind, share: float, named: set[str]
) -> None:
    explanation = of(truth, noise=Noise(min_confidence=share))
    wanted = kind is RuleKind.RETENTION

    def confident(each: frozenset[str]) -> bool:
        about = [kept for kept in SUBSETS if (each <= kept if wanted else not each & kept)]
        return sum(truth[SUBSETS.index(kept)] is wanted for kept in about) >= share * len(about)

    for size in range(5):
        among = [frozenset(s) for k in range(min(size, len(named)) + 1) for s in combinations(named, k)]
        decision = decide_any_rule(explanation, kind, named, size)
        assert decision.holds is any(map(confident, among))
    check(decide_rule(explanation, kind, named), confident(frozenset(named)))


def test_doubts_decide_nothing() -> None:
    sure = of([{"a"} <= kept for kept in SUBSETS], miner="exact")
    limited = {
        "stop_reason": "limits.replays=3 is reached",
        "retention_rules": (),
        "omission_rules": (),
    }
    # Files of schema version 1 do not say whether replays were doubted.
    doubts = {
        "doubted": None,
        "complete": False,
        "stop_reason": DOUBTED,
        "warnings": ("another model may have written it",),
    }
    for change in (
        doubts,
        {"warnings": (JUDGED_TOGETHER,)},
        {**doubts, **limited},
        {**doubts, **limited, "doubted": True},
    ):
        unsure = sure.model_copy(update=change)
        assert decide_rule(unsure, RuleKind.RETENTION, ["a"]).holds is None
        assert decide_rule(unsure, RuleKind.RETENTION, ["b"]).holds is None
        assert decide_any_rule(unsure, RuleKind.RETENTION, ["b"]).holds is None
    warned = sure.model_copy(update={**doubts, **limited, "doubted": False})
    assert decide_rule(warned, RuleKind.RETENTION, ["b"]).holds is False, "its warning is no doubt"


def test_a_subset_without_a_verdict_neither_holds_nor_breaks() -> None:
    explanation = of([True] * 16, [frozenset("ab")], miner="exhaustive")
    for named, holds in (("a", None), ("ab", None), ("abc", True), ("c", True)):
        assert decide_rule(explanation, RuleKind.RETENTION, named).holds is holds
    assert decide_any_rule(explanation, RuleKind.RETENTION, "ab").holds is None


def test_a_kind_that_was_not_mined_is_undecided() -> None:
    explanation = explained(needs("a"), NAMES, rules="retention")
    decision = decide_any_rule(explanation, RuleKind.OMISSION)
    assert (decision.holds, decision.why) == (None, "no omission rules were looked for")


def test_a_tied_source_alone_is_undecided() -> None:
    same = "one and the same long text about the medicine"
    sources = [Source("a", same), Source("b", same), Source("c", "something else altogether, it seems")]
    explanation = explained(lambda shown: "a" in shown, sources, merge_duplicates=True)
    assert [tie.sources for tie in explanation.ties] == [("a", "b")]
    assert decide_rule(explanation, RuleKind.RETENTION, ["a", "b"]).holds
    assert decide_any_rule(explanation, RuleKind.RETENTION).holds
    assert decide_any_rule(explanation, RuleKind.RETENTION, max_size=1).holds is None
    assert decide_rule(explanation, RuleKind.RETENTION, ["b"]).holds is None
    assert decide_rule(explanation, RuleKind.RETENTION, ["c"]).holds is False


@pytest.mark.parametrize("options", [{"miner": "grouped"}, {"partition": 2}])
def test_a_relative_rule_decides_nothing(options: dict[str, Any]) -> None:
    explanation = explained(lambda shown: "D1" in shown, [f"D{n}" for n in range(8)], **options)
    relative = [rule for rule in explanation.retention_rules if rule.claim == "relative"]
    assert relative
    decision = decide_any_rule(explanation, RuleKind.RETENTION, ["D1"])
    assert (decision.holds, decision.rules) == (None, tuple(relative))
    assert decide_any_rule(explanation, RuleKind.RETENTION, ["D2", "D3"]).holds is False


def test_a_tested_rule_is_decided_with_its_chance_and_says_nothing_of_larger_ones() -> None:
    names = [f"D{n:02}" for n in range(12)]
    explanation = explained(needs("D01"), names, miner=Sampled(jointly=True))
    (rule,) = explanation.retention_rules
    assert rule.claim == "tested"
    decision = decide_any_rule(explanation, RuleKind.RETENTION, ["D01"])
    assert decision.holds
    assert 0 < decision.error <= 0.05
    assert decide_rule(explanation, RuleKind.RETENTION, ["D01", "D02"]).holds is None
    assert decide_rule(explanation, RuleKind.RETENTION, names).holds
    assert decide_rule(explanation, RuleKind.RETENTION, names[2:]).holds is False
    assert decide_any_rule(explanation, RuleKind.RETENTION, names[2:]).holds is False
    of_any = decide_any_rule(explanation, RuleKind.RETENTION, max_size=2)
    assert (of_any.holds, of_any.error) == (True, 0.05)
