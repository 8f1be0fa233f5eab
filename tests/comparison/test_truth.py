"""What a comparison says, held against the definition, whatever stopped either side."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_rule_explainer import Comparison, Explanation, Finding, Limits, RuleKind, diff
from rag_rule_explainer.comparison import Change
from rag_rule_explainer.lattice import Lattice, Subset
from rag_rule_explainer.mining import valid_rules
from rag_rule_explainer.verdicts import Verdict
from tests.comparison.explaining import explained
from tests.drawing import examples

SIZE = 4
TURNED = {
    "lost": "gained",
    "gained": "lost",
    "weakened": "strengthened",
    "strengthened": "weakened",
    "perhaps lost": "perhaps gained",
    "perhaps gained": "perhaps lost",
}

Truth = Sequence[bool]
Names = frozenset[str]
monotone = st.lists(st.integers(0, 15), max_size=4).map(
    lambda needed: [any(mask & each == each for each in needed) for mask in range(16)]
)
truths: "st.SearchStrategy[Truth]" = st.lists(st.booleans(), min_size=16, max_size=16) | monotone
caps = st.none() | st.integers(1, 16)
miners = st.sampled_from(["exact", "exhaustive"])


def of(truth: Truth, names: str, cap: int | None = None, **options: Any) -> Explanation:
    lattice = Lattice(SIZE)

    def says_yes(shown: frozenset[str]) -> bool:
        return truth[lattice.mask(map(names.index, shown))]

    if cap is not None:
        options["limits"] = Limits(cap)
    return explained(says_yes, names, **options)


def valid(kind: RuleKind, truth: Truth, names: str) -> set[Names]:
    """The definition itself."""
    lattice = Lattice(SIZE)
    wanted = kind is RuleKind.RETENTION
    verdicts = {Subset(mask): Verdict.of(holds is wanted) for mask, holds in enumerate(truth)}
    rules = valid_rules(kind, lattice, verdicts)
    return {frozenset(names[unit] for unit in lattice.units(rule)) for rule in rules}


def smallest(rules: set[Names]) -> set[Names]:
    return {rule for rule in rules if not any(other < rule for other in rules)}


def named(findings: Sequence[Finding]) -> set[Names]:
    return {frozenset(finding.sources) for finding in findings}


def check(
    comparison: Comparison,
    kind: RuleKind,
    first: set[Names],
    second: set[Names],
    names: Mapping[str, str],
) -> None:
    """``first`` and ``second``: the valid rules of A and of B; ``names``: of the sources of each."""

    def denied(rule: Names, there: set[Names], letter: str) -> bool:
        return not any(other <= rule & set(names[letter]) for other in there)

    changes = [change for change in comparison.changes if change.kind is kind]
    for change in changes:
        before, after = named(change.before), named(change.after)
        assert before <= first
        assert after <= second
        if change.is_loss:
            (rule,) = before
            assert denied(rule, second, "B")
            assert all(rule < larger for larger in after)
        if change.is_gain:
            (rule,) = after
            assert denied(rule, first, "A")
            assert all(rule < larger for larger in before)
        # Exact searches prove what they claim: nothing rests on less.
        assert change.is_loss or change.is_gain or not change.is_certain


@given(truths, truths, caps, caps, miners, miners)
def test_what_is_lost_and_gained_is_so(
    a: Truth, b: Truth, cap_a: int | None, cap_b: int | None, miner_a: str, miner_b: str
) -> None:
    first, second = of(a, "abcd", cap_a, miner=miner_a), of(b, "abcd", cap_b, miner=miner_b)
    comparison = diff(first, second)
    for kind in RuleKind:
        mine, theirs = valid(kind, a, "abcd"), valid(kind, b, "abcd")
        check(comparison, kind, mine, theirs, {"A": "abcd", "B": "abcd"})
        rules = first.retention_rules if kind is RuleKind.RETENTION else first.omission_rules
        found = second.retention_rules if kind is RuleKind.RETENTION else second.omission_rules
        if comparison.fails("lost") is False:
            assert named(rules) <= theirs
        if comparison.fails("gained") is False:
            assert smallest(theirs) == named(found)
            assert named(found) <= mine
        if comparison.clean:
            assert mine == theirs
        if first.complete and second.complete:
            lost = {
                rule for change in comparison.lost if change.kind is kind for rule in named(change.before)
            }
            gained = {
                rule for each in comparison.gained if each.kind is kind for rule in named(each.after)
            }
            assert lost == smallest(mine) - theirs
            assert gained == smallest(theirs) - mine
    if first.complete and second.complete:
        assert comparison.fails() is (a != b and bool(comparison.changes))
        assert not comparison.inconclusive
    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison
    assert all(line.isprintable() for line in str(comparison).split("\n"))


@settings(max_examples=examples(50))
@given(truths, truths, caps, caps)
def test_so_it_is_where_the_sources_differ(
    a: Truth, b: Truth, cap_a: int | None, cap_b: int | None
) -> None:
    comparison = diff(of(a, "abcd", cap_a), of(b, "cedf", cap_b))
    for kind in RuleKind:
        check(
            comparison,
            kind,
            valid(kind, a, "abcd"),
            valid(kind, b, "cedf"),
            {"A": "abcd", "B": "cedf"},
        )


@settings(max_examples=examples(50))
@given(truths, truths, caps, caps)
def test_turned_around_what_was_lost_is_gained(
    a: Truth, b: Truth, cap_a: int | None, cap_b: int | None
) -> None:
    first, second = of(a, "abcd", cap_a), of(b, "abcd", cap_b)

    def told(changes: Sequence[Change], turn: Callable[[Change], tuple[object, ...]]) -> set[object]:
        return {(change.kind, *turn(change)) for change in changes}

    there, back = diff(first, second), diff(second, first)
    assert told(there.changes, lambda c: (c.what, c.before, c.after, c.broken)) == told(
        back.changes, lambda c: (TURNED[c.what], c.after, c.before, c.broken)
    )
    assert there.unchanged == back.unchanged


@given(truths, caps, miners, st.booleans())
def test_nothing_differs_from_itself(a: Truth, cap: int | None, miner: str, smallest_only: bool) -> None:
    explanation = of(a, "abcd", cap, miner=miner, minimal=smallest_only)
    comparison = diff(explanation, explanation)
    assert comparison.changes == ()
    assert comparison.unchanged == len(explanation.rules)
    assert comparison.fails("lost") is False
    assert comparison.fails() is (False if explanation.complete else None)


@settings(max_examples=examples(50))
@given(truths, truths)
def test_all_rules_compare_like_the_minimal_ones(a: Truth, b: Truth) -> None:
    comparison = diff(of(a, "abcd", minimal=False), of(b, "abcd"))
    for kind in RuleKind:
        mine, theirs = valid(kind, a, "abcd"), valid(kind, b, "abcd")
        check(comparison, kind, mine, theirs, {"A": "abcd", "B": "abcd"})
        lost = {rule for each in comparison.lost if each.kind is kind for rule in named(each.before)}
        assert lost == mine - theirs
