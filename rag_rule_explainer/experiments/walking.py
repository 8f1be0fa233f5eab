"""What each miner visits of a lattice whose verdicts are known. Pure: nothing is asked of anybody.

The real searches are run over the verdicts, node by node; nothing here is by formula.
"""

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
    """By the kind of rule whose condition is judged; each by mask, None where nobody asked."""

    retention: tuple[Verdict | None, ...]
    omission: tuple[Verdict | None, ...]

    def of(self, kind: RuleKind) -> tuple[Verdict | None, ...]:
        """Returns those of one kind."""
        return self.retention if kind is RuleKind.RETENTION else self.omission


class WalkedMiner(str, Enum):
    """This class represents the miners that are compared, as the command line names them."""

    EXHAUSTIVE = "exhaustive"
    MONO_RETENTION = "mono-retention"
    MONO_OMISSION = "mono-omission"
    DUAL = "dual"
    DUAL_WITHOUT_MEMORY = "dual-without-memory"
    TWO_MONOS = "two-monos"

    @property
    def kinds(self) -> tuple[RuleKind, ...]:
        """Returns the kinds of rule that it mines."""
        return _KINDS.get(self, tuple(RuleKind))

    @property
    def family(self) -> str:
        """Returns its name without the kind: "mono" for both Monos."""
        return "mono" if self in _KINDS else self.value

    @property
    def kind(self) -> str:
        """Returns the kind of rule that it mines: "retention", "omission" or "both"."""
        return self.kinds[0].value if self in _KINDS else "both"


_KINDS = {
    WalkedMiner.MONO_RETENTION: (RuleKind.RETENTION,),
    WalkedMiner.MONO_OMISSION: (RuleKind.OMISSION,),
}


@dataclass(frozen=True, slots=True)
class Walk:
    """What one miner visited, and found.

    ``replayed``: the subsets that it had replayed, in order, each as often as it had. ``nodes``: lattice
    nodes visited: of the one lattice that it walks, but of two, one for each kind, where two Monos walk
    apart (so up to 200 %). ``repeated``: replays of what had been replayed before. ``rules``: all valid
    rules, of all kinds that it mines, and ``minimal_rules`` the minimal ones among them.
    """

    replayed: tuple[Mask, ...]
    nodes: int
    rules: int
    minimal_rules: int

    @property
    def repeated(self) -> int:
        """Replays of what had been replayed before."""
        return len(self.replayed) - len(set(self.replayed))

    @property
    def calls(self) -> int:
        """Replays that ask the model: not those of no sources, which are answered without it."""
        return sum(mask != 0 for mask in self.replayed)


@lru_cache(maxsize=256)
def walk(miner: WalkedMiner, verdicts: WalkedVerdicts) -> Walk:
    """Returns the miner's walk over all subsets. Raises KeyError where it visits one that nobody asked
    about."""
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
"""Those that replay nothing twice, though both of their searches ask for it."""


def _searches(miner: WalkedMiner, lattice: Lattice) -> tuple[RuleSearch, ...]:
    if miner is WalkedMiner.EXHAUSTIVE:
        return tuple([RuleSearch(Exhaustive(kind, minimal=False), lattice) for kind in miner.kinds])
    if miner in {WalkedMiner.DUAL, WalkedMiner.DUAL_WITHOUT_MEMORY}:
        return dual(lattice, minimal=False)
    return tuple([RuleSearch(Mono(kind, minimal=False), lattice) for kind in miner.kinds])


def _visits(search: RuleSearch, verdicts: Sequence[Verdict | None]) -> Iterator[Mask]:
    """Runs the search to its end, and says what it asks for."""
    while (ask := search.next()) is not None:
        verdict = verdicts[ask.key] if ask.key < len(verdicts) else None
        if verdict is None:
            raise KeyError(f"no verdict for the {search.kind.value} rules on subset {ask.key:b}")
        yield ask.key
        search.tell({ask.key: verdict})
