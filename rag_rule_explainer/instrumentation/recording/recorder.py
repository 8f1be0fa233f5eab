"""The gate between an application and its retrieval, which an integration puts in.

An integration intercepts its framework's retrievals. Whatever one of them asks for, it looks here what
is going on: nothing (``None``: leave the traffic alone), a ``Recording`` (the baseline runs: let it
through and remember), or a ``Serving`` (a replay runs: serve what was remembered and kept).
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import count, pairwise
from types import MethodType
from typing import Any, Generic, Literal, TypeAlias

from ...errors import RagRuleError, UnknownQuery
from ...printable import shortened
from ...sources import Source
from .remarks import FILTERED, NEW_RETRIEVAL, NO_TURN
from .retrievals import Batch, Item, Keys, Results, Retrieval, Searched

OnNewQuery: TypeAlias = Literal["kept", "filter", "error"]
"""What a replay is served that asks what the baseline never asked: everything kept, what is kept of a
live retrieval, or an error."""

Identify: TypeAlias = Callable[[Sequence[Sequence[Item]]], Sequence[Sequence[Source]]]
"""The source of each item of each retrieval; equal documents give equal sources."""


class Gate:
    """What a recording and a serving have in common. Closed when its run ends; then it is inert.

    ``queries``: everything that was searched for, as text.
    """

    def __init__(self, only: Sequence[object]) -> None:
        self.closed = False
        self.queries: list[str] = []
        self._only = tuple(only)
        self._lock = threading.Lock()

    def concerns(self, retriever: object) -> bool:
        """True unless the gate is restricted to other retrievers."""
        return not self._only or any(each is retriever for each in self._only)


class Recording(Gate, Generic[Item]):
    """What the baseline's retrievals returned, in order. Safe to be told from several threads.

    ``added``: items that every retrieval is to return as well. ``only``: the retrievers it concerns.
    ``fault``: why a result could not be recorded, where the run went on all the same.
    """

    def __init__(
        self, identify: Identify[Item], added: Sequence[Item] = (), only: Sequence[object] = ()
    ) -> None:
        super().__init__(only)
        self.added = tuple(added)
        self._identify = identify
        self._retrievals: list[Retrieval[Item]] = []
        self._failures: list[Retrieval[Item]] = []
        self._moments = count(1)
        self.derived: set[Searched] = set()
        self.fault: RagRuleError | None = None

    def begin(self) -> int:
        """Returns the moment at which a retrieval begins."""
        return next(self._moments)

    def record(
        self,
        keys: Keys,
        items: Iterable[Item],
        retriever: object,
        form: object = (),
        began: int | None = None,
        callers: tuple[str, ...] = (),
    ) -> None:
        """Remembers what a retrieval returned, and in which form. ``began``: what ``begin`` returned;
        ``callers``: see ``Retrieval``."""
        with self._lock:
            ended = next(self._moments)
            start = ended if began is None else began
            self._retrievals.append(
                Retrieval(keys, tuple(items), retriever, form, None, start, ended, callers)
            )

    def failed(self, keys: Keys, error: Exception, retriever: object) -> None:
        """Remembers that a retrieval raised, which the application may have made the best of."""
        with self._lock:
            self._failures.append(Retrieval(keys, (), retriever, error=error))

    def texts_of(self, items: Sequence[Item]) -> list[str]:
        """Returns the texts of items, as their sources would have them."""
        return [source.text for source in self._identify([items])[0]]

    def texts(self, before: int) -> list[str]:
        """Returns the texts of everything that was retrieved before that moment."""
        with self._lock:
            items = [item for each in self._retrievals if each.ended < before for item in each.items]
        return self.texts_of(items)

    def are_new(self, items: Sequence[Item], before: int) -> list[bool]:
        """Returns for each item whether it is another source than all that were retrieved before that
        moment."""
        with self._lock:
            earlier = [each.items for each in self._retrievals if each.ended < before]
        *known, own = self._identify([*earlier, items])
        ids = {source.id for batch in known for source in batch}
        return [source.id not in ids for source in own]

    @property
    def retrievals(self) -> int:
        """Returns how many retrievals were recorded."""
        return len(self._retrievals)

    @property
    def forms(self) -> tuple[object, ...]:
        """Returns the forms in which retrievals came, in order."""
        with self._lock:
            return tuple(each.form for each in self._retrievals)

    def captured(self, on_new_query: OnNewQuery = "kept") -> "Captured[Item]":
        """Everything recorded so far, each document once, in order of first appearance."""
        with self._lock:
            retrievals, failures = tuple(self._retrievals), tuple(self._failures)
        return Captured(
            retrievals,
            self._identify,
            on_new_query,
            self.added,
            self._only,
            failures=failures,
            derived=frozenset(self.derived),
        )


@dataclass(slots=True)
class Captured(Generic[Item]):
    """This class represents the sources a baseline retrieved, and which items answered which retrieval.

    ``batches``: of each retrieval, its items beside the sources that they are. ``asked_anew``: set once a
    replay searched for something else than the baseline and was served everything kept. ``several``: set
    once a replay made a retrieval that had several results in the baseline. ``derived``: kinds of
    retrievals in things that the run made of what it had retrieved; they are made live in every replay.
    """

    retrievals: tuple[Retrieval[Item], ...]
    identify: Identify[Item]
    on_new_query: OnNewQuery = "kept"
    added: tuple[Item, ...] = ()
    only: tuple[object, ...] = ()
    any_query: bool = False
    failures: tuple[Retrieval[Item], ...] = ()
    derived: frozenset[Searched] = frozenset()
    sources: tuple[Source, ...] = field(init=False)
    everything: Batch[Item] = field(init=False)
    batches: tuple[Batch[Item], ...] = field(init=False)
    several: bool = field(init=False, default=False)
    asked_anew: bool = field(init=False, default=False)
    _by_key: dict[Hashable, list[tuple[Retrieval[Item], Batch[Item]]]] = field(init=False)

    def __post_init__(self) -> None:
        items = [retrieval.items for retrieval in self.retrievals]
        named = tuple(
            tuple(zip(sources, batch, strict=True))
            for sources, batch in zip(self.identify(items), items, strict=True)
        )
        self.batches = named
        self._by_key = {}
        for retrieval, batch in zip(self.retrievals, named, strict=True):
            for key in retrieval.keys:
                self._by_key.setdefault(key, []).append((retrieval, batch))
        # A dict keeps the first place and the last value of a key.
        last = {source.id: (source, item) for batch in named for source, item in batch}
        self.everything = tuple(last.values())
        self.sources = tuple(source for source, _ in self.everything)

    @classmethod
    def brought(
        cls, items: Sequence[Item], identify: Identify[Item], only: Sequence[object] = ()
    ) -> "Captured[Item]":
        """Returns what the caller brings, to be served to every retrieval whatever its query."""
        retrieval = Retrieval((), tuple(items))
        return cls((retrieval,), identify, only=tuple(only), any_query=True)

    def replaying(self, kept: Iterable[Source]) -> "Serving[Item]":
        """Returns a run that sees just the kept sources, in this order."""
        return Serving(self, [source.id for source in kept])

    def other_order(self, kept: Sequence[str]) -> tuple[str, ...]:
        """Returns the kept ids as they are, where their order is not that of the record; else nothing."""
        ids = frozenset(kept)
        recorded = [source.id for source in self.sources if source.id in ids]
        return () if recorded == list(kept) else tuple(kept)

    def form(self, keys: Keys) -> object:
        """Returns how the result of a retrieval came in the baseline; None where it never made it."""
        forms = {key: each.form for each in self.retrievals for key in each.keys}
        return next((forms[key] for key in keys if key in forms), None)

    def form_of_another(self, retriever: object) -> object:
        """Returns how the last result of this retriever came, whatever it was asked; () where it was
        asked nothing."""
        search = _search_of(retriever)
        own = (each.form for each in reversed(self.retrievals) if _search_of(each.retriever) == search)
        return next(own, ())

    def that_found(self, ids: Collection[str]) -> list[Retrieval[Item]]:
        """Returns the retrievals that found any of these sources."""
        return [
            retrieval
            for retrieval, batch in zip(self.retrievals, self.batches, strict=True)
            if any(source.id in ids for source, _ in batch)
        ]

    def failure(self, keys: Keys) -> Exception | None:
        """Returns what a retrieval raised in the baseline, each time that it was made."""
        errors = {key: each.error for each in self.failures for key in each.keys}
        return next((errors[key] for key in keys if key in errors), None)

    def recorded(self, keys: Keys) -> "Results[Item] | None":
        """Everything that the baseline had for a retrieval; None where it never made it."""
        key = next((key for key in keys if key in self._by_key), None)
        if key is None:
            return None
        made = self._by_key[key]
        overlapping = any(first.overlaps(later) for (first, _), (later, _) in pairwise(made))
        return Results(key, tuple(batch for _, batch in made), overlapping)

    def recognised(self, items: Sequence[Item]) -> Batch[Item]:
        """Newly retrieved items with the captured sources that they are; others are left out."""
        known = [retrieval.items for retrieval in self.retrievals]
        *_, sources = self.identify([*known, items])
        by_text: dict[str, list[Source]] = {}
        for source in self.sources:
            by_text.setdefault(source.text, []).append(source)
        ids = {source.id for source in self.sources}
        pairs: list[tuple[Source, Item]] = []
        for source, item in zip(sources, items, strict=True):
            # One that comes by another id at every call is known by its text, if that is unambiguous.
            alike = by_text.get(source.text, [])
            if source.id in ids:
                pairs.append((source, item))
            elif len(alike) == 1:
                pairs.append((alike[0], item))
        return tuple(pairs)


def _search_of(retriever: object) -> object:
    """Returns what a gate was put around: another one around the same is as good. Told apart by identity,
    but for methods, which are made anew each time."""
    search: object = getattr(retriever, "__wrapped__", retriever)
    return search if isinstance(search, MethodType) else id(search)


class Serving(Gate, Generic[Item]):
    """One run being served. ``delivered``: ids of the sources handed over; ``served``: how often.

    ``order``: the order of all sources kept, where it is another one than that of the record, so that it
    matters; ``handed``: the ids that were delivered, in the order in which each first was.
    """

    def __init__(self, captured: Captured[Item], kept: Sequence[str]) -> None:
        super().__init__(captured.only)
        self.served = 0
        self.delivered: set[str] = set()
        self.order = captured.other_order(kept)
        self.handed: list[str] = []
        self.remarks: set[str] = set()
        self.refused: RagRuleError | None = None
        self.undecided = ""
        self._turns = Counter[Hashable]()
        self._captured = captured
        self.derived = captured.derived
        self._kept = frozenset(kept)
        self._places = {identity: place for place, identity in enumerate(self.order)}

    def serve(self, keys: Keys, asked: str = "") -> list[Item] | None:
        """Returns the kept ones of the items recorded for this retrieval: in the order asked for, where
        that is another one than the record's, else in their own.

        Where the baseline made it several times with different results, the n-th time gets what came the
        n-th time; where that cannot be said, it gets the kept ones of them all, and ``undecided`` says
        why the answer counts for nothing. Where the baseline never made it, ``on_new_query`` decides;
        None asks for a live retrieval, whose result is to go through ``filtered``. Raises UnknownQuery.
        """
        with self._lock:
            self.served += 1
            if self._captured.any_query:
                return self._deliver(self._captured.everything)
            results = self._captured.recorded(keys)
            failure = None if results is not None else self._captured.failure(keys)
            if failure is not None:
                raise failure
            if results is not None:
                return self._deliver(self._of_its_turn(results))
            if self._captured.on_new_query == "filter":
                self.remarks.add(FILTERED)
                return None
            if self._captured.on_new_query == "error":
                self.refused = UnknownQuery(
                    f"a replay asked {shortened(asked, 200)!r}, which the baseline never asked; "
                    'pass on_new_query="filter" (retrieve live and drop what is left out) or "kept"'
                )
                raise self.refused
            self.remarks.add(NEW_RETRIEVAL)
            self._captured.asked_anew = True
            return self._deliver(self._captured.everything)

    def _of_its_turn(self, results: Results[Item]) -> Batch[Item]:
        if not results.differ:
            return results.batches[0]
        turn = self._turns[results.key]
        self._turns[results.key] += 1
        self._captured.several = True
        if turn < len(results.batches) and not results.overlapping:
            return results.batches[turn]
        self.undecided = NO_TURN
        each_once = {source.id: (source, item) for batch in results.batches for source, item in batch}
        return tuple(each_once.values())

    def form(self, keys: Keys) -> object:
        """Returns how the result of this retrieval came in the baseline; None where it never made it."""
        return self._captured.form(keys)

    def form_of_another(self, retriever: object) -> object:
        """Returns how the last result of this retriever came there; () where it was asked nothing."""
        return self._captured.form_of_another(retriever)

    def that_found(self, ids: Collection[str]) -> list[Retrieval[Item]]:
        """Returns the retrievals of the baseline that found any of these sources."""
        return self._captured.that_found(ids)

    def texts_of(self, items: Sequence[Item]) -> list[str]:
        """Returns the texts of items, as their sources would have them."""
        return [source.text for source in self._captured.identify([items])[0]]

    def delivered_texts(self) -> list[str]:
        """Returns the texts of the sources that were handed over so far."""
        return [source.text for source in self._captured.sources if source.id in self.delivered]

    def are_kept(self, items: Sequence[Item]) -> list[bool | None]:
        """Returns for each item of a live retrieval whether it is a source that is kept, which is then
        delivered; None for what is no source."""
        with self._lock:
            batch = self._captured.recognised(items)
            kept = {id(item): source.id in self._kept for source, item in batch}
            self._deliver(batch)
        return [kept.get(id(item)) for item in items]

    def filtered(self, items: Sequence[Item]) -> list[Item]:
        """Returns what is kept of a live retrieval, and of what every retrieval is to return as well."""
        with self._lock:
            found = self._captured.recognised([*items, *self._captured.added])
            return self._deliver(tuple({id(item): (source, item) for source, item in found}.values()))

    def _deliver(self, batch: Batch[Item]) -> list[Item]:
        pairs = [(source, item) for source, item in batch if source.id in self._kept]
        if self.order:
            pairs.sort(key=lambda pair: self._places[pair[0].id])
            new = dict.fromkeys(source.id for source, _ in pairs if source.id not in self.delivered)
            self.handed += new
        self.delivered.update(source.id for source, _ in pairs)
        return [item for _, item in pairs]


GoingOn: TypeAlias = Recording[Any] | Serving[Any]
_going_on: ContextVar[GoingOn | None] = ContextVar("rag_rule_going_on", default=None)


def going_on() -> GoingOn | None:
    """Returns what the current context takes part in; None where that is nothing, or has ended."""
    current = _going_on.get()
    return None if current is None or current.closed else current


@contextmanager
def taking_part(in_what: GoingOn | None) -> Generator[None, None, None]:
    """Makes the current context take part in a recording or a run being served; ``None`` hides both."""
    token = _going_on.set(in_what)
    try:
        yield
    finally:
        if in_what is not None:
            in_what.closed = True
        # A stream that is given up may end in the garbage collector's context, where nothing was set.
        with suppress(ValueError):
            _going_on.reset(token)


@contextmanager
def rejoining(in_what: GoingOn) -> Generator[None, None, None]:
    """Takes part once more in something that goes on elsewhere, which it does not end."""
    token = _going_on.set(in_what)
    try:
        yield
    finally:
        # A stream that is given up may end in the garbage collector's context, where nothing was set.
        with suppress(ValueError):
            _going_on.reset(token)
