"""This module steps a miner: it issues the miner's asks, and sends it the verdicts.

    wanted  --next-->  in flight  --tell-->  known to the miner      (each key goes this way once)
    wanted  ---- verdict already known ---->  known to the miner      (no key is probed twice)

    idle slot  --guess-->  in flight  --tell-->  kept back            (until the miner requests the key)

``finished``: the miner has every verdict that it needs, so no stop has left anything out and there is no
``stop_reason``. Stopped: the caller has stopped the search, or the probe budget is spent and all issued
keys have verdicts; the miner's last claims stand.
"""

import heapq
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from ..lattice import FAMILY_LIMIT, Antecedent, Family, Lattice, Subset, down_closure, family, up_closure
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Key, Miner, Mining, Said, Wanted

Guessed = TypeVar("Guessed")


class Guesses(Protocol[Guessed]):
    """Guesses choose keys that may be probed before it is known whether they are needed; see
    ``Speculation``."""

    @property
    def wasted(self) -> frozenset[Guessed]:
        """The issued keys that are known to be unneeded."""
        ...

    @property
    def unneeded(self) -> frozenset[Guessed]:
        """The issued keys that are not needed so far."""
        ...

    def __contains__(self, key: Guessed, /) -> bool: ...

    def next(self, issued: int, is_taken: Callable[[Guessed], bool], /) -> Guessed | None:
        """Returns a guess that is safe enough, or None. ``issued``: the number of probes so far."""
        ...

    def confirm(self, key: Guessed, /) -> None:
        """Records that the miner has requested a guessed key."""
        ...

    def learn(self, key: Guessed, verdict: Verdict, /) -> None:
        """Records a verdict."""
        ...


class RuleSearch(Generic[Key, Said]):
    """A RuleSearch steps one miner on one lattice; its keys are subsets unless its type says otherwise.

    ``known``: verdicts from an earlier search over the same units. They are never requested again, so
    starting anew with the saved verdicts resumes a search. ``budget``: the largest number of probes.
    ``guesses``: chooses the keys of ``guess``; for miners that probe top-down.
    """

    def __init__(
        self,
        miner: Miner[Key, Said],
        lattice: Lattice,
        *,
        known: Mapping[Key, Verdict] | None = None,
        budget: int | None = None,
        guesses: Guesses[Key] | None = None,
    ) -> None:
        self.kind: RuleKind = miner.kind
        self.lattice = lattice
        self.verdicts: dict[Key, Verdict] = {}
        self.stop_reason = ""
        self.finished = False
        self._known = dict(known or {})
        self._speculation = guesses
        # The verdicts on guesses that the miner has not requested yet, and may never request.
        self._guessed_verdicts: dict[Key, Verdict] = {}
        self._budget = budget
        self._spent = 0
        self._in_flight: set[Key] = set()
        self._crucial: set[Key] = set()
        self._wanting: dict[Key, Ask[Key]] = {}
        self._queue: list[tuple[int, Key]] = []
        self._final: tuple[Said, ...] | None = None
        self._mining: Mining[Key, Said] = miner(lattice)
        self._wanted: Wanted[Key, Said] = next(self._mining)
        self._step(self._queue_up(self._wanted.asks))

    def ask(self, limit: int | None = None) -> tuple[Ask[Key], ...]:
        """Returns the next asks by rank, at most ``limit``; each key is returned only once."""
        asks: list[Ask[Key]] = []
        while len(asks) != limit and (ask := self.next()) is not None:
            asks.append(ask)
        return tuple(asks)

    def next(self) -> Ask[Key] | None:
        """Returns the next ask by rank; None if none is ready."""
        queue, wanting = self._queue, self._wanting
        while queue and not self.stop_reason:
            if self._spent == self._budget:
                self.stop(f"the budget of {self._budget} probes is spent")
                break
            rank, key = heapq.heappop(queue)
            ask = wanting.get(key)
            # The queue still has the old entry of a key that was issued or ranked anew meanwhile.
            if ask is not None and ask.rank == rank:
                del wanting[key]
                self._in_flight.add(key)
                self._spent += 1
                return ask
        return None

    def guess(self) -> Ask[Key] | None:
        """Returns an ask for a key that may be needed, to be probed while no other ask is ready; None
        without one."""
        if self._speculation is None or self.stop_reason or self.finished or self._spent == self._budget:
            return None
        key = self._speculation.next(self._spent, self._is_taken)
        if key is None:
            return None
        self._in_flight.add(key)
        self._spent += 1
        return Ask(key, 0, needed=False)

    def tell(self, verdicts: Mapping[Key, Verdict]) -> None:
        """Records verdicts on keys that were issued; the first verdict on a key stands."""
        in_flight = self._in_flight
        if not verdicts.keys() <= in_flight:
            verdicts = {key: seen for key, seen in verdicts.items() if key in in_flight}
        in_flight.difference_update(verdicts)
        if self._speculation is not None:
            verdicts = self._without_guesses(verdicts, self._speculation)
        if verdicts and self._final is None:
            self._step(verdicts)

    def stop(self, reason: str) -> None:
        """Stops issuing asks; verdicts on issued keys are still recorded. The first reason stands."""
        if not self.finished and not self.stop_reason:
            self.stop_reason = reason

    @property
    def claims(self) -> tuple[Said, ...]:
        """The current claims, smallest antecedent first; they are true at any time."""
        return self._wanted.claims() if self._final is None else self._final

    @property
    def unresolved(self) -> tuple[Key, ...]:
        """The keys that the miner needed and has neither HOLDS nor BREAKS for, in counting order."""
        unknown = (m for m, verdict in self.verdicts.items() if verdict is Verdict.UNKNOWN)
        open_asks = (key for key, ask in self._wanting.items() if ask.needed)
        guessed = self._speculation or ()
        needed = (key for key in self._in_flight if key not in guessed)
        return tuple(sorted({*unknown, *needed, *open_asks}))

    def is_crucial(self, key: Key) -> bool:
        """Returns True iff the miner marked its ask for this key as crucial."""
        return key in self._crucial

    @property
    def waiting(self) -> int:
        """The number of masks that are requested and have no verdict yet, including those in flight."""
        return len(self._wanting) + len(self._in_flight)

    @property
    def wasted(self) -> frozenset[Key]:
        """The guesses known to be unneeded; once the search has finished, all unneeded ones."""
        if self._speculation is None:
            return frozenset()
        return self._speculation.unneeded if self.finished else self._speculation.wasted

    @property
    def in_flight(self) -> frozenset[Key]:
        """The keys that were issued and have no verdict; after the end, those that were never probed."""
        return frozenset(self._in_flight)

    def evidence(self: "RuleSearch[Subset, Claim]") -> "Evidence":
        """Returns the evidence of the verdicts so far, which counts them per antecedent."""
        return Evidence(self.kind, self.lattice, self.verdicts)

    def _step(self, verdicts: Mapping[Key, Verdict]) -> None:
        # The miner gets known verdicts at once; its next asks may have known verdicts as well.
        while verdicts:
            self.verdicts.update(verdicts)
            try:
                self._wanted = self._mining.send(verdicts)
            except StopIteration as end:
                self._final = end.value
                # A miner that gave a reason to stop may have left rules out.
                self.finished = not self._wanted.stop
                if self.finished:
                    # A stop while the last verdicts were in flight has left nothing out.
                    self.stop_reason = ""
                return
            if self._wanted.stop:
                self.stop(self._wanted.stop)
                # Asks that were not issued yet cannot change the claims any more.
                self._wanting.clear()
            if not self._wanted.asks:
                return
            verdicts = self._queue_up(self._wanted.asks)

    def _queue_up(self, asks: tuple[Ask[Key], ...]) -> dict[Key, Verdict]:
        """Queues new asks, except those whose verdict is known; returns these verdicts."""
        answered: dict[Key, Verdict] = {}
        for ask in asks:
            key = ask.key
            if key in self._known:
                answered[key] = self._known[key]
            elif self._speculation is not None and key in self._speculation:
                self._speculation.confirm(key)
                if key in self._guessed_verdicts:
                    answered[key] = self._guessed_verdicts.pop(key)
            elif key not in self._in_flight and key not in self.verdicts:
                if ask.crucial:
                    self._crucial.add(key)
                self._wanting[key] = ask
                heapq.heappush(self._queue, (ask.rank, key))
        return answered

    def _without_guesses(
        self, verdicts: Mapping[Key, Verdict], speculation: Guesses[Key]
    ) -> Mapping[Key, Verdict]:
        """Keeps back the verdicts on guesses, and returns the others, which the miner has requested."""
        for key, verdict in verdicts.items():
            speculation.learn(key, verdict)
        guessed = {key: verdict for key, verdict in verdicts.items() if key in speculation}
        self._guessed_verdicts |= guessed
        return (
            {m: verdict for m, verdict in verdicts.items() if m not in guessed} if guessed else verdicts
        )

    def _is_taken(self, key: Key) -> bool:
        return (
            key in self.verdicts or key in self._in_flight or key in self._wanting or key in self._known
        )


class Evidence:
    """This class counts verdicts per antecedent: subsets that hold, that break, and that are applicable.
    It counts distinct subsets; the miner counts its draws."""

    def __init__(self, kind: RuleKind, lattice: Lattice, verdicts: Mapping[Subset, Verdict]) -> None:
        self._lattice = lattice
        self._flip = flip = kind.flip(lattice)
        self._masks = {
            wanted: [mask ^ flip for mask, seen in verdicts.items() if seen is wanted]
            for wanted in (Verdict.HOLDS, Verdict.BREAKS)
        }
        self._families: dict[Verdict, Family] = {}
        self._inside_broken = b""
        if lattice.size <= FAMILY_LIMIT:
            self._families = {v: family(m, lattice.size) for v, m in self._masks.items()}

    def applicable(self, antecedent: Antecedent) -> int:
        """Returns the number of applicable subsets of the antecedent: 2^(n - |S|)."""
        return 1 << (self._lattice.size - antecedent.bit_count())

    def observed(self, antecedent: Antecedent) -> int:
        """Returns the number of applicable subsets that were seen to hold."""
        return self._count(Verdict.HOLDS, antecedent)

    def broken(self, antecedent: Antecedent) -> int:
        """Returns the number of applicable subsets that were seen to break."""
        return self._count(Verdict.BREAKS, antecedent)

    def is_broken(self, antecedent: Antecedent) -> bool:
        """Returns True iff any applicable subset was seen to break; fast for many antecedents."""
        if not self._families:
            return any(mask & antecedent == antecedent for mask in self._masks[Verdict.BREAKS])
        if not self._inside_broken:
            size = self._lattice.size
            inside = down_closure(self._families[Verdict.BREAKS], size)
            self._inside_broken = inside.to_bytes(-(-(1 << size) // 8), "little")
        return bool(self._inside_broken[antecedent >> 3] >> (antecedent & 7) & 1)

    def breaking(self, antecedent: Antecedent) -> list[Subset]:
        """Returns the applicable subsets that were seen to break."""
        flip = self._flip
        return [Subset(m ^ flip) for m in self._masks[Verdict.BREAKS] if m & antecedent == antecedent]

    def _count(self, verdict: Verdict, antecedent: Antecedent) -> int:
        if self._families:
            above = up_closure(1 << antecedent, self._lattice.size)
            return (self._families[verdict] & above).bit_count()
        return sum(mask & antecedent == antecedent for mask in self._masks[verdict])
