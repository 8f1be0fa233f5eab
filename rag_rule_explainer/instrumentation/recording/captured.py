"""This module holds the sources that a baseline retrieved."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MethodType
from typing import Generic, Literal, TypeAlias

from ...sources import Source
from .retrievals import Batch, Item, Keys, Results, Retrieval, Searched

OnNewQuery: TypeAlias = Literal["kept", "filter", "error"]
"""How a query is served that the baseline never made: "kept" returns all retained sources, "filter"
searches for real and returns the retained ones, "error" raises UnknownQuery."""

Identify: TypeAlias = Callable[[Sequence[Sequence[Item]]], Sequence[Sequence[Source]]]
"""A function that is given the items of each retrieval and returns their sources. Equal documents get
equal sources."""


@dataclass(slots=True)
class Captured(Generic[Item]):
    """A ``Captured`` holds the sources of a baseline, and the items that each of its retrievals returned.

    ``added``: items that were added to every result. ``only``: the only retrievers that are recorded and
    served; empty for all. ``any_query``: True if every retrieval of a replay is served all retained
    sources. ``everything``: all sources, each with one of its items. ``batches``: the items of each
    retrieval, with their sources. ``asked_anew``: True once a replay made a new query and was served all
    retained sources. ``several``: True once a replay repeated a retrieval that had different results in
    the baseline. ``derived``: the kinds of objects that the run built from retrieved documents, as names
    of classes; every replay searches such objects for real. ``takes_all``: see ``Gate``.
    """

    retrievals: tuple[Retrieval[Item], ...]
    identify: Identify[Item]
    on_new_query: OnNewQuery = "kept"
    added: tuple[Item, ...] = ()
    only: tuple[object, ...] = ()
    any_query: bool = False
    failures: tuple[Retrieval[Item], ...] = ()
    derived: frozenset[Searched] = frozenset()
    takes_all: bool = False
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
        # If a source was found several times, the dict keeps its first position and its last item.
        last = {source.id: (source, item) for batch in named for source, item in batch}
        self.everything = tuple(last.values())
        self.sources = tuple(source for source, _ in self.everything)

    @classmethod
    def brought(
        cls, items: Sequence[Item], identify: Identify[Item], only: Sequence[object] = ()
    ) -> "Captured[Item]":
        """Returns a ``Captured`` of the caller's documents, which are served to every retrieval.
        ``items``: these documents; ``only``: the only retrievers that are served."""
        retrieval = Retrieval((), tuple(items))
        return cls((retrieval,), identify, only=tuple(only), any_query=True)

    def other_order(self, kept: Sequence[str]) -> tuple[str, ...]:
        """Returns the ids ``kept`` if their order differs from the order in the baseline; otherwise an
        empty tuple."""
        ids = frozenset(kept)
        recorded = [source.id for source in self.sources if source.id in ids]
        return () if recorded == list(kept) else tuple(kept)

    def form(self, keys: Keys) -> object:
        """Returns the form of the result that the baseline got for a retrieval with these keys; None if
        it made no such retrieval."""
        forms = {key: each.form for each in self.retrievals for key in each.keys}
        return next((forms[key] for key in keys if key in forms), None)

    def form_of_another(self, retriever: object) -> object:
        """Returns the form of the last result of this retriever in the baseline, whatever its query; ()
        if it had none."""
        search = _search_of(retriever)
        own = (each.form for each in reversed(self.retrievals) if _search_of(each.retriever) == search)
        return next(own, ())

    def that_found(self, ids: Collection[str]) -> list[Retrieval[Item]]:
        """Returns the retrievals of the baseline that found at least one source with one of these ids."""
        return [
            retrieval
            for retrieval, batch in zip(self.retrievals, self.batches, strict=True)
            if any(source.id in ids for source, _ in batch)
        ]

    def failure(self, keys: Keys) -> Exception | None:
        """Returns the error that a retrieval with these keys raised in the baseline; None if none was
        raised."""
        errors = {key: each.error for each in self.failures for key in each.keys}
        return next((errors[key] for key in keys if key in errors), None)

    def recorded(self, keys: Keys) -> "Results[Item] | None":
        """Returns the results that the baseline got for a retrieval with these keys; None if it made no
        such retrieval."""
        key = next((key for key in keys if key in self._by_key), None)
        if key is None:
            return None
        made = self._by_key[key]
        overlapping = any(first.overlaps(later) for (first, _), (later, _) in pairwise(made))
        return Results(key, tuple(batch for _, batch in made), overlapping)

    def recognised(self, items: Sequence[Item]) -> Batch[Item]:
        """Returns newly retrieved items, each with its source in the baseline. Items without such a
        source are left out."""
        known = [retrieval.items for retrieval in self.retrievals]
        *_, sources = self.identify([*known, items])
        by_text: dict[str, list[Source]] = {}
        for source in self.sources:
            by_text.setdefault(source.text, []).append(source)
        ids = {source.id for source in self.sources}
        pairs: list[tuple[Source, Item]] = []
        for source, item in zip(sources, items, strict=True):
            # Some searches return a new id at every call. A text that only one source has identifies the
            # source then.
            alike = by_text.get(source.text, [])
            if source.id in ids:
                pairs.append((source, item))
            elif len(alike) == 1:
                pairs.append((alike[0], item))
        return tuple(pairs)


def _search_of(retriever: object) -> object:
    """Returns the identity of the search that a gate wraps, because two gates of one search are
    equivalent.

    Bound methods are compared by equality, because each access makes a new object.
    """
    search: object = getattr(retriever, "__wrapped__", retriever)
    return search if isinstance(search, MethodType) else id(search)
