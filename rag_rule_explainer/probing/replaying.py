"""What a replay is, and the context variable by which an integration serves chosen sources.

An integration intercepts its framework's retrievals. Whatever one of them asks for, it looks here what
is going on: nothing (``None``: leave the traffic alone), a ``Recording`` (the baseline runs: let it
through and remember), or a ``Serving`` (a replay runs: serve what was remembered and kept).
"""

import threading
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from ..sources import Source
from ..verdicts import Answer

Document = TypeVar("Document")
Scope: TypeAlias = Literal["given", "retrieved", "seen"]
"""Where the sources come from: handed over by the caller, what retrieval returned, or the part of
it that the model was shown."""


class Replay(Protocol):
    """Runs the application on a question and an ordered sequence of sources, sync or async."""

    def __call__(
        self, question: str, sources: Sequence[Source], /
    ) -> Answer | str | Awaitable[Answer | str]:
        """The answer; whatever it raises makes the probe UNKNOWN, with the error as its reason."""
        ...


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run on all sources that the user asked about, as an integration hands it over.

    ``replays``: how often the application ran for it during this call. ``input``: what the
    application was given, where that is more than the question. ``versions``: of what it is built with.
    """

    answer: Answer
    replays: int = 0
    input: Any = None
    scope: Scope = "given"
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])


Keys: TypeAlias = tuple[Hashable, ...]
"""How one retrieval may be recognised when it happens again, most specific first."""


class Recording(Generic[Document]):
    """What the baseline's retrievals returned, in order. Safe to be told from several threads.

    Closed when the baseline ends; a closed one is told nothing more.
    """

    def __init__(self, identify: Callable[[Sequence[Document]], Sequence[Source]]) -> None:
        self._identify = identify
        self._lock = threading.Lock()
        self.closed = False
        self._retrievals: list[tuple[Keys, list[Document], object]] = []

    def record(self, keys: Keys, documents: Sequence[Document], retriever: object) -> None:
        """Remembers what a retrieval returned; the documents are copied as a list.

        The retriever is kept alive, so that no other one can come by its id meanwhile.
        """
        with self._lock:
            self._retrievals.append((keys, list(documents), retriever))

    @property
    def retrievals(self) -> int:
        """How many retrievals were recorded."""
        return len(self._retrievals)

    def captured(self) -> "Captured[Document]":
        """Everything recorded so far, each document once, in order of first appearance."""
        with self._lock:
            retrievals = list(self._retrievals)
        documents = [document for _, batch, _ in retrievals for document in batch]
        named = list(zip(self._identify(documents), documents, strict=True))
        batches: dict[Hashable, list[Batch[Document]]] = {}
        start = 0
        for keys, batch, _ in retrievals:
            served = tuple((source.id, doc) for source, doc in named[start : start + len(batch)])
            start += len(batch)
            for key in keys:
                batches.setdefault(key, []).append(served)
        # Documents first, then sources: dicts keep the first place and the last value of a key.
        distinct = {source.id: source for source, _ in named}
        everything = {source.id: (source.id, document) for source, document in named}
        return Captured(tuple(distinct.values()), batches, tuple(everything.values()), tuple(retrievals))


Batch: TypeAlias = tuple[tuple[str, Document], ...]


@dataclass(frozen=True, slots=True)
class Captured(Generic[Document]):
    """The sources a baseline retrieved, and which documents answered which retrieval."""

    sources: tuple[Source, ...]
    batches: Mapping[Hashable, Sequence["Batch[Document]"]]
    everything: "Batch[Document]"
    kept_alive: object = None

    def replaying(self, kept: Sequence[Source]) -> "Serving[Document]":
        """A replay that is to see just the kept sources."""
        return Serving(self, frozenset(source.id for source in kept))


SEVERAL_RESULTS = "a retrieval with several results in the baseline was served the kept ones of them all"
NEW_RETRIEVAL = "a retrieval that the baseline never made was served everything kept"


class Serving(Generic[Document]):
    """One replay being served. Closed when the replay ends; a closed one serves nobody."""

    def __init__(self, captured: Captured[Document], kept: frozenset[str]) -> None:
        self.served = 0
        self.closed = False
        self._captured = captured
        self._kept = kept
        self.remarks: set[str] = set()
        self._lock = threading.Lock()

    def serve(self, keys: Keys) -> list[Document]:
        """The kept ones of the documents recorded for this retrieval, in their order.

        Where the baseline made it several times with different results, or never made it, nobody can say
        which documents it would have returned: it gets the kept ones of all that come into question, and
        ``remarks`` says so.
        """
        with self._lock:
            self.served += 1
            candidates = self._candidates(keys)
        return [document for identity, document in candidates if identity in self._kept]

    def _candidates(self, keys: Keys) -> "Batch[Document]":
        recorded = self._captured.batches
        batches: Sequence[Batch[Document]] = next((recorded[key] for key in keys if key in recorded), ())
        results = {tuple(identity for identity, _ in batch): batch for batch in batches}
        if len(results) == 1:
            return next(iter(results.values()))
        self.remarks.add(SEVERAL_RESULTS if results else NEW_RETRIEVAL)
        everything = (
            (pair for batch in batches for pair in batch) if results else self._captured.everything
        )
        return tuple({identity: (identity, document) for identity, document in everything}.values())


GoingOn: TypeAlias = Recording[Any] | Serving[Any]
_going_on: ContextVar[GoingOn | None] = ContextVar("rag_rule_going_on", default=None)


def going_on() -> GoingOn | None:
    """What the current context takes part in; None where it takes part in nothing, or no longer."""
    current = _going_on.get()
    return None if current is None or current.closed else current


@contextmanager
def taking_part(in_what: GoingOn | None) -> Generator[None, None, None]:
    """Makes the current context take part in a recording or a replay; ``None`` hides both."""
    token = _going_on.set(in_what)
    try:
        yield
    finally:
        if in_what is not None:
            in_what.closed = True
        _going_on.reset(token)
