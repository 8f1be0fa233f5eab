"""This module defines the contract between a miner, which searches for rules, and its caller.

A miner requests verdicts on arrangements (ordered lists of sources). Each arrangement has a ``Key``: a
miner of subsets uses a bit mask of the sources, a miner of orders an ``Order``. The results of a miner
are its claims, such as that some sources form a rule; ``ClaimType`` is their type.

A miner is a generator. It yields *asks*, which are requests for verdicts, together with a function that
returns its current claims. The caller sends verdicts back. A miner does no I/O, and uses no clock and no
thread.

The contract of a miner:

- The caller may send the verdicts on only some of the asks, in any order, and the other verdicts later.
- Only a subset with the verdict HOLDS proves anything. UNKNOWN neither proves nor excludes anything.
- The claims can be read at every yield, and they are true, given the verdicts that were sent.
- New asks are added to earlier ones. A second ask for the same key replaces the first one.

So a limit, a failed replay or an interrupt needs no special code in a miner. The caller stops sending
verdicts, and the last claims remain true. ``rag_rule_explainer.testing.check_miner`` checks this
contract.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Generic, Protocol

from typing_extensions import NamedTuple, TypeVar

from ..lattice import ArrangementKey, Lattice, Subset
from ..rules import Claim, RuleKind
from ..verdicts import Verdict

Key = TypeVar("Key", bound=ArrangementKey, default=Subset)
ClaimType = TypeVar("ClaimType", default=Claim)


class Ask(NamedTuple, Generic[Key]):
    """An Ask requests the verdict on one arrangement, such as a subset of the sources.

    ``rank``: the priority; the ask with the smallest rank comes first. ``needed``: False for a guess,
    whose verdict the miner may never need. ``crucial``: True if a wrong verdict would do much harm. If
    the settings have votes, the verdict is then decided by a vote over several answers, even if the
    condition holds for the first answer.
    """

    key: Key
    rank: int
    needed: bool = True
    crucial: bool = False


class Wanted(NamedTuple, Generic[Key, ClaimType]):
    """A Wanted holds the values that a miner yields: its new asks (requests for verdicts), and a function
    that returns its current claims. ``stop``: the reason why the miner ends early, so that there may be
    more rules; empty as long as it goes on."""

    asks: tuple[Ask[Key], ...]
    claims: Callable[[], tuple[ClaimType, ...]]
    stop: str = ""


Verdicts = Mapping[Key, Verdict]
Mining = Generator[Wanted[Key, ClaimType], Verdicts[Key], tuple[ClaimType, ...]]


class Miner(Protocol[Key, ClaimType]):
    """A Miner finds rules of one kind. Its fields are its settings, such as a seed. With the same
    settings and the same verdicts, each search has the same result."""

    @property
    def kind(self) -> RuleKind:
        """Returns the kind of rule that the miner finds."""
        ...

    def __call__(self, lattice: Lattice, /) -> Mining[Key, ClaimType]:
        """Starts a new search over the subsets of ``lattice`` and returns it. The search is a generator
        whose return value is the tuple of its final claims."""
        ...
