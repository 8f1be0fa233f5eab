"""Rules as the definitions have them, over the answers to all subsets; nothing of the package is used."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

Subset = frozenset[str]


def subsets_of(ids: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(len(ids) + 1):
        yield from combinations(ids, size)


def minimal_rules(holds: Mapping[Subset, bool]) -> tuple[set[Subset], set[Subset]]:
    """The smallest sets whose presence brings the condition about, and those whose absence prevents it,
    whatever else is there."""
    retention = [s for s in holds if is_rule(s, holds, "retention")]
    omission = [s for s in holds if is_rule(s, holds, "omission")]
    return smallest(retention), smallest(omission)


def is_rule(named: Subset, holds: Mapping[Subset, bool], kind: str) -> bool:
    """Returns True iff the condition holds on all subsets with these sources or, for an omission rule, on
    none without them."""
    if kind == "retention":
        return all(holds[kept] for kept in holds if named <= kept)
    return not any(holds[kept] for kept in holds if not named & kept)


def smallest(sets: Sequence[Subset]) -> set[Subset]:
    return {each for each in sets if not any(other < each for other in sets)}


def judged(answers: Mapping[Subset, str], condition: Callable[[str], bool]) -> dict[Subset, bool]:
    return {kept: condition(answer) for kept, answer in answers.items()}
