"""This module finds out which rounds a grouped search (divide and conquer) makes, from known verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..lattice import Lattice, Mask
from ..mining import Grouped, Miner, RuleSearch
from ..rules import RuleKind
from ..verdicts import Verdict


@dataclass(frozen=True, slots=True)
class GroupRound:
    """A ``GroupRound`` is one round of a grouped search. ``groups``: the number of groups that it mines.
    ``asked``: the subsets that it replays, in order, without those of earlier rounds."""

    groups: int
    asked: tuple[Mask, ...]


@dataclass(frozen=True, slots=True)
class _Noting(Grouped):
    """This miner records the number of groups in each of its rounds."""

    begun: list[int] = field(default_factory=list[int])

    def over(self, groups: int) -> Miner:
        self.begun.append(groups)
        return Grouped.over(self, groups)


def rounds_of(lattice: Lattice, verdicts: Mapping[Mask, Verdict]) -> tuple[GroupRound, ...]:
    """Returns the rounds of the grouped search for retention rules. For this, the search is run on
    ``verdicts``, without replays.

    The last round includes the final test of the rule together with all dropped sources. Raises KeyError
    if a verdict is missing.
    """
    miner = _Noting(RuleKind.RETENTION)
    search, asked = RuleSearch(miner, lattice), list[list[Mask]]()
    while asks := search.ask():
        # A round begins only when the previous one is complete, so subsets that are requested together
        # belong to one round.
        asked += [[] for _ in range(len(miner.begun) - len(asked))]
        asked[-1] += [ask.key for ask in asks]
        search.tell({ask.key: verdicts[ask.key] for ask in asks})
    # The last rounds may request no subsets. The loop does not see them, so they are added here.
    asked += [[] for _ in range(len(miner.begun) - len(asked))]
    return tuple([GroupRound(n, tuple(masks)) for n, masks in zip(miner.begun, asked, strict=True)])
