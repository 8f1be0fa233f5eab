"""This module holds the sources that a baseline retrieved."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import FunctionType, MethodType
from typing import Generic, Literal, TypeAlias

from ...sources import Source
from .nested import Inside, named_as, opened_searches
from .retrievals import Batch, Identify, Item, Keys, Results, Retrieval, Searched

OnNewQuery: TypeAlias = Literal["kept", "filter", "error"]
"""The result of a search of a replay for a query that the baseline never made: "kept" returns all
retained sources; "filter" makes a real search and returns those of its results that are retained sources;
"error" raises UnknownQuery."""


@dataclass(slots=True)
class Captured(Generic[Item]):
    """A ``Captured`` holds the sources of a baseline, and the items that each of its retrievals returned.
    An *item* is a retrieved document in the framework's own type."""

    retrievals: tuple[Retrieval[Item], ...]
    identify: Identify[Item]
    """A function that returns the sources of items."""
    on_new_query: OnNewQuery = "kept"
    added: tuple[Item, ...] = ()
    """Documents of the user that the recording added to every result."""
    only: tuple[object, ...] = ()
    """The only retrievers that are recorded, and answered from the record in replays; empty for all."""
    any_query: bool = False
    """True if every retrieval of a replay returns all retained sources, whatever its query."""
    failures: tuple[Retrieval[Item], ...] = ()
    """The retrievals that raised an error; replays raise the same error."""
    derived: frozenset[Searched] = frozenset()
    """The class names of objects that the run built from retrieved documents; replays really search such
    objects, and get no recorded result for them."""
    takes_all: bool = False
    """True if documents that a retriever finds and then drops also count as sources."""
    opened_keys: frozenset[Hashable] = frozenset()
    """The keys of the searches that a replay really makes, while the searches inside them are answered
    from the record."""
    others: tuple[Source, ...] = ()
    """The sources that no retrieval found, such as results of tools."""
    found: tuple[Source, ...] = field(init=False)
    """The sources that retrievals found."""
    sources: tuple[Source, ...] = field(init=False)
    """All sources: those in ``found``, then those in ``others``."""
    everything: Batch[Item] = field(init=False)
    """Each source in ``found``, with one of its items."""
    batches: tuple[Batch[Item], ...] = field(init=False)
    """The items of each retrieval, with their sources."""
    several: bool = field(init=False, default=False)
    """True once a replay repeated a retrieval that had different results in the baseline."""
    asked_anew: bool = field(init=False, default=False)
    """True once a replay made a query that the baseline had not made, and got all retained sources as its
    result, although a real search would have a different result."""
    waited: str = field(init=False, default="")
    """If a replay waited for a human and so has no answer, a text that says this, with advice; otherwise
    empty."""
    repeats: bool = field(init=False, default=False)
    """True once a replay on all sources made all searches of the baseline."""
    _opened: "Captured[Item] | None" = field(init=False, default=None)
    _new: dict[Hashable, tuple[Batch[Item], object]] = field(init=False)
    _by_key: dict[Hashable, list[tuple[Retrieval[Item], Batch[Item]]]] = field(init=False)

    def __post_init__(self) -> None:
        items = [retrieval.items for retrieval in self.retrievals]
        named = tuple(
            tuple(zip(sources, batch, strict=True))
            for sources, batch in zip(self.identify(items), items, strict=True)
        )
        self.batches = named
        self._by_key, self._new = {}, {}
        for retrieval, batch in zip(self.retrievals, named, strict=True):
            for key in retrieval.keys:
                self._by_key.setdefault(key, []).append((retrieval, batch))
        # If a source was found several times, the dict keeps its first position and its last item.
        last = {source.id: (source, item) for batch in named for source, item in batch}
        self.everything = tuple(last.values())
        self.found = tuple(source for source, _ in self.everything)
        self.sources = (*self.found, *self.others)

    @classmethod
    def brought(
        cls, items: Sequence[Item], identify: Identify[Item], only: Sequence[object] = ()
    ) -> "Captured[Item]":
        """Returns a ``Captured`` of documents that the user passed in. Every retrieval of a run then
        returns the retained ones among these documents. ``items``: these documents; ``only``: the only
        retrievers that return them; empty for all."""
        retrieval = Retrieval((), tuple(items))
        return cls((retrieval,), identify, only=tuple(only), any_query=True)

    def opened(self) -> "Captured[Item]":
        """Returns a copy of these retrievals in which some searches are replaced by their inner searches.
        A search is replaced if it drops sources that its inner searches found, as a retriever with a
        reranker does. Returns this object if there is no such search."""
        if self._opened is None:
            self._opened = self._without(lambda seen: bool(seen.dropped))
        return self._opened

    def as_searched(self) -> "Captured[Item]":
        """Returns a copy in which some searches are replaced by their inner searches. A search is
        replaced if it only changes the order of the documents that its inner searches found, or adds a
        few words or metadata to each, such as a rank. Its result then depends on which documents were
        found together. If ``takes_all`` is set, searches that drop found sources are replaced too. A
        search that also returns other sources is never replaced. If the user named the retrievers, no
        search is replaced."""
        if self.only:
            return self
        return self._without(
            lambda seen: (
                not seen.has_strangers and (self.takes_all if seen.dropped else seen.is_rearranged)
            )
        )

    @property
    def holds_others_fast(self) -> bool:
        """Returns True iff the user named the retrievers, and one of them reorders or drops what its
        inner searches found. Replays get the recorded result of this retriever without the omitted
        sources, although a real search among fewer sources might return others, or another order."""
        if not self.only:
            return False
        _, keys = opened_searches(
            self.retrievals, self.identify, lambda seen: bool(seen.dropped) or seen.is_rearranged
        )
        return bool(keys)

    def _without(self, wanted: Callable[[Inside], bool]) -> "Captured[Item]":
        retrievals, keys = opened_searches(self.retrievals, self.identify, wanted)
        return self._with(tuple(retrievals), keys) if keys else self

    def _with(
        self, retrievals: tuple[Retrieval[Item], ...], keys: frozenset[Hashable]
    ) -> "Captured[Item]":
        everything = self.identify([each.items for each in retrievals])
        named = named_as(self.found, [source for batch in everything for source in batch])

        def identify(batches: Sequence[Sequence[Item]]) -> list[list[Source]]:
            found = self.identify(batches)
            return [[named.get(source.id, source) for source in batch] for batch in found]

        return replace(
            self, retrievals=retrievals, identify=identify, opened_keys=self.opened_keys | keys
        )

    @property
    def dropped(self) -> list[Source]:
        """Returns the sources that an inner search found and the outer search did not return, as a
        retriever with a reranker does; empty if there are none."""
        whole = self.opened()
        return [] if whole is self else Inside(whole.found, self.found).dropped

    def other_order(self, kept: Sequence[str]) -> tuple[str, ...]:
        """Returns ``kept`` (ids of sources) if its order differs from the order in which the baseline
        found these sources; an empty tuple if the order is the same."""
        ids = frozenset(kept)
        recorded = [source.id for source in self.sources if source.id in ids]
        return () if recorded == list(kept) else tuple(kept)

    def in_place(self, kept: Sequence[Source], units: Sequence[Source]) -> Sequence[Source]:
        """Returns the sources in ``kept`` in the order in which the searches of a replay must return
        them. If all of them are in ``units`` (the sources that rules may name), the order is that of
        ``kept``. Otherwise it is the order in which the baseline found them, because a replay with other
        sources only tests which sources reach a model, and not in which order."""
        if {source.id for source in kept} <= {source.id for source in units}:
            return kept
        found = [source.id for source in self.opened().sources]
        places = {identity: place for place, identity in enumerate(found)}
        return sorted(kept, key=lambda source: places.get(source.id, len(places)))

    def form(self, keys: Keys) -> object:
        """Returns the form of the result (such as the type of its container) that the baseline got for a
        retrieval with these keys; None if the baseline made no such retrieval."""
        forms = {key: each.form for each in self.retrievals for key in each.keys}
        return next((forms[key] for key in keys if key in forms), None)

    def form_of_another(self, retriever: object) -> object:
        """Returns the form (such as the type of its container) of the last result that this retriever
        returned in the baseline, whatever the query; () if it returned none. A replay needs the form for
        a query that the baseline did not make."""
        search = _search_of(retriever)
        own = (each.form for each in reversed(self.retrievals) if _search_of(each.retriever) == search)
        return next(own, ())

    def settled(self, keys: Keys) -> "Batch[Item] | None":
        """Returns the items that ``settle`` returned earlier for a query with one of these keys; None if
        ``settle`` was not called for such a query."""
        return next((self._new[key][0] for key in keys if key in self._new), None)

    def settle(self, keys: Keys, retriever: object, found: "Sequence[Item] | None") -> "Batch[Item]":
        """Returns the items of all sources, as the result of a query that the baseline did not make. The
        caller removes those of omitted sources.

        The items are in the order of the real search if this search found exactly all sources. Otherwise
        they are in the baseline's order, and ``asked_anew`` is set, because the real search has a
        different result. ``found``: the result of the real search; None if it failed or cannot be read.
        """
        # A document that the user added is in every result, although no search finds it. So it counts as
        # found here.
        items = () if found is None else (*found, *self.added)
        batch = tuple({source.id: (source, item) for source, item in self.recognised(items)}.values())
        is_whole = len(self.recognised(items)) == len(items) and len(batch) == len(self.found)
        if not is_whole:
            self.asked_anew, batch = True, self.everything
        # A key may be the ``id()`` of the retriever, so the retriever is kept alive.
        self._new.update(dict.fromkeys(keys, (batch, retriever)))
        return batch

    def that_found(self, ids: Collection[str]) -> list[Retrieval[Item]]:
        """Returns the retrievals of the baseline that found a source with one of these ids."""
        return [
            retrieval
            for retrieval, batch in zip(self.retrievals, self.batches, strict=True)
            if any(source.id in ids for source, _ in batch)
        ]

    def failure(self, keys: Keys) -> Exception | None:
        """Returns the error that a retrieval with these keys raised in the baseline; None if it raised
        none."""
        errors = {key: each.error for each in self.failures for key in each.keys}
        return next((errors[key] for key in keys if key in errors), None)

    def recorded(self, keys: Keys) -> "Results[Item] | None":
        """Returns the results that the baseline got for a retrieval with these keys; None if the baseline
        made no such retrieval."""
        key = next((key for key in keys if key in self._by_key), None)
        if key is None:
            return None
        made = self._by_key[key]
        overlapping = any(first.overlaps(later) for (first, _), (later, _) in pairwise(made))
        return Results(key, tuple(batch for _, batch in made), overlapping)

    def recognised(self, items: Sequence[Item]) -> Batch[Item]:
        """Returns newly retrieved items, each with its source in the baseline. Leaves out items whose
        source the baseline did not retrieve."""
        known = [retrieval.items for retrieval in self.retrievals]
        *_, sources = self.identify([*known, items])
        by_text: dict[str, list[Source]] = {}
        for source in self.found:
            by_text.setdefault(source.text, []).append(source)
        ids = {source.id for source in self.found}
        pairs: list[tuple[Source, Item]] = []
        for source, item in zip(sources, items, strict=True):
            # Some searches return new ids at every call. An item with a new id is recognised by its text,
            # if only one source has this text.
            alike = by_text.get(source.text, [])
            if source.id in ids:
                pairs.append((source, item))
            elif len(alike) == 1:
                pairs.append((alike[0], item))
        return tuple(pairs)


def _search_of(retriever: object) -> object:
    """Returns a value that is equal for two objects that ``gate(...)`` made of the same search.

    For a bound method, this is the method itself: each access makes a new object, but these objects are
    equal.
    """
    search: object = getattr(retriever, "__wrapped__", retriever)
    return search if isinstance(search, MethodType) else id(search)


def kind_of(search: object) -> str:
    """Returns the name of a function or method, or the name of any other object's class."""
    # Reading an attribute of any other object may run code of the user's, so the name of its class is
    # used.
    named = search if isinstance(search, (FunctionType, MethodType)) else type(search)
    return f"{named.__module__}.{named.__qualname__}"
