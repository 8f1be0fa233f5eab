"""The gate between an application and its retrieval, which an integration puts in.

An integration intercepts its framework's retrievals. Whatever one of them asks for, it looks here what
is going on: nothing (``None``: leave the traffic alone), a ``Recording`` (the baseline runs: let it
through and remember), or a ``Serving`` (a replay runs: serve what was remembered and kept).
"""

import threading
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from ..errors import RagRuleError, UnknownQuery
from ..printable import shortened
from ..sources import Source

Item = TypeVar("Item")
"""One retrieved document, as the integration hands it back."""

Keys: TypeAlias = tuple[Hashable, ...]
"""How one retrieval may be recognised when it happens again, most specific first."""

OnNewQuery: TypeAlias = Literal["kept", "filter", "error"]
"""What a replay is served that asks what the baseline never asked: everything kept, what is kept of a
live retrieval, or an error."""

Identify: TypeAlias = Callable[[Sequence[Sequence[Item]]], Sequence[Sequence[Source]]]
"""The source of each item of each retrieval; equal documents give equal sources."""


@dataclass(frozen=True, slots=True)
class Retrieval(Generic[Item]):
    """One retrieval of the baseline. The retriever is kept alive: no other may come by its id.

    ``form``: how its result came, for the integration; ``error``: what it raised, if it did.
    """

    keys: Keys
    items: tuple[Item, ...]
    retriever: object = None
    form: object = ()
    error: Exception | None = None


class Gate:
    """What a recording and a serving have in common. Closed when its run ends; then it is inert."""

    def __init__(self, only: Sequence[object]) -> None:
        self.closed = False
        self._only = tuple(only)
        self._lock = threading.Lock()

    def concerns(self, retriever: object) -> bool:
        """True unless the gate is restricted to other retrievers."""
        return not self._only or any(each is retriever for each in self._only)


class Recording(Gate, Generic[Item]):
    """What the baseline's retrievals returned, in order. Safe to be told from several threads.

    ``added``: items that every retrieval is to return as well. ``only``: the retrievers it concerns.
    """

    def __init__(
        self, identify: Identify[Item], added: Sequence[Item] = (), only: Sequence[object] = ()
    ) -> None:
        super().__init__(only)
        self.added = tuple(added)
        self._identify = identify
        self._retrievals: list[Retrieval[Item]] = []
        self._failures: list[Retrieval[Item]] = []

    def record(self, keys: Keys, items: Iterable[Item], retriever: object, form: object = ()) -> None:
        """Remembers what a retrieval returned, and in which form."""
        with self._lock:
            self._retrievals.append(Retrieval(keys, tuple(items), retriever, form))

    def failed(self, keys: Keys, error: Exception, retriever: object) -> None:
        """Remembers that a retrieval raised, which the application may have made the best of."""
        with self._lock:
            self._failures.append(Retrieval(keys, (), retriever, error=error))

    @property
    def retrievals(self) -> int:
        """How many retrievals were recorded."""
        return len(self._retrievals)

    def captured(self, on_new_query: OnNewQuery = "kept") -> "Captured[Item]":
        """Everything recorded so far, each document once, in order of first appearance."""
        with self._lock:
            retrievals, failures = tuple(self._retrievals), tuple(self._failures)
        return Captured(
            retrievals, self._identify, on_new_query, self.added, self._only, failures=failures
        )


Batch: TypeAlias = tuple[tuple[Source, Item], ...]


@dataclass(slots=True)
class Captured(Generic[Item]):
    """The sources a baseline retrieved, and which items answered which retrieval.

    ``batches``: of each retrieval, its items beside the sources that they are.
    """

    retrievals: tuple[Retrieval[Item], ...]
    identify: Identify[Item]
    on_new_query: OnNewQuery = "kept"
    added: tuple[Item, ...] = ()
    only: tuple[object, ...] = ()
    any_query: bool = False
    failures: tuple[Retrieval[Item], ...] = ()
    sources: tuple[Source, ...] = field(init=False)
    everything: Batch[Item] = field(init=False)
    batches: tuple[Batch[Item], ...] = field(init=False)
    _by_key: dict[Hashable, list[Batch[Item]]] = field(init=False)

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
                self._by_key.setdefault(key, []).append(batch)
        # A dict keeps the first place and the last value of a key.
        last = {source.id: (source, item) for batch in named for source, item in batch}
        self.everything = tuple(last.values())
        self.sources = tuple(source for source, _ in self.everything)

    @classmethod
    def brought(
        cls, items: Sequence[Item], identify: Identify[Item], only: Sequence[object] = ()
    ) -> "Captured[Item]":
        """What the caller brings, to be served to every retrieval whatever its query."""
        retrieval = Retrieval((), tuple(items))
        return cls((retrieval,), identify, only=tuple(only), any_query=True)

    def replaying(self, kept: Iterable[Source]) -> "Serving[Item]":
        """A run that is to see just the kept sources."""
        return Serving(self, frozenset(source.id for source in kept))

    def form(self, keys: Keys) -> object:
        """How the result of a retrieval came in the baseline."""
        forms = {key: each.form for each in self.retrievals for key in each.keys}
        return next((forms[key] for key in keys if key in forms), ())

    def failure(self, keys: Keys) -> Exception | None:
        """What a retrieval raised in the baseline, each time that it was made."""
        errors = {key: each.error for each in self.failures for key in each.keys}
        return next((errors[key] for key in keys if key in errors), None)

    def recorded(self, keys: Keys) -> tuple[Batch[Item], ...]:
        """The different results that the baseline had for a retrieval, in order."""
        batches = next((self._by_key[key] for key in keys if key in self._by_key), ())
        results = {tuple(source.id for source, _ in batch): batch for batch in batches}
        return tuple(results.values())

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


SEVERAL_RESULTS = "a retrieval with several results in the baseline was served the kept ones of them all"
NEW_RETRIEVAL = "a retrieval that the baseline never made was served everything kept"
FILTERED = "a retrieval that the baseline never made was made live, and what is not kept was dropped"


class Serving(Gate, Generic[Item]):
    """One run being served. ``delivered``: ids of the sources handed over; ``served``: how often."""

    def __init__(self, captured: Captured[Item], kept: frozenset[str]) -> None:
        super().__init__(captured.only)
        self.served = 0
        self.delivered: set[str] = set()
        self.remarks: set[str] = set()
        self.refused: RagRuleError | None = None
        self._captured = captured
        self._kept = kept

    def serve(self, keys: Keys, asked: str = "") -> list[Item] | None:
        """The kept ones of the items recorded for this retrieval, in their order.

        Where the baseline made it several times with different results, nobody can say which documents
        it would have returned: it gets the kept ones of them all, and ``remarks`` says so. Where the
        baseline never made it, ``on_new_query`` decides; None asks for a live retrieval, whose result
        is to go through ``filtered``. Raises UnknownQuery.
        """
        with self._lock:
            self.served += 1
            if self._captured.any_query:
                return self._deliver(self._captured.everything)
            results = self._captured.recorded(keys)
            failure = None if results else self._captured.failure(keys)
            if failure is not None:
                raise failure
            if len(results) == 1:
                return self._deliver(results[0])
            if results:
                self.remarks.add(SEVERAL_RESULTS)
                everything = {source.id: (source, item) for batch in results for source, item in batch}
                return self._deliver(tuple(everything.values()))
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
            return self._deliver(self._captured.everything)

    def form(self, keys: Keys) -> object:
        """How the result of this retrieval came in the baseline."""
        return self._captured.form(keys)

    def filtered(self, items: Sequence[Item]) -> list[Item]:
        """What is kept of a live retrieval, and of what every retrieval is to return as well."""
        with self._lock:
            found = self._captured.recognised([*items, *self._captured.added])
            return self._deliver(tuple({id(item): (source, item) for source, item in found}.values()))

    def _deliver(self, batch: Batch[Item]) -> list[Item]:
        pairs = [(source, item) for source, item in batch if source.id in self._kept]
        self.delivered.update(source.id for source, _ in pairs)
        return [item for _, item in pairs]


GoingOn: TypeAlias = Recording[Any] | Serving[Any]
_going_on: ContextVar[GoingOn | None] = ContextVar("rag_rule_going_on", default=None)


def going_on() -> GoingOn | None:
    """What the current context takes part in; None where it takes part in nothing, or no longer."""
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
        _going_on.reset(token)


@contextmanager
def rejoining(in_what: GoingOn) -> Generator[None, None, None]:
    """Takes part once more in something that goes on elsewhere, which it does not end."""
    token = _going_on.set(in_what)
    try:
        yield
    finally:
        _going_on.reset(token)
