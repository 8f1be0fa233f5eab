"""The seam between a miner and whoever answers it.

What a miner asks about is an arrangement, under a ``Key`` of its own: miners of subsets say a mask,
which is short for its units in recorded order; miners of orders say an ``Order``. Whoever answers knows
arrangements only. What a miner ``Said`` in the end is a claim of its own kind.

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
from typing import Generic, Protocol

from typing_extensions import NamedTuple, TypeVar

from ..lattice import Lattice, Order, Subset
from ..rules import Claim, RuleKind
from ..verdicts import Verdict

Key = TypeVar("Key", bound=Subset | Order, default=Subset)
Said = TypeVar("Said", default=Claim)


class Ask(NamedTuple, Generic[Key]):
    """This class represents a wish for the verdict on one arrangement, such as that of a concrete subset.

    ``rank`` is its priority, smallest first; ``needed=False`` marks it speculative. ``crucial``: much
    rests on it even if it HOLDS, so where BREAKS are put to the vote, so is this.
    """

    key: Key
    rank: int
    needed: bool = True
    crucial: bool = False


class Wanted(NamedTuple, Generic[Key, Said]):
    """What a miner wants now, and what it can claim now.

    ``stop``: why it asks for nothing more although there may be more to find; empty while it goes on.
    """

    asks: tuple[Ask[Key], ...]
    claims: Callable[[], tuple[Said, ...]]
    stop: str = ""


Verdicts = Mapping[Key, Verdict]
Mining = Generator[Wanted[Key, Said], Verdicts[Key], tuple[Said, ...]]


class Miner(Protocol[Key, Said]):
    """Mines rules of one kind. Settings and seed are fields of the miner."""

    @property
    def kind(self) -> RuleKind:
        """Returns the kind of rule it mines."""
        ...

    def __call__(self, lattice: Lattice, /) -> Mining[Key, Said]:
        """Returns a fresh search of ``lattice``; returns its final claims."""
        ...
