"""This module fills up the result of a search after a change of the corpus, as production would after the
same change of its index."""

from collections.abc import Iterator
from typing import Any, Protocol

from ...errors import NoBackfill
from ..recording.current import AnyPart
from ..recording.nested import Nested
from ..recording.refetching import CHOSEN_AMONG
from ..run_context import refused
from .driving import Result, Retrieving
from .shape import Shape, told
from .widening import Wider


class ChangeableSearch(Protocol):
    """A ``ChangeableSearch`` is a call of a search that can be made again for more results."""

    @property
    def retriever(self) -> object:
        """Returns the object that is called."""
        ...

    @property
    def shape(self) -> Shape[Any]:
        """Returns what splits and builds its results."""
        ...

    @property
    def wider(self) -> Wider:
        """Returns the function that makes the search for more results."""
        ...


def as_changed(search: ChangeableSearch, part: AnyPart, result: Result) -> Retrieving[Result]:
    """Returns the result of a search as it would be in the changed corpus.

    Documents that are left out are removed, and the result is filled up to as many documents as before.
    A generator: it yields searches for more results, and is sent what they find. If the number of results
    cannot be read, an inner search passes its result on as it is, so that the search around it can be
    filled up; the outermost search raises NoBackfill.
    """
    refetching = part.refetching
    if refetching is None:
        return result
    with told():
        found, form = search.shape.found(result), search.shape.form(result)
        changed = refetching.changed(found)
        if changed.is_same:
            # An iterator was used up by reading its items.
            return search.shape.result(found, form) if isinstance(result, Iterator) else result
    more, most = refetching.at_least, len(found)
    while len(changed.items) < len(found):
        wide = search.wider(more)
        if wide is None:
            if isinstance(part, Nested):
                changed = None
                break
            raise refused(NoBackfill(_name(search.retriever)))
        if wide.chooses:
            refetching.note(CHOSEN_AMONG)
        again = yield wide
        with told():
            several = search.shape.found(again)
            changed = refetching.changed(several)
        if len(several) <= most:
            break
        more, most = more * 2, len(several)
    items = list(found) if changed is None else changed.items[: len(found)]
    with told():
        return search.shape.result(items, form)


def _name(retriever: object) -> str:
    name = getattr(retriever, "__qualname__", None)
    return name if isinstance(name, str) else f"a {type(retriever).__name__}"
