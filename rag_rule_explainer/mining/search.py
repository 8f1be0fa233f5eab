"""This module runs a miner: it gives the miner's asks to the caller, and the verdicts to the miner.

A key passes through these states. The arrows name the methods of RuleSearch that move it:

    wanted  --next-->  in flight  --tell-->  known to the miner      (each key goes this way once)
    wanted  ---- verdict already known ---->  known to the miner      (no key is probed twice)

    idle slot  --guess-->  in flight  --tell-->  kept back            (until the miner requests the key)

A search is ``finished`` if the miner has all verdicts that it needs; then there is no ``stop_reason``.
Before that, it may be stopped by its caller, by its miner, or because its budget of probes is spent. The
last claims of a stopped search remain true.
"""

import heapq
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from ..lattice import Antecedent, ArrangementKey, Lattice, Subset, is_subset
from ..rules import Claim, RuleKind
from ..verdicts import Verdict
from .evidence import Evidence
from .protocol import Ask, ClaimType, Key, Miner, Mining, Wanted
from .sharing import Ready, Workers

Guessed = TypeVar("Guessed")


class Guesses(Protocol[Guessed]):
    """A ``Guesses`` chooses keys (subsets) that a miner will probably request later, so that they can be
    probed before. ``Speculation`` is the one that searches use."""

    @property
    def wasted(self) -> frozenset[Guessed]:
        """Returns the keys (subsets) that were probed as guesses and that the miner will certainly not
        request."""
        ...

    @property
    def unneeded(self) -> frozenset[Guessed]:
        """Returns the keys (subsets) that were probed as guesses and that the miner has not requested so
        far: the keys in ``wasted``, and keys that the miner may still request."""
        ...

    def __contains__(self, key: Guessed, /) -> bool: ...

    def next(self, issued: int, is_taken: Callable[[Guessed], bool], /) -> Guessed | None:
        """Returns a key (a subset) to probe before the miner requests it; None if none is likely enough
        to be needed. ``issued``: the number of probes so far; only a share of them may be wasted on wrong
        guesses. ``is_taken``: returns True for a key that is already probed or requested."""
        ...

    def confirm(self, key: Guessed, /) -> None:
        """Records that the miner has requested a key that was issued as a guess."""
        ...

    def learn(self, key: Guessed, verdict: Verdict, /) -> None:
        """Records a verdict, on a guess or on a key that the miner has requested."""
        ...


class RuleSearch(Generic[Key, ClaimType]):
    """A RuleSearch runs one miner on one lattice. Its keys are subsets, unless its type says otherwise.

    ``known``: verdicts of an earlier search over the same units, which are not requested once more. So a
    search can be continued by a new search that starts with the verdicts of the old one. ``budget``: the
    largest number of probes; None for no limit. ``guesses``: chooses the keys that ``guess`` returns;
    None for no guesses.
    """

    def __init__(
        self,
        miner: Miner[Key, ClaimType],
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
        # This dict keeps verdicts on guesses until the miner requests their keys, which may never happen.
        self._guessed_verdicts: dict[Key, Verdict] = {}
        self._budget = budget
        self._spent = 0
        self._in_flight: set[Key] = set()
        self._crucial: set[Key] = set()
        self._wanting: dict[Key, Ask[Key]] = {}
        self._queue: list[tuple[int, Key]] = []
        # ``_ready`` is None unless the miner wants each worker to prefer prompts with the same beginning.
        self._ready = Ready[Key]() if getattr(miner, "by_prefix", False) else None
        self._final: tuple[ClaimType, ...] | None = None
        self._mining: Mining[Key, ClaimType] = miner(lattice)
        self._wanted: Wanted[Key, ClaimType] = next(self._mining)
        self._step(self._queue_up(self._wanted.asks))

    def ask(self, limit: int | None = None) -> tuple[Ask[Key], ...]:
        """Returns the asks (requests for verdicts) that are ready, smallest rank first, at most
        ``limit``. Each returned ask counts as issued, as if ``next`` had returned it, so later calls do
        not return it again."""
        asks: list[Ask[Key]] = []
        while len(asks) != limit and (ask := self.next()) is not None:
            asks.append(ask)
        return tuple(asks)

    def next(self, worker: int = 0, workers: Workers | None = None) -> Ask[Key] | None:
        """Returns the ask (request for a verdict) with the smallest rank; None if none is ready. The
        caller must probe its key (a subset) and give the verdict to ``tell``.

        ``workers``: the subset that each worker probed last. If it is given, and the miner allows it, the
        result is instead an ask whose prompt begins like the last prompt of the worker with the number
        ``worker``.
        """
        wanting = self._wanting
        if self.stop_reason or not wanting:
            return None
        if self._spent == self._budget:
            self.stop(f"the budget of {self._budget} probes is spent")
            return None
        ready, ask = self._ready, None
        if ready is None or workers is None:
            while ask is None:
                rank, key = heapq.heappop(self._queue)
                # After this entry was queued, its key may have been issued, or requested with another
                # rank. The entry is then out of date and is skipped.
                if key in wanting and wanting[key].rank == rank:
                    ask = wanting.pop(key)
            if ready is not None:
                ready.is_outdated = True
        else:
            ask = wanting.pop(ready.taken(worker, workers, wanting))
        self._in_flight.add(ask.key)
        self._spent += 1
        return ask

    def guess(self) -> Ask[Key] | None:
        """Returns an ask (a request for a verdict) for a key (a subset) that the miner will probably
        request later. The caller may probe it while no other ask is ready. Returns None if there is no
        such key."""
        if self._speculation is None or self.stop_reason or self.finished or self._spent == self._budget:
            return None
        key = self._speculation.next(self._spent, self._is_taken)
        if key is None:
            return None
        self._in_flight.add(key)
        self._spent += 1
        return Ask(key, 0, needed=False)

    def tell(self, verdicts: Mapping[Key, Verdict]) -> None:
        """Takes verdicts on keys (subsets) that ``next`` or ``guess`` has returned, and sends the miner
        those that it has requested. Ignores all other keys, and second verdicts on a key."""
        in_flight = self._in_flight
        for key in verdicts:  # most calls have one verdict; comparing sets would be slower
            if key not in in_flight:
                verdicts = {key: seen for key, seen in verdicts.items() if key in in_flight}
                break
        in_flight.difference_update(verdicts)
        if self._speculation is not None:
            verdicts = self._without_guesses(verdicts, self._speculation)
        if verdicts and self._final is None:
            self._step(verdicts)

    def stop(self, reason: str) -> None:
        """Stops the search: ``next`` and ``guess`` then return None, but verdicts on running probes are
        still taken. The reason of the first stop is kept."""
        if not self.finished and not self.stop_reason:
            self.stop_reason = reason

    @property
    def claims(self) -> tuple[ClaimType, ...]:
        """Returns the rules that the miner claims so far, those with the fewest units first. Each claim
        is true, given the verdicts so far, even if the search goes on."""
        return self._wanted.claims() if self._final is None else self._final

    @property
    def unresolved(self) -> tuple[Key, ...]:
        """Returns the keys (subsets) that the miner needed and whose verdict is UNKNOWN or missing, in
        ascending order."""
        verdicts = self.verdicts.items() if Verdict.UNKNOWN in self.verdicts.values() else ()
        unknown = (m for m, verdict in verdicts if verdict is Verdict.UNKNOWN)
        open_asks = (key for key, ask in self._wanting.items() if ask.needed)
        guessed = self._speculation or ()
        needed = (key for key in self._in_flight if key not in guessed)
        return tuple(sorted({*unknown, *needed, *open_asks}))

    def is_crucial(self, key: Key) -> bool:
        """Returns True iff the miner has requested this key (a subset) by a crucial ask: a wrong verdict
        on it would do much harm."""
        return key in self._crucial

    @property
    def waiting(self) -> int:
        """Returns the number of keys (subsets) that have no verdict yet and are requested by the miner or
        being probed."""
        return len(self._wanting) + len(self._in_flight)

    @property
    def wasted(self) -> frozenset[Key]:
        """Returns the keys that were probed as guesses and that the miner will certainly not request.
        After the search has ended, these are all guesses that the miner never requested."""
        if self._speculation is None:
            return frozenset()
        return self._speculation.unneeded if self.finished else self._speculation.wasted

    @property
    def in_flight(self) -> frozenset[Key]:
        """Returns the keys (subsets) that were given to the caller and have no verdict yet: their probes
        are running, or were given up at a limit."""
        return frozenset(self._in_flight)

    def evidence(self: "RuleSearch[Subset, Claim]") -> Evidence:
        """Returns the evidence so far: how many verdicts support or contradict any given rule."""
        return Evidence(self.kind, self.lattice, self.verdicts)

    def decisive(self: "RuleSearch[Subset, Claim]") -> list[Subset]:
        """Returns the subsets on whose verdicts the rules depend that the miner claims so far."""
        depended_on = dict.fromkeys(own for claim in self.claims for own in claim.hangs_on)
        return [self.kind.subset(self.lattice, antecedent) for antecedent in depended_on]

    def applies(self, antecedent: Antecedent, key: ArrangementKey) -> bool:
        """Returns True iff a rule with this antecedent applies to the arrangement (an ordered list of
        sources) with this key."""
        retained = Subset(key if isinstance(key, int) else self.lattice.mask(key))
        return is_subset(antecedent, self.kind.antecedent(self.lattice, retained))

    def _step(self, verdicts: Mapping[Key, Verdict]) -> None:
        # The verdicts on the miner's next asks may already be known. The miner gets these verdicts at
        # once, and may then make further asks, until no ask has a known verdict.
        while verdicts:
            self.verdicts.update(verdicts)
            try:
                self._wanted = self._mining.send(verdicts)
            except StopIteration as end:
                self._final = end.value
                # If the miner gives a reason for its early end, there may be more rules, so the search
                # does not count as finished.
                self.finished = not self._wanted.stop
                if self.finished:
                    # The search may have been stopped while the last probes were running. But the miner
                    # got all verdicts that it needs, so the search is complete and has no
                    # ``stop_reason``.
                    self.stop_reason = ""
                return
            if self._wanted.stop:
                self.stop(self._wanted.stop)
                # The miner ends here, so asks that were not issued yet are of no use.
                self._wanting.clear()
            if not self._wanted.asks:
                return
            verdicts = self._queue_up(self._wanted.asks)

    def _queue_up(self, asks: tuple[Ask[Key], ...]) -> dict[Key, Verdict]:
        """Queues new asks (requests for verdicts), except those whose verdict is known already. Returns
        the known verdicts."""
        answered: dict[Key, Verdict] = {}
        known, speculation, ready = self._known, self._speculation, self._ready
        in_flight, verdicts, wanting = self._in_flight, self.verdicts, self._wanting
        for ask in asks:
            key, rank, _, crucial = ask
            if known and key in known:
                answered[key] = known[key]
            elif speculation is not None and key in speculation:
                speculation.confirm(key)
                if key in self._guessed_verdicts:
                    answered[key] = self._guessed_verdicts.pop(key)
            elif key not in in_flight and key not in verdicts:
                if crucial:
                    self._crucial.add(key)
                wanting[key] = ask
                heapq.heappush(self._queue, (rank, key))
                if ready is not None:
                    ready.new.append(key)
        return answered

    def _without_guesses(
        self, verdicts: Mapping[Key, Verdict], speculation: Guesses[Key]
    ) -> Mapping[Key, Verdict]:
        """Stores verdicts on guesses until the miner requests their keys. Returns the other verdicts,
        which the miner has requested."""
        for key, verdict in verdicts.items():
            speculation.learn(key, verdict)
        guessed = {key: verdict for key, verdict in verdicts.items() if key in speculation}
        self._guessed_verdicts |= guessed
        return {m: seen for m, seen in verdicts.items() if m not in guessed} if guessed else verdicts

    def _is_taken(self, key: Key) -> bool:
        return (
            key in self.verdicts or key in self._in_flight or key in self._wanting or key in self._known
        )


AnySearch: TypeAlias = RuleSearch[Any, Any]
"""A search of any kind, for code that does not depend on whether the search is about subsets or
orders."""
