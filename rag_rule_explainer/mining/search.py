"""Steps a miner: ask, tell, stop.

    wanting  --ask-->  asked  --tell-->  told          (each mask goes this way once)
    wanting  ------ verdict already known ----> told   (nothing is asked twice)

    idle  --guess--> guessed --tell--> ahead     (until the miner wants it: then asked, or told)

``finished``: the miner has everything it needs, whatever else was said meanwhile; then no stop has left
anything out, and there is no reason for one.  ``stopped``: somebody said stop, or the probe budget is
spent and everything asked has been told; the miner's last claims stand.
"""

import heapq
from collections.abc import Mapping

from ..lattice import FAMILY_LIMIT, Family, Lattice, Mask, down_closure, family, up_closure
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .protocol import Ask, Miner, Mining, Wanted
from .speculation import Speculation


class RuleSearch:
    """One miner at work on one lattice.

    ``known``: verdicts from an earlier search over the same units; they are never asked again, so a
    search is resumed by starting it anew with the saved verdicts. ``budget``: most probes asked for.
    ``speculate``: the share of probes that ``guess`` may waste; for miners that probe top-down.
    """

    def __init__(
        self,
        miner: Miner,
        lattice: Lattice,
        *,
        known: Mapping[Mask, Verdict] | None = None,
        budget: int | None = None,
        speculate: float = 0.0,
    ) -> None:
        self.kind: RuleKind = miner.kind
        self.lattice = lattice
        self.verdicts: dict[Mask, Verdict] = {}
        self.stop_reason = ""
        self.finished = False
        self._known = dict(known or {})
        self._speculation = Speculation(miner.kind, lattice, speculate) if speculate else None
        # Verdicts on guesses that the miner has not asked for, and may never.
        self._ahead: dict[Mask, Verdict] = {}
        self._budget = budget
        self._spent = 0
        self._in_flight: set[Mask] = set()
        self._crucial: set[Mask] = set()
        self._wanting: dict[Mask, Ask] = {}
        self._queue: list[tuple[int, Mask]] = []
        self._final: tuple[Claim, ...] | None = None
        self._mining: Mining = miner(lattice)
        self._wanted: Wanted = next(self._mining)
        self._step(self._queue_up(self._wanted.asks))

    def ask(self, limit: int | None = None) -> tuple[Ask, ...]:
        """The next asks by rank, at most ``limit``; each mask is handed out once, ever."""
        asks: list[Ask] = []
        while len(asks) != limit and (ask := self.next()) is not None:
            asks.append(ask)
        return tuple(asks)

    def next(self) -> Ask | None:
        """The next ask by rank; None where there is none now."""
        queue, wanting = self._queue, self._wanting
        while queue and not self.stop_reason:
            if self._spent == self._budget:
                self.stop(f"the budget of {self._budget} probes is spent")
                break
            rank, mask = heapq.heappop(queue)
            ask = wanting.get(mask)
            # An entry whose mask was asked, or ranked anew meanwhile, is a leftover.
            if ask is not None and ask.rank == rank:
                del wanting[mask]
                self._in_flight.add(mask)
                self._spent += 1
                return ask
        return None

    def guess(self) -> Ask | None:
        """A mask that will perhaps be needed, to be asked when there is nothing else to do."""
        if self._speculation is None or self.stop_reason or self.finished or self._spent == self._budget:
            return None
        mask = self._speculation.next(self._spent, self._is_taken)
        if mask is None:
            return None
        self._in_flight.add(mask)
        self._spent += 1
        return Ask(mask, mask, needed=False)

    def tell(self, verdicts: Mapping[Mask, Verdict]) -> None:
        """Takes in verdicts on masks that were asked; a mask told before keeps its first verdict."""
        in_flight = self._in_flight
        if not verdicts.keys() <= in_flight:
            verdicts = {mask: seen for mask, seen in verdicts.items() if mask in in_flight}
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
    def claims(self) -> tuple[Claim, ...]:
        """What can be claimed now, smallest antecedent first; true whenever it is read."""
        return self._wanted.claims() if self._final is None else self._final

    @property
    def unresolved(self) -> tuple[Mask, ...]:
        """Concrete subsets the miner needed and has no HOLDS or BREAKS for, in counting order."""
        unknown = (m for m, verdict in self.verdicts.items() if verdict is Verdict.UNKNOWN)
        open_asks = (mask for mask, ask in self._wanting.items() if ask.needed)
        guessed = self._speculation or ()
        needed = (mask for mask in self._in_flight if mask not in guessed)
        return tuple(sorted({*unknown, *needed, *open_asks}))

    def is_crucial(self, mask: Mask) -> bool:
        """Whether the miner said so when it asked for this mask."""
        return mask in self._crucial

    @property
    def waiting(self) -> int:
        """How many masks are wanted and have no verdict yet, those in flight among them."""
        return len(self._wanting) + len(self._in_flight)

    @property
    def wasted(self) -> frozenset[Mask]:
        """Guesses that were not needed, as far as that is known: all of them once it is finished."""
        if self._speculation is None:
            return frozenset()
        return self._speculation.unneeded if self.finished else self._speculation.wasted

    @property
    def in_flight(self) -> frozenset[Mask]:
        """What was asked and not told; after the end, what was never probed."""
        return frozenset(self._in_flight)

    def evidence(self) -> "Evidence":
        """The verdicts so far, ready to be counted per antecedent."""
        return Evidence(self.kind, self.lattice, self.verdicts)

    def _step(self, verdicts: Mapping[Mask, Verdict]) -> None:
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

    def _queue_up(self, asks: tuple[Ask, ...]) -> dict[Mask, Verdict]:
        """Queues new asks; returns the verdicts of those whose verdict is already known."""
        answered: dict[Mask, Verdict] = {}
        for ask in asks:
            mask = ask.mask
            if mask in self._known:
                answered[mask] = self._known[mask]
            elif self._speculation is not None and mask in self._speculation:
                self._speculation.confirm(mask)
                if mask in self._ahead:
                    answered[mask] = self._ahead.pop(mask)
            elif mask not in self._in_flight and mask not in self.verdicts:
                if ask.crucial:
                    self._crucial.add(mask)
                self._wanting[mask] = ask
                heapq.heappush(self._queue, (ask.rank, mask))
        return answered

    def _put_aside(
        self, verdicts: Mapping[Mask, Verdict], speculation: Speculation
    ) -> Mapping[Mask, Verdict]:
        """Keeps verdicts on guesses back; returns those that the miner has asked for."""
        for mask, verdict in verdicts.items():
            speculation.learn(mask, verdict)
        guessed = {mask: verdict for mask, verdict in verdicts.items() if mask in speculation}
        self._ahead |= guessed
        return (
            {m: verdict for m, verdict in verdicts.items() if m not in guessed} if guessed else verdicts
        )

    def _is_taken(self, mask: Mask) -> bool:
        return (
            mask in self.verdicts
            or mask in self._in_flight
            or mask in self._wanting
            or mask in self._known
        )


class Evidence:
    """Counts verdicts under antecedents: seen to hold, seen to break, applicable.

    Distinct subsets are counted; how often something was drawn is the miner's to say.
    """

    def __init__(self, kind: RuleKind, lattice: Lattice, verdicts: Mapping[Mask, Verdict]) -> None:
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

    def applicable(self, antecedent: Mask) -> int:
        """How many subsets the antecedent speaks about: 2^(n - |S|)."""
        return 1 << (self._lattice.size - antecedent.bit_count())

    def observed(self, antecedent: Mask) -> int:
        """How many of them were seen to hold."""
        return self._count(Verdict.HOLDS, antecedent)

    def broken(self, antecedent: Mask) -> int:
        """How many of them were seen to break."""
        return self._count(Verdict.BREAKS, antecedent)

    def is_broken(self, antecedent: Mask) -> bool:
        """Whether any of them was seen to break; fast for one antecedent after the other."""
        if not self._families:
            return any(mask & antecedent == antecedent for mask in self._masks[Verdict.BREAKS])
        if not self._inside_broken:
            size = self._lattice.size
            inside = down_closure(self._families[Verdict.BREAKS], size)
            self._inside_broken = inside.to_bytes(-(-(1 << size) // 8), "little")
        return bool(self._inside_broken[antecedent >> 3] >> (antecedent & 7) & 1)

    def breaking(self, antecedent: Mask) -> list[Mask]:
        """The subsets among these that were seen to break, as masks."""
        flip = self._flip
        return [m ^ flip for m in self._masks[Verdict.BREAKS] if m & antecedent == antecedent]

    def _count(self, verdict: Verdict, antecedent: Mask) -> int:
        if self._families:
            above = up_closure(1 << antecedent, self._lattice.size)
            return (self._families[verdict] & above).bit_count()
        return sum(mask & antecedent == antecedent for mask in self._masks[verdict])
