"""This module compares the rules that a search finds with the rules that labels imply (paper,
*robustness*). Labels say which sources are necessary for the right answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ..lattice import Lattice, Mask
from ..mining import dual
from ..probing.vote_rules import Majority
from ..rules import RuleKind
from ..verdicts import Verdict


def voted(verdicts: Sequence[Verdict]) -> Verdict:
    """Returns the result of a vote with these verdicts: HOLDS if at least half of the verdicts are HOLDS,
    else BREAKS. Returns UNKNOWN if the result depends on verdicts that are UNKNOWN."""
    holds, breaks, unknown = (verdicts.count(verdict) for verdict in Verdict)
    return Majority(len(verdicts)).outcome(holds, breaks, unknown) or Verdict.UNKNOWN


class Mined(NamedTuple):
    """A ``Mined`` holds all valid rules that were found. ``rules``: by kind, the sets of sources that the
    rules name. ``unresolved``: the subsets that the miner needed and that have no verdict. If there are
    any, there may be more rules."""

    rules: Mapping[RuleKind, frozenset[Mask]]
    unresolved: tuple[Mask, ...]


@lru_cache(maxsize=1024)
def mined(verdicts: tuple[Verdict, ...]) -> Mined:
    """Returns the rules that the Dual Rule Miner finds, minimal or not.

    ``verdicts``: for each subset, by mask, whether the condition of retention rules holds. The condition
    of omission rules is the opposite.
    """
    lattice = Lattice(len(verdicts).bit_length() - 1)
    rules = dict[RuleKind, frozenset[Mask]]()
    unresolved = set[Mask]()
    for search in dual(lattice, minimal=False):
        while (ask := search.next()) is not None:
            search.tell({ask.key: _verdict_of(search.kind, verdicts[ask.key])})
        rules[search.kind] = frozenset(claim.antecedent for claim in search.claims)
        unresolved.update(search.unresolved)
    return Mined(rules, tuple(sorted(unresolved)))


def is_implied(necessary: Mask, mask: Mask) -> bool:
    """Returns True iff the subset ``mask`` has all necessary sources, so that the labels imply the right
    answer."""
    return mask & necessary == necessary


def expected(kind: RuleKind, lattice: Lattice, necessary: Mask) -> frozenset[Mask]:
    """Returns all rules of one kind that follow from ``necessary`` (the sources that the labels call
    necessary for the right answer), as sets of sources. Retention rules name all necessary sources,
    omission rules at least one of them."""
    if kind is RuleKind.RETENTION:
        return frozenset(lattice.supersets(necessary))
    return frozenset(mask for mask in lattice.masks() if mask & necessary)


def _verdict_of(kind: RuleKind, verdict: Verdict) -> Verdict:
    return verdict if kind is RuleKind.RETENTION else ~verdict


@dataclass(frozen=True, slots=True)
class Score:
    """A ``Score`` counts the rules of one kind for one question. ``expected``: the rules that labels
    imply. ``found``: the rules that were found. ``right``: the rules that are both."""

    expected: int
    found: int
    right: int

    @property
    def precision(self) -> float | None:
        """Returns the share of expected rules among the rules found; None if no rules were found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Returns the share of rules found among the expected rules; None if no rules are expected."""
        return self.right / self.expected if self.expected else None


def score(expected: frozenset[Mask], found: frozenset[Mask]) -> Score:
    """Returns the score for these sets of rules. Each rule is given by the sources that it names."""
    return Score(len(expected), len(found), len(expected & found))
