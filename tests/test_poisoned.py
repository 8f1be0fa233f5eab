"""Subsets that never get an answer: nothing that is said is false, and what is not known is said to be.

Held against all that could be: the truth with every verdict that is missing filled in either way.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer import Answer, Explainer, Explanation, Retries, RuleKind, Source, equals
from rag_rule_explainer.lattice import Antecedent, Lattice, Mask, minimal

QUICK = Retries(most=1, first_wait=0.0, longest_wait=0.0)
Truth = Mapping[frozenset[str], bool]


class Refused(Exception):
    status_code = 500


async def _hangs() -> Answer:
    await asyncio.sleep(3600)
    raise AssertionError


async def _is_refused() -> Answer:
    raise Refused("status 500")


async def _is_empty() -> Answer:
    return Answer(" ")


POISONS: dict[str, tuple[Callable[[], Any], str]] = {
    "500": (_is_refused, "Refused: status 500"),
    "empty": (_is_empty, "the answer is empty"),
    "hang": (_hangs, "no answer within 0.02 seconds"),
}


def names_of(size: int, mask: Mask) -> frozenset[str]:
    return frozenset("abcde"[unit] for unit in Lattice(size).units(mask))


def explained(size: int, truth: Sequence[bool], poisoned: Mapping[Mask, str], **more: Any) -> Explanation:
    """``truth``: whether the condition holds, by mask."""
    by_names = {names_of(size, mask): holds for mask, holds in enumerate(truth)}
    poison = {names_of(size, mask): POISONS[kind][0] for mask, kind in poisoned.items()}

    async def replay(_question: str, sources: Sequence[Source]) -> Any:
        shown = frozenset(source.id for source in sources)
        return await poison[shown]() if shown in poison else "yes" if by_names[shown] else "no"

    settings: dict[str, Any] = {"retries": QUICK, "timeout": 0.02, "check_repeatable": False, **more}
    if "hang" not in poisoned.values():
        settings["timeout"] = None  # nothing hangs, and a busy machine is no fault
    sources = [Source(name, name) for name in "abcde"[:size]]
    return Explainer(replay, predicate=equals("yes"), **settings).explain(
        "?", sources, Answer("yes" if truth[-1] else "no")
    )


def valid(kind: RuleKind, size: int, holds: Mapping[Mask, bool]) -> set[Mask]:
    """The definition itself; ``holds``: of the kind's own condition."""
    lattice = Lattice(size)
    return {
        antecedent
        for antecedent in lattice.masks()
        if all(holds[kind.subset(lattice, Antecedent(wider))] for wider in lattice.supersets(antecedent))
    }


def worlds(kind: RuleKind, truth: Sequence[bool], poisoned: Sequence[Mask]) -> list[dict[Mask, bool]]:
    """All that could be true, the poisoned subsets being what nobody knows."""
    wanted = kind is RuleKind.RETENTION
    known = {mask: holds is wanted for mask, holds in enumerate(truth)}
    return [
        {**known, **dict(zip(poisoned, filling, strict=True))}
        for filling in product([False, True], repeat=len(poisoned))
    ]


def check(
    explanation: Explanation, size: int, truth: Sequence[bool], poisoned: Mapping[Mask, str]
) -> None:
    lattice = Lattice(size)
    hit = {
        mask
        for mask in poisoned
        if any(frozenset(p.kept) == names_of(size, mask) for p in explanation.probes)
    }
    for kind in RuleKind:
        rules = explanation.retention_rules if kind is RuleKind.RETENTION else explanation.omission_rules
        possible = [valid(kind, size, world) for world in worlds(kind, truth, sorted(poisoned))]
        always = set[Mask].intersection(*possible)
        masks = {lattice.mask("abcde".index(name) for name in rule.sources): rule for rule in rules}
        # What is reported is true in every possible world; and of what is true in all of them, nothing
        # that could be known is missing: some reported rule says as much or more.
        assert masks.keys() <= always, kind
        for antecedent in always:
            assert any(rule & antecedent == rule for rule in masks), (kind, antecedent)
        for antecedent, rule in masks.items():
            smallest = {antecedent in set(minimal(each)) for each in possible}
            assert rule.minimal in ({True, None} if smallest == {True} else {None, False}), (kind, rule)
            assert rule.proved
        check_denials(explanation, kind, size, possible)
        unknown = {
            "".join(each.kept): each.reason for each in explanation.unresolved if each.kind is kind
        }
        for kept, reason in unknown.items():
            mask = lattice.mask("abcde".index(name) for name in kept)
            assert reason == POISONS[poisoned[mask]][1]
        settled = not unknown
        for each in possible if settled else ():
            assert masks.keys() == set(minimal(each))
        assert bool([each for each in explanation.importance if each.kind is kind]) <= settled
    assert explanation.complete is (not explanation.unresolved)
    assert explanation.complete or hit
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def check_denials(explanation: Explanation, kind: RuleKind, size: int, possible: list[set[Mask]]) -> None:
    """What is called invalid is so in every possible world, and so is each smallest change."""
    lattice = Lattice(size)

    def mask_of(names: Sequence[str]) -> Mask:
        return lattice.mask("abcde".index(name) for name in names)

    for witness in (each for each in explanation.witnesses if each.kind is kind):
        assert all(mask_of(witness.sources) not in each for each in possible)
    for change in (each for each in explanation.counterfactuals if each.kind is kind):
        antecedent = lattice.complement(mask_of(change.sources))
        for each in possible:
            assert antecedent not in each
            assert set(lattice.one_more(antecedent)) <= each


CONDITIONS: list[tuple[int, Callable[[Mask], bool]]] = [
    (3, lambda mask: mask & 0b110 == 0b110),
    (3, lambda mask: bool(mask & 0b101)),
    (4, lambda mask: mask & 0b1010 == 0b1010),
    (4, lambda mask: mask.bit_count() >= 2),
    (4, lambda mask: True),
]


@pytest.mark.spread(fast=4, slow=3)
@pytest.mark.parametrize("kind", POISONS)
@pytest.mark.parametrize(("size", "holds"), CONDITIONS)
def test_every_subset_in_turn_never_gets_an_answer(
    size: int, holds: Callable[[Mask], bool], kind: str
) -> None:
    truth = [holds(mask) for mask in range(1 << size)]
    # Whoever is shown nothing may well say nothing.
    for poisoned in range(kind == "empty", 1 << size):
        explanation = explained(size, truth, {poisoned: kind})
        check(explanation, size, truth, {poisoned: kind})
        if any(frozenset(probe.kept) == names_of(size, poisoned) for probe in explanation.probes):
            assert not explanation.complete
            assert names_of(size, poisoned) in {frozenset(each.kept) for each in explanation.unresolved}


@given(data=st.data(), size=st.integers(1, 4), miner=st.sampled_from(["exact", "exhaustive"]))
def test_whatever_never_gets_an_answer_nothing_that_is_said_is_false(
    data: st.DataObject, size: int, miner: str
) -> None:
    truth = data.draw(st.lists(st.booleans(), min_size=1 << size, max_size=1 << size))
    poisoned = data.draw(
        st.dictionaries(st.integers(0, (1 << size) - 1), st.sampled_from(["500", "empty"]), max_size=5)
    )
    poisoned = {mask: kind for mask, kind in poisoned.items() if mask or kind != "empty"}
    speculate = data.draw(st.sampled_from([0.0, 0.1, 0.5]))
    explanation = explained(size, truth, poisoned, miner=miner, speculate=speculate, concurrency=4)
    check(explanation, size, truth, poisoned)
