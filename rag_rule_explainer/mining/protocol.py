"""This module defines the contract between a miner and its caller.

A miner requests verdicts on arrangements, each under a ``Key``: a miner of subsets uses a mask of the
units in recorded order, a miner of orders an ``Order``. The caller knows arrangements only. ``Said`` is
the type of a miner's claims.

A miner is a generator. It yields the asks that it wants answered, with a callable that returns its
current claims. The caller sends verdicts. A miner does no I/O, and uses no clock and no thread.

The contract of a miner:

- it may be resumed before all its asks are answered, with any part of them, in any order; - only a mask
that HOLDS proves anything; an UNKNOWN neither proves nor prunes; - its claims are readable at every
yield, and every claim is true of the verdicts that it was sent; - its asks are additions: a second ask
for a mask replaces the first one's rank and ``needed``.

So a budget, a failed replay or an interrupt need no special path: the caller stops stepping the miner,
and its last claims stand. ``rag_rule_explainer.testing.check_miner`` checks this contract.
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
    """An Ask requests the verdict on one arrangement, such as that of a concrete subset.

    ``rank`` is its priority, smallest first; ``needed=False`` marks it as speculative. ``crucial``: much
    depends on it even if it HOLDS, so votes at the border include it.
    """

    key: Key
    rank: int
    needed: bool = True
    crucial: bool = False


class Wanted(NamedTuple, Generic[Key, Said]):
    """A Wanted holds a miner's new asks and its current claims. ``stop``: the reason why the miner ends
    although there may be more rules; empty otherwise."""

    asks: tuple[Ask[Key], ...]
    claims: Callable[[], tuple[Said, ...]]
    stop: str = ""


Verdicts = Mapping[Key, Verdict]
Mining = Generator[Wanted[Key, Said], Verdicts[Key], tuple[Said, ...]]


class Miner(Protocol[Key, Said]):
    """A Miner finds rules of one kind. Its settings and its seed are its fields."""

    @property
    def kind(self) -> RuleKind:
        """The kind of the rules."""
        ...

    def __call__(self, lattice: Lattice, /) -> Mining[Key, Said]:
        """Returns a new search of ``lattice``, whose return value are the final claims."""
        ...
