"""This module counts the subsets that each miner visits in a lattice with known verdicts. It runs the
real searches on these verdicts, node by node, instead of computing the numbers by a formula."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from ..lattice import Lattice, Mask, minimal
from ..mining import Exhaustive, Mono, RuleSearch, dual
from ..rules import RuleKind
from ..verdicts import Verdict


class WalkedVerdicts(NamedTuple):
    """A ``WalkedVerdicts`` holds the verdicts for retention rules and the verdicts for omission rules,
    each by mask of the subset. A verdict is None if the subset was not replayed."""

    retention: tuple[Verdict | None, ...]
    omission: tuple[Verdict | None, ...]

    def of(self, kind: RuleKind) -> tuple[Verdict | None, ...]:
        """Returns the verdicts for this kind of rule."""
        return self.retention if kind is RuleKind.RETENTION else self.omission


class WalkedMiner(str, Enum):
    """A ``WalkedMiner`` is one of the miners that are compared. Its value is its name on the command
    line."""

    EXHAUSTIVE = "exhaustive"
    MONO_RETENTION = "mono-retention"
    MONO_OMISSION = "mono-omission"
    DUAL = "dual"
    DUAL_WITHOUT_MEMORY = "dual-without-memory"
    TWO_MONOS = "two-monos"

    @property
    def kinds(self) -> tuple[RuleKind, ...]:
        """Returns the kinds of rule that the miner mines."""
        return _KINDS.get(self, tuple(RuleKind))

    @property
    def family(self) -> str:
        """Returns the miner's name without the kind of rule: "mono" for the Mono Rule Miners for
        retention and for omission, otherwise the name on the command line."""
        return "mono" if self in _KINDS else self.value

    @property
    def kind(self) -> str:
        """Returns the kind of rule that the miner mines: "retention", "omission" or "both"."""
        return self.kinds[0].value if self in _KINDS else "both"


_KINDS = {
    WalkedMiner.MONO_RETENTION: (RuleKind.RETENTION,),
    WalkedMiner.MONO_OMISSION: (RuleKind.OMISSION,),
}


@dataclass(frozen=True, slots=True)
class Walk:
    """A ``Walk`` holds the subsets that one miner visited, and the numbers of rules that it found.

    ``replayed``: the replayed subsets, in order; a subset that is replayed twice occurs twice.
    ``nodes``: the number of visited nodes (subsets) of the lattice. A miner that walks the lattice once
    for each kind of rule may visit a node twice, and the node then counts twice. ``rules``: the number
    of all valid rules. ``minimal_rules``: the number of minimal rules.
    """

    replayed: tuple[Mask, ...]
    nodes: int
    rules: int
    minimal_rules: int

    @property
    def repeated(self) -> int:
        """Returns the number of replays of subsets that had already been replayed."""
        return len(self.replayed) - len(set(self.replayed))

    @property
    def calls(self) -> int:
        """Returns the number of model calls. It is the number of replays with at least one source,
        because the model is not called without sources."""
        return sum(mask != 0 for mask in self.replayed)


@lru_cache(maxsize=256)
def walk(miner: WalkedMiner, verdicts: WalkedVerdicts) -> Walk:
    """Runs the miner on the verdicts, without replays, and returns the ``Walk``, which holds the visited
    subsets. Raises KeyError if it visits a subset without a verdict."""
    lattice = Lattice(max(map(len, verdicts)).bit_length() - 1)
    searches = _searches(miner, lattice)
    visited = [mask for search in searches for mask in _visits(search, verdicts.of(search.kind))]
    distinct = dict.fromkeys(visited)
    rules = [[claim.antecedent for claim in search.claims] for search in searches]
    return Walk(
        replayed=tuple(distinct if miner in _REMEMBERING else visited),
        nodes=len(visited if miner is WalkedMiner.TWO_MONOS else distinct),
        rules=sum(map(len, rules)),
        minimal_rules=sum(len(minimal(each)) for each in rules),
    )


_REMEMBERING = {WalkedMiner.EXHAUSTIVE, WalkedMiner.DUAL}
"""The miners that remember verdicts. If their search for retention rules and their search for omission
rules need the same subset, this subset is replayed only once."""


def _searches(miner: WalkedMiner, lattice: Lattice) -> tuple[RuleSearch, ...]:
    if miner is WalkedMiner.EXHAUSTIVE:
        return tuple([RuleSearch(Exhaustive(kind, minimal=False), lattice) for kind in miner.kinds])
    if miner in {WalkedMiner.DUAL, WalkedMiner.DUAL_WITHOUT_MEMORY}:
        return dual(lattice, minimal=False)
    return tuple([RuleSearch(Mono(kind, minimal=False), lattice) for kind in miner.kinds])


def _visits(search: RuleSearch, verdicts: Sequence[Verdict | None]) -> Iterator[Mask]:
    """Runs the search to its end, and yields the subsets that it requests, in order."""
    while (ask := search.next()) is not None:
        verdict = verdicts[ask.key] if ask.key < len(verdicts) else None
        if verdict is None:
            raise KeyError(f"no verdict for the {search.kind.value} rules on subset {ask.key:b}")
        yield ask.key
        search.tell({ask.key: verdict})
