"""The rounds of divide and conquer, out of its verdicts. Pure: nothing is asked of anybody."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..lattice import Lattice, Mask
from ..mining import Grouped, Miner, RuleSearch
from ..rules import RuleKind
from ..verdicts import Verdict


@dataclass(frozen=True, slots=True)
class GroupRound:
    """``groups``: how many were mined; ``asked``: the subsets that were not known before, in order."""

    groups: int
    asked: tuple[Mask, ...]


@dataclass(frozen=True, slots=True)
class _Noting(Grouped):
    """Notes how many groups each of its rounds is over."""

    begun: list[int] = field(default_factory=list[int])

    def over(self, groups: int) -> Miner:
        self.begun.append(groups)
        return Grouped.over(self, groups)


def rounds_of(lattice: Lattice, verdicts: Mapping[Mask, Verdict]) -> tuple[GroupRound, ...]:
    """Returns the rounds of the grouped search for retention rules, by running it over the verdicts.

    Its last trial, of the rule beside all that was dropped, is part of the last round. Raises KeyError
    where a verdict is missing.
    """
    miner = _Noting(RuleKind.RETENTION)
    search, asked = RuleSearch(miner, lattice), list[list[Mask]]()
    while asks := search.ask():
        # A round begins when all of the one before is told, so what is asked at once is of one round.
        asked += [[] for _ in range(len(miner.begun) - len(asked))]
        asked[-1] += [ask.key for ask in asks]
        search.tell({ask.key: verdicts[ask.key] for ask in asks})
    # A round that asks for nothing is one all the same.
    asked += [[] for _ in range(len(miner.begun) - len(asked))]
    return tuple([GroupRound(n, tuple(masks)) for n, masks in zip(miner.begun, asked, strict=True)])
