"""Steps a miner: ask, tell, stop.

    wanting  --ask-->  asked  --tell-->  told          (each key goes this way once)
    wanting  ------ verdict already known ----> told   (nothing is asked twice)

    idle  --guess--> guessed --tell--> ahead     (until the miner wants it: then asked, or told)

``finished``: the miner has everything it needs, whatever else was said meanwhile; then no stop has left
anything out, and there is no reason for one.  ``stopped``: somebody said stop, or the probe budget is
spent and everything asked has been told; the miner's last claims stand.
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
    """Knows which keys may be probed before it is known whether they are needed; see ``Speculation``."""

    @property
    def wasted(self) -> frozenset[Guessed]:
        """Returns what was issued and is shown to be unneeded."""
        ...

    @property
    def unneeded(self) -> frozenset[Guessed]:
        """Returns what was issued and is not needed so far."""
        ...

    def __contains__(self, key: Guessed, /) -> bool: ...

    def next(self, issued: int, is_taken: Callable[[Guessed], bool], /) -> Guessed | None:
        """Returns a guess, if there is a safe one; ``issued`` probes so far."""
        ...

    def confirm(self, key: Guessed, /) -> None:
        """It is needed after all."""
        ...

    def learn(self, key: Guessed, verdict: Verdict, /) -> None:
        """Takes in a verdict."""
        ...


class RuleSearch(Generic[Key, Said]):
    """One miner at work on one lattice; of subsets, unless its type says otherwise.

    ``known``: verdicts from an earlier search over the same units; they are never asked again, so a
    search is resumed by starting it anew with the saved verdicts. ``budget``: most probes asked for.
    ``guesses``: what ``guess`` may waste probes on; for miners that probe top-down.
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
        # Verdicts on guesses that the miner has not asked for, and may never.
        self._ahead: dict[Key, Verdict] = {}
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
        """The next asks by rank, at most ``limit``; each key is handed out once, ever."""
        asks: list[Ask[Key]] = []
        while len(asks) != limit and (ask := self.next()) is not None:
            asks.append(ask)
        return tuple(asks)

    def next(self) -> Ask[Key] | None:
        """Returns the next ask by rank; None where there is none now."""
        queue, wanting = self._queue, self._wanting
        while queue and not self.stop_reason:
            if self._spent == self._budget:
                self.stop(f"the budget of {self._budget} probes is spent")
                break
            rank, key = heapq.heappop(queue)
            ask = wanting.get(key)
            # An entry whose key was asked, or ranked anew meanwhile, is a leftover.
            if ask is not None and ask.rank == rank:
                del wanting[key]
                self._in_flight.add(key)
                self._spent += 1
                return ask
        return None

    def guess(self) -> Ask[Key] | None:
        """Returns a key that will perhaps be needed, to be asked when there is nothing else to do."""
        if self._speculation is None or self.stop_reason or self.finished or self._spent == self._budget:
            return None
        key = self._speculation.next(self._spent, self._is_taken)
        if key is None:
            return None
        self._in_flight.add(key)
        self._spent += 1
        return Ask(key, 0, needed=False)

    def tell(self, verdicts: Mapping[Key, Verdict]) -> None:
        """Takes in verdicts on keys that were asked; a key told before keeps its first verdict."""
        in_flight = self._in_flight
        if not verdicts.keys() <= in_flight:
            verdicts = {key: seen for key, seen in verdicts.items() if key in in_flight}
        in_flight.difference_update(verdicts)
        if self._speculation is not None:
            verdicts = self._put_aside(verdicts, self._speculation)
        if verdicts and self._final is None:
            self._step(verdicts)

    def stop(self, reason: str) -> None:
        """Asks for nothing more; what was already asked may still be told. The first reason stands."""
        if not self.finished and not self.stop_reason:
            self.stop_reason = reason

    @property
    def claims(self) -> tuple[Said, ...]:
        """Returns what can be claimed now, smallest antecedent first; true whenever it is read."""
        return self._wanted.claims() if self._final is None else self._final

    @property
    def unresolved(self) -> tuple[Key, ...]:
        """Returns the keys that the miner needed and has no HOLDS or BREAKS for, in counting order."""
        unknown = (m for m, verdict in self.verdicts.items() if verdict is Verdict.UNKNOWN)
        open_asks = (key for key, ask in self._wanting.items() if ask.needed)
        guessed = self._speculation or ()
        needed = (key for key in self._in_flight if key not in guessed)
        return tuple(sorted({*unknown, *needed, *open_asks}))

    def is_crucial(self, key: Key) -> bool:
        """Returns whether the miner said so when it asked for this key."""
        return key in self._crucial

    @property
    def waiting(self) -> int:
        """Returns how many masks are wanted and have no verdict yet, those in flight among them."""
        return len(self._wanting) + len(self._in_flight)

    @property
    def wasted(self) -> frozenset[Key]:
        """Guesses that were not needed, as far as that is known: all of them once it is finished."""
        if self._speculation is None:
            return frozenset()
        return self._speculation.unneeded if self.finished else self._speculation.wasted

    @property
    def in_flight(self) -> frozenset[Key]:
        """Returns what was asked and not told; after the end, what was never probed."""
        return frozenset(self._in_flight)

    def evidence(self: "RuleSearch[Subset, Claim]") -> "Evidence":
        """Returns the verdicts so far, ready to be counted per antecedent."""
        return Evidence(self.kind, self.lattice, self.verdicts)

    def _step(self, verdicts: Mapping[Key, Verdict]) -> None:
        # Known verdicts are told at once, and may open asks that are known as well.
        while verdicts:
            self.verdicts.update(verdicts)
            try:
                self._wanted = self._mining.send(verdicts)
            except StopIteration as end:
                self._final = end.value
                # A miner that said itself that it leaves something out has not come to the end of it.
                self.finished = not self._wanted.stop
                if self.finished:
                    # A stop that came while the last verdicts were in flight has stopped nothing.
                    self.stop_reason = ""
                return
            if self._wanted.stop:
                self.stop(self._wanted.stop)
                # What it asked for and nobody has begun with decides nothing any more.
                self._wanting.clear()
            if not self._wanted.asks:
                return
            verdicts = self._queue_up(self._wanted.asks)

    def _queue_up(self, asks: tuple[Ask[Key], ...]) -> dict[Key, Verdict]:
        """Queues new asks; returns the verdicts of those whose verdict is already known."""
        answered: dict[Key, Verdict] = {}
        for ask in asks:
            key = ask.key
            if key in self._known:
                answered[key] = self._known[key]
            elif self._speculation is not None and key in self._speculation:
                self._speculation.confirm(key)
                if key in self._ahead:
                    answered[key] = self._ahead.pop(key)
            elif key not in self._in_flight and key not in self.verdicts:
                if ask.crucial:
                    self._crucial.add(key)
                self._wanting[key] = ask
                heapq.heappush(self._queue, (ask.rank, key))
        return answered

    def _put_aside(
        self, verdicts: Mapping[Key, Verdict], speculation: Guesses[Key]
    ) -> Mapping[Key, Verdict]:
        """Keeps verdicts on guesses back; returns those that the miner has asked for."""
        for key, verdict in verdicts.items():
            speculation.learn(key, verdict)
        guessed = {key: verdict for key, verdict in verdicts.items() if key in speculation}
        self._ahead |= guessed
        return (
            {m: verdict for m, verdict in verdicts.items() if m not in guessed} if guessed else verdicts
        )

    def _is_taken(self, key: Key) -> bool:
        return (
            key in self.verdicts or key in self._in_flight or key in self._wanting or key in self._known
        )


class Evidence:
    """Counts verdicts under antecedents: seen to hold, seen to break, applicable.

    Distinct subsets are counted; how often something was drawn is the miner's to say.
    """

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
        """Returns how many subsets the antecedent speaks about: 2^(n - |S|)."""
        return 1 << (self._lattice.size - antecedent.bit_count())

    def observed(self, antecedent: Antecedent) -> int:
        """Returns how many of them were seen to hold."""
        return self._count(Verdict.HOLDS, antecedent)

    def broken(self, antecedent: Antecedent) -> int:
        """Returns how many of them were seen to break."""
        return self._count(Verdict.BREAKS, antecedent)

    def is_broken(self, antecedent: Antecedent) -> bool:
        """Returns whether any of them was seen to break; fast for one antecedent after the other."""
        if not self._families:
            return any(mask & antecedent == antecedent for mask in self._masks[Verdict.BREAKS])
        if not self._inside_broken:
            size = self._lattice.size
            inside = down_closure(self._families[Verdict.BREAKS], size)
            self._inside_broken = inside.to_bytes(-(-(1 << size) // 8), "little")
        return bool(self._inside_broken[antecedent >> 3] >> (antecedent & 7) & 1)

    def breaking(self, antecedent: Antecedent) -> list[Subset]:
        """Returns the subsets among these that were seen to break, as masks."""
        flip = self._flip
        return [Subset(m ^ flip) for m in self._masks[Verdict.BREAKS] if m & antecedent == antecedent]

    def _count(self, verdict: Verdict, antecedent: Antecedent) -> int:
        if self._families:
            above = up_closure(1 << antecedent, self._lattice.size)
            return (self._families[verdict] & above).bit_count()
        return sum(mask & antecedent == antecedent for mask in self._masks[verdict])
