"""What comes free with the rules, each against its definition by brute force."""

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Explanation, RuleKind, Source, equals
from rag_rule_explainer.testing import ScriptedReplay
from tests.drawing import examples

Ids = frozenset[str]
SIZE = 4
NAMES = tuple(f"D{place}" for place in range(1, SIZE + 1))
SUBSETS = [frozenset(ids) for size in range(SIZE + 1) for ids in combinations(NAMES, size)]

tables = st.lists(st.booleans(), min_size=2**SIZE, max_size=2**SIZE).map(
    lambda truths: dict(zip(SUBSETS, truths, strict=True))
)


def explained(table: dict[Ids, bool], miner: str = "exact") -> Explanation:
    replay = ScriptedReplay(lambda ids: "yes" if table[ids] else "no")
    explainer = Explainer(
        replay,
        predicate=equals("yes"),
        omission_predicate=equals("yes"),
        miner="exhaustive" if miner == "exhaustive" else "exact",
        check_repeatable=False,
        concurrency=1,
    )
    return explainer.explain("?", [Source(name, name) for name in NAMES])


def applicable(kind: RuleKind, antecedent: Ids) -> list[Ids]:
    if kind is RuleKind.RETENTION:
        return [ids for ids in SUBSETS if antecedent <= ids]
    return [ids for ids in SUBSETS if not antecedent & ids]


def valid(table: dict[Ids, bool], kind: RuleKind) -> set[Ids]:
    return {ids for ids in SUBSETS if all(table[each] for each in applicable(kind, ids))}


@pytest.mark.parametrize("miner", ["exact", "exhaustive"])
@given(table=tables)
@settings(max_examples=examples(60))
def test_rules_witnesses_and_counterfactuals_by_definition(miner: str, table: dict[Ids, bool]) -> None:
    explanation = explained(table, miner)
    for kind in RuleKind:
        rules = valid(table, kind)
        found = {frozenset(f.sources) for f in explanation.rules if f.kind is kind}
        assert found == {ids for ids in rules if not any(other < ids for other in rules)}

        largest = [ids for ids in SUBSETS if ids not in rules]
        largest = {ids for ids in largest if not any(ids < other for other in largest)}
        witnesses = [witness for witness in explanation.witnesses if witness.kind is kind]
        assert {frozenset(witness.sources) for witness in witnesses} == largest
        for witness in witnesses:
            assert not table[frozenset(witness.kept)]
            assert frozenset(witness.kept) in applicable(kind, frozenset(witness.sources))
            assert witness.answer == "no"

        start = frozenset(NAMES) if kind is RuleKind.RETENTION else frozenset[str]()
        flips = {ids for ids in SUBSETS if table[start] and not table[start ^ ids]}
        smallest = {ids for ids in flips if not any(other < ids for other in flips)}
        changes = [change for change in explanation.counterfactuals if change.kind is kind]
        assert {frozenset(change.sources) for change in changes} == smallest
        assert {change.change for change in changes} <= {
            "removal" if kind is RuleKind.RETENTION else "addition"
        }


@given(table=tables)
@settings(max_examples=examples(60))
def test_rules_and_counterfactual_removals_are_each_others_minimal_hitting_sets(
    table: dict[Ids, bool],
) -> None:
    explanation = explained(table)
    if not table[frozenset(NAMES)]:
        return
    rules = {frozenset(finding.sources) for finding in explanation.retention_rules}
    removals = {frozenset(c.sources) for c in explanation.counterfactuals if c.kind is RuleKind.RETENTION}
    assert removals == hitting_sets(rules)
    assert rules == hitting_sets(removals)


def hitting_sets(family: set[Ids]) -> set[Ids]:
    hitting = [ids for ids in SUBSETS if all(ids & member for member in family)]
    return {ids for ids in hitting if not any(other < ids for other in hitting)}


@given(table=tables)
@settings(max_examples=examples(30))
def test_importance_is_given_for_every_source_of_a_finished_search(table: dict[Ids, bool]) -> None:
    explanation = explained(table)
    for kind in RuleKind:
        indices = [index for index in explanation.importance if index.kind is kind]
        assert [index.source for index in indices] == list(NAMES)
        named = set(chain.from_iterable(f.sources for f in explanation.rules if f.kind is kind))
        assert {index.source for index in indices if index.banzhaf} == named
        assert sum(index.shapley for index in indices) == pytest.approx(1 if named else 0)


def test_an_unfinished_search_gives_no_importance_and_no_doubtful_counterfactual() -> None:
    def script(ids: Ids) -> str | Exception:
        return RuntimeError("down") if len(ids) == SIZE - 1 else "yes" if len(ids) == SIZE else "no"

    explanation = Explainer(
        ScriptedReplay(script), predicate=equals("yes"), rules="retention", miner="exhaustive"
    ).explain("?", [Source(name, name) for name in NAMES])
    assert explanation.importance == ()
    # Removing two documents flips the outcome, but whether one would do is not known.
    assert explanation.counterfactuals == ()
    assert len(explanation.unresolved) == SIZE
