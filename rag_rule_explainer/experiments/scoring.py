"""Rules found against those that labels lead one to expect (paper, *robustness*). Pure counting."""

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
    """Returns what a majority of these comes to: HOLDS at half or more; UNKNOWN where those without a
    verdict could decide it."""
    holds, breaks, unknown = (verdicts.count(verdict) for verdict in Verdict)
    return Majority(len(verdicts)).outcome(holds, breaks, unknown) or Verdict.UNKNOWN


class Mined(NamedTuple):
    """This class represents all valid rules, as antecedents. ``unresolved``: subsets that were needed and
    have no verdict; where there are any, there may be more rules."""

    rules: Mapping[RuleKind, frozenset[Mask]]
    unresolved: tuple[Mask, ...]


@lru_cache(maxsize=1024)
def mined(verdicts: tuple[Verdict, ...]) -> Mined:
    """Returns what the Dual Rule Miner finds. ``verdicts``: of the condition of retention rules, on all
    subsets by mask; that of omission rules is its negation."""
    lattice = Lattice(len(verdicts).bit_length() - 1)
    rules = dict[RuleKind, frozenset[Mask]]()
    unresolved = set[Mask]()
    for search in dual(lattice, minimal=False):
        while (ask := search.next()) is not None:
            search.tell({ask.key: _turned(search.kind, verdicts[ask.key])})
        rules[search.kind] = frozenset(claim.antecedent for claim in search.claims)
        unresolved.update(search.unresolved)
    return Mined(rules, tuple(sorted(unresolved)))


def is_implied(necessary: Mask, mask: Mask) -> bool:
    """Returns whether the labels imply the truth on a subset: exactly where all necessary sources are in
    it."""
    return mask & necessary == necessary


def expected(kind: RuleKind, lattice: Lattice, necessary: Mask) -> frozenset[Mask]:
    """Returns all rules that the labels imply: those that retain every necessary source, or omit at least
    one."""
    if kind is RuleKind.RETENTION:
        return frozenset(lattice.supersets(necessary))
    return frozenset(mask for mask in lattice.masks() if mask & necessary)


def _turned(kind: RuleKind, verdict: Verdict) -> Verdict:
    return verdict if kind is RuleKind.RETENTION else ~verdict


@dataclass(frozen=True, slots=True)
class Score:
    """Of one question: how many rules were ``expected``, how many ``found``, and how many of these were
    expected. What is undefined is None: there is no precision of no rules, and no recall of none."""

    expected: int
    found: int
    right: int

    @property
    def precision(self) -> float | None:
        """Of the rules that were found, the share that was expected."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Of the rules that were expected, the share that was found."""
        return self.right / self.expected if self.expected else None


def score(expected: frozenset[Mask], found: frozenset[Mask]) -> Score:
    """Returns the score of these rules."""
    return Score(len(expected), len(found), len(expected & found))
