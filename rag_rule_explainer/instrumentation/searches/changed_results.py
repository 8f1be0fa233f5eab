"""This module adapts the result of a search to a change of the corpus. It removes documents and fills the
result up with other documents, as the production system would after the same change of its index."""

from collections.abc import Generator, Iterator, Sequence
from typing import Any, Protocol

from ...errors import NoBackfill
from ...printable import type_said
from ...probing.judging import error_text
from ..recording.current import AnyPart
from ..recording.nested import Nested
from ..recording.refetching import CHOSEN_AMONG, NOTHING_MORE, Refetching
from ..run_context import refused
from .driving import Result, Retrieving
from .shape import Shape, noting_refusals
from .widening import Wide, Wider


class ChangeableSearch(Protocol):
    """A ``ChangeableSearch`` is a call of a search that can be repeated for more results."""

    @property
    def retriever(self) -> object:
        """Returns the retriever, the object whose method is called."""
        ...

    @property
    def shape(self) -> Shape[Any]:
        """Returns the ``Shape``, which splits results into items and builds results from items."""
        ...

    @property
    def wider(self) -> Wider:
        """Returns the function that repeats the search for more results."""
        ...


def as_changed(search: ChangeableSearch, part: AnyPart, result: Result) -> Retrieving[Result]:
    """Returns the result of a search as it would be in the changed corpus: without the documents that the
    change removes, and filled up to as many documents as before.

    ``part``: the object that handles the search. Usually, it records or answers the searches of the
    current run. If the search was made inside an outer search, it records the inner searches of the
    outer search. This function is a generator: it yields searches for more results, and the caller
    sends it their results. Raises NoBackfill if the number of results of the search cannot be read;
    inside another search, returns ``result`` unchanged instead, because the result of the outer search
    can be filled up."""
    refetching = part.refetching
    if refetching is None:
        return result
    with noting_refusals():
        found, form = search.shape.found(result), search.shape.form(result)
        changed = refetching.changed(found)
        if changed.is_same:
            # Reading the items of an iterator has exhausted it, so a new one is built.
            return search.shape.result(found, form) if isinstance(result, Iterator) else result
    more, most = refetching.at_least, len(found)
    while len(changed.items) < len(found):
        asked = yield from _asked_for(search, refetching, more, len(found), most)
        if asked is None:
            if isinstance(part, Nested):
                changed = None
                break
            raise refused(NoBackfill(_name(search.retriever)))
        raised, several = asked
        with noting_refusals():
            changed = refetching.changed(several)
        if len(several) <= most:
            if len(changed.items) < len(found):
                refetching.note(NOTHING_MORE.format(raised=raised or "more"))
            break
        more, most = more * 2, len(several)
    items = list(found) if changed is None else changed.items[: len(found)]
    with noting_refusals():
        return search.shape.result(items, form)


def _asked_for(
    search: ChangeableSearch, refetching: Refetching[Any], more: int, returned: int, most: int
) -> Generator[Wide, Any, tuple[str, Sequence[Any]] | None]:
    """Makes the search for ``more`` additional results. Returns the increased number of results, such as
    "k=7", and the items that were found. Returns None if no parameter of the search is known to be the
    number of results.

    ``returned``: the number of items that the search returned at first. ``most``: the largest number of
    items that the search has returned so far.
    """
    wide = search.wider(more, returned)
    if wide is None:
        return None
    if wide.chooses:
        refetching.note(CHOSEN_AMONG)
    try:
        again = yield wide
    except Exception as error:
        why = f"it failed when it was asked for more ({wide.raised}): {error_text(error)}"
        raise refused(NoBackfill(_name(search.retriever), why)) from error
    with noting_refusals():
        several = search.shape.found(again)
    if len(several) <= most == returned and not (
        yield from _is_limited_by(search, wide.number - more, returned)
    ):
        return None
    return wide.raised, several


def _is_limited_by(search: ChangeableSearch, number: int, returned: int) -> Generator[Wide, Any, bool]:
    """Returns True iff ``number``, which is the value of a parameter such as ``k``, limits the number of
    results. To find this out, the search is made with a smaller ``number``: it must then return fewer
    results. Also returns True if such a search cannot be made. A parameter named ``k`` may have another
    meaning, and then the number of results stays the same."""
    fewer = returned - 1 if returned <= number else 1
    narrow = search.wider(fewer - number, returned) if 0 < fewer < number else None
    if narrow is None:
        return True
    try:
        again = yield narrow
    except Exception:  # the user's search may refuse such a small number
        return True
    with noting_refusals():
        return len(search.shape.found(again)) < returned


def _name(retriever: object) -> str:
    name = getattr(retriever, "__qualname__", None)
    return name if isinstance(name, str) else type_said(retriever)
