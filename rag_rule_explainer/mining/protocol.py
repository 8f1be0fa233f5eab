"""The seam between a miner and whoever answers it.

A miner is a generator. It yields what it *wants*: asks, and a callable that says what can be claimed
right now. It is sent verdicts. It does no I/O, knows no clock and no thread.

The contract of a miner:

- it may be resumed before all its asks are answered, with any part of them, in any order;
- a mask that does not HOLD proves nothing; an UNKNOWN neither proves nor prunes;
- what it can claim is readable at every yield, and every claim is true of the verdicts it was sent;
- its asks are additions: asking for a mask again replaces that mask's rank and whether it is needed.

So a budget, a failed replay or an interrupt need no special path: whoever steps the miner stops, and
its last claims stand. ``rag_rule_explainer.testing.check_miner`` checks this contract.
"""

from collections.abc import Callable, Generator, Mapping
from typing import NamedTuple, Protocol

from ..lattice import Lattice, Mask
from ..rules import Claim, RuleKind
from ..verdicts import Verdict


class Ask(NamedTuple):
    """A wish for the verdict on one concrete subset.

    ``rank`` is its priority, smallest first; ``needed=False`` marks it speculative. ``crucial``: much
    rests on it even if it HOLDS, so where BREAKS are put to the vote, so is this.
    """

    mask: Mask
    rank: int
    needed: bool = True
    crucial: bool = False


class Wanted(NamedTuple):
    """What a miner wants now, and what it can claim now.

    ``stop``: why it asks for nothing more although there may be more to find; empty while it goes on.
    """

    asks: tuple[Ask, ...]
    claims: Callable[[], tuple[Claim, ...]]
    stop: str = ""


Verdicts = Mapping[Mask, Verdict]
Mining = Generator[Wanted, Verdicts, tuple[Claim, ...]]


class Miner(Protocol):
    """Mines rules of one kind. Settings and seed are fields of the miner."""

    @property
    def kind(self) -> RuleKind:
        """The kind of rule it mines."""
        ...

    def __call__(self, lattice: Lattice, /) -> Mining:
        """A fresh search of ``lattice``; returns its final claims."""
        ...
