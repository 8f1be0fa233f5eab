"""This module records one call of a search, serves it from a record, or lets it through.

Only the outermost retrieval is recorded; the searches that it calls itself are not.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from ...errors import RagRuleError, StateShared, UntrueReplay
from ..recording.current import GoingOn, going_on
from ..recording.recorder import Recording
from ..recording.remarks import FILTERED
from ..recording.retrievals import Keys
from ..recording.serving import Serving
from ..run_context import note_retrieving_tools, participation, refused
from ..shared_state.reaching import latest_in, reached, size_of
from ..shared_state.temporaries import Shared
from .callers import callers
from .derived_texts import Known
from .driving import Result, Stopped
from .items import text_in

Item = TypeVar("Item")

_COPIES = "copies"
_KEPT_COPIES = (
    "a search read a list, or another collection, to which the run had added what it had retrieved "
    "before; it stays there for the next run"
)
_MADE_INSIDE = (
    "Make that collection, and the search, inside the function that is explained, so that every run "
    "starts from the same"
)
_MADE_OR_OWN = (
    "two searches of one kind were made inside the run, and the later one found text that stands in what "
    "the run knew before, as another document: nobody can tell whether it was made of that. Make the "
    "retriever of your own documents once, outside the function that is explained"
)
MADE_UP_SCORES = "documents without a known score were served to a search that returns scores, as 1.0"


class Shape(Protocol[Item]):
    """A shape splits the results of a search into items, and builds results of items."""

    def found(self, result: Any) -> Sequence[Item]:
        """Returns the items of a result."""
        ...

    def form(self, result: Any) -> object:
        """Returns the form of a result: how its items are packed, whatever they are."""
        ...

    def of_another(self, form: object) -> object:
        """Returns the form for a request that was never made, given another request's form."""
        ...

    def result(self, found: Sequence[Item], form: object = ()) -> Any:
        """Returns the items in the form of a result."""
        ...

    def needs_scores(self, found: Iterable[Item]) -> bool:
        """Returns True iff scores would have to be made up."""
        ...


@dataclass(frozen=True, slots=True)
class Asked(Generic[Item]):
    """This class represents one call of a search.

    ``keys``: identify equal calls. ``event_keys``: identify calls of which only events were recorded.
    ``hangs_on``: the objects that are searched, such as a retriever's store. An object that the run made
    or wrote to may hold what the run retrieved before.
    """

    retriever: object
    keys: Keys
    query: str
    shape: Shape[Item]
    event_keys: Keys = ()
    hangs_on: tuple[object, ...] = ()

    def retrieval(self, part: GoingOn) -> Generator[None, Result, Result]:
        """Returns what the caller of the search gets. A yield asks for the result of the real search."""
        note_retrieving_tools()
        part.queries.append(self.query)
        run = participation()
        if run is not None:
            run.note_search(len(part.queries))
        if isinstance(part, Recording):
            return (yield from self._recording(part))
        if self._searches_what_was_made(part):
            result = yield
            return self._derived_ones(part, result)
        keys = (*self.keys, *self.event_keys)
        try:
            found: Sequence[Item] | None = part.serve(keys, self.query)
        except StopIteration as error:
            raise Stopped(error) from error
        if found is None:
            result = yield
            found, form = part.filtered(self._found(result)), self._form(result)
        else:
            form = part.form(keys)
        if self.shape.needs_scores(found):
            part.remarks.add(MADE_UP_SCORES)
        with _told():
            if form is None:
                form = self.shape.of_another(part.form_of_another(self.retriever))
            return self.shape.result(found, form)

    def _recording(self, part: Recording[Item]) -> Generator[None, Result, Result]:
        began, called_by, run = part.begin(), callers(), participation()
        try:
            result = yield
        except Stopped as stopped:
            part.failed(self.keys, stopped.error, self.retriever)
            raise
        except Exception as error:
            part.failed(self.keys, error, self.retriever)
            raise
        try:
            return self._recorded(part, result, began, called_by)
        except RagRuleError as error:
            if run is not None and not run.state.live:
                raise
            # The user's own run keeps its results; the error is raised after it.
            part.fault = part.fault or error
            return result

    def _recorded(
        self, part: Recording[Item], result: Result, began: int, called_by: tuple[str, ...]
    ) -> Result:
        own, form = self._found(result), self._form(result)
        genuine = self._genuine(part, own, began)
        if self._was_born():
            part.searched_own.add(self._kind)
        if genuine is not None:
            # Only documents that were not derived are sources; replays derive the others again.
            if genuine:
                part.record(self.keys, genuine, self.retriever, form, began, called_by)
            elif not self._was_born():
                # A replay that writes nothing into the searched object has to find nothing in it.
                part.record(self.keys[:1], (), self.retriever, form, began, called_by)
            return self._unused(result, own, form)
        found = [*own, *part.added]
        part.record(self.keys, found, self.retriever, form, began, called_by)
        if not part.added:
            return self._unused(result, own, form)
        with _told():
            return self.shape.result(found, form)

    def _unused(self, result: Result, found: Sequence[Item], form: object) -> Result:
        """Returns the result, or one made of the same items for an iterator, which reading used up."""
        if not isinstance(result, Iterator):
            return result
        with _told():
            return self.shape.result(found, form)

    @property
    def _kind(self) -> tuple[str, ...]:
        return tuple(getattr(each, "__qualname__", type(each).__qualname__) for each in self.hangs_on)

    def _was_born(self) -> bool:
        run = participation()
        return run is not None and any(map(run.state.bore, self.hangs_on))

    def _holds_own(self) -> bool:
        """Returns whether this run made a searched object, or wrote to it."""
        run = participation()
        return run is not None and any(map(run.state.holds_own, reached(*self.hangs_on)))

    def _genuine(self, part: Recording[Item], found: Sequence[Item], began: int) -> list[Item] | None:
        """Returns the items found in the baseline that were not derived from earlier retrieved texts;
        None where no item is known to be derived."""
        run = participation()
        if run is None or run.shared is None or not found:
            return None
        # Comparing texts is slow, so it is done only where the run changed a searched object.
        holds_own, changed = self._holds_own(), list(self._changed(run.shared))
        known = Known([*part.texts(before=began), *_made_by_models()] if holds_own or changed else ())
        derived = [known.derives(text) for text in part.texts_of(found)] if known else []
        if not any(derived):
            return None
        new = part.are_new(found, before=began)
        if not holds_own and not any(x and y for x, y in zip(derived, new, strict=True)):
            return None
        if _holds_copies(changed, known, run.shared):
            part.derived.add((_COPIES, *self._kind))
        elif holds_own:
            if self._kind in part.searched_own and any(
                x and y for x, y in zip(derived, new, strict=True)
            ):
                raise refused(UntrueReplay(_MADE_OR_OWN))
            part.derived.add(self._kind)
        else:
            return None
        return [item for item, made in zip(found, derived, strict=True) if not made]

    def _changed(self, before: Shared) -> Iterator[object]:
        """Yields the searched collections that are new or of another size since the run began."""
        for each in reached(*self.hangs_on):
            size = size_of(each)
            if size is not None and before.size_of(each) != size:
                yield each

    def _searches_what_was_made(self, part: Serving[Item]) -> bool:
        """Returns whether the searched object may hold what this replay retrieved before.

        The user's documents in an object that the run made look the same, and may be searched live as
        well: what is omitted is dropped from the result.
        """
        if part.begins_with((*self.keys, *self.event_keys)):
            return False
        kind = self._kind
        return (_COPIES, *kind) in part.derived or (kind in part.derived and self._holds_own())

    def _derived_ones(self, part: Serving[Item], result: Result) -> Result:
        """Returns the result of a live search without omitted sources, and without texts derived from
        anything that this replay was not served."""
        found = list(self._found(result))
        known = Known([*part.delivered_texts(), *_made_by_models()])
        kept: list[Item] = []
        for item, text, is_kept in zip(found, part.texts_of(found), part.are_kept(found), strict=True):
            if is_kept or (is_kept is None and known.derives(text)):
                kept.append(item)
            elif is_kept is None:
                part.remarks.add(FILTERED)
        form = self._form(result)
        if len(kept) == len(found):
            return self._unused(result, found, form)
        with _told():
            return self.shape.result(kept, form)

    def _found(self, result: Result) -> Sequence[Item]:
        with _told():
            return self.shape.found(result)

    def _form(self, result: Result) -> object:
        with _told():
            return self.shape.form(result)


@contextmanager
def _told() -> Generator[None, None, None]:
    """Notes an error of this package that is raised inside, in case the application swallows it."""
    try:
        yield
    except RagRuleError as error:
        raise refused(error) from error


def _holds_copies(changed: Iterable[object], known: Known, before: Shared) -> bool:
    """Returns whether the run put retrieved texts into a collection that it made itself.

    Raises StateShared where such a collection is shared by all runs.
    """
    made, now = False, None
    for each in changed:
        if any(map(known.derives, _texts_in(latest_in(each)))):
            now = now or before.now()
            if now.size_of(each) is not None:
                raise refused(StateShared(_KEPT_COPIES, _MADE_INSIDE))
            made = True
    return made


def _texts_in(held: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of documents in a collection; a document may be a part of a tuple."""
    for each in held:
        pair = cast("tuple[Any, ...]", each) if isinstance(each, tuple) else (each,)
        yield from (text for text in map(text_in, pair) if text is not None and text.strip())


def _made_by_models() -> list[str]:
    run = participation()
    if run is None:
        return []
    return [*(each.reply for each in run.watch.exchanges if each.reply), *run.made]


def asked_part(retriever: object) -> GoingOn | None:
    """Returns the replay or baseline that a call of this retriever belongs to; None outside of both."""
    part = going_on()
    return part if part is not None and part.concerns(retriever) else None
