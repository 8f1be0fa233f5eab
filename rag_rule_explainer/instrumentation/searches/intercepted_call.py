"""This module handles one call of a search. In the baseline, the call is recorded. In a replay, its
result comes from the record, or the real search runs. A search inside another search is recorded only as
a part of that search."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ...errors import RagRuleError, UntrueReplay
from ..recording.current import AnyPart, handling
from ..recording.nested import Nested
from ..recording.recorder import Recording
from ..recording.remarks import FILTERED
from ..recording.retrievals import Keys, Retrieval
from ..recording.serving import Serving
from ..run_context import note_retrieving_tools, participation, refused
from ..shared_state.reaching import reached, size_of
from ..shared_state.temporaries import Shared
from .callers import callers
from .changed_results import as_changed
from .derived_texts import Known, holds_copies, texts_of_models
from .driving import Result, Retrieving, Stopped
from .shape import Shape, noting_refusals
from .widening import Wider, never_wider

Item = TypeVar("Item")

_COPIES = "copies"
_MADE_OR_OWN = (
    "two searches of one kind were made inside the run, and the later one found text that stands in what "
    "the run knew before, as another document. It may have been made from that document. Make the "
    "retriever of your own documents once, outside the function that is explained"
)
_Context: TypeAlias = tuple[int, tuple[str, ...], list[Retrieval[Any]]]
"""The context of a search: the moment at which the search began, the names of the user's functions that
called it, and the searches that it made itself."""
MADE_UP_SCORES = "documents without a known score were served to a search that returns scores, as 1.0"


@dataclass(frozen=True, slots=True)
class Asked(Generic[Item]):
    """An ``Asked`` represents one call of a search."""

    retriever: object
    keys: Keys
    """The keys that identify the call; calls with a common key count as equal."""
    query: str
    shape: Shape[Item]
    """The object that splits and builds results."""
    event_keys: Keys = ()
    """More keys, which find retrievals that were recorded only through the framework's events."""
    hangs_on: tuple[object, ...] = ()
    """The objects that are searched, such as a retriever's store. If the run made such an object or wrote
    to it, the search may find a text that is derived from a text that the run retrieved earlier. Such a
    derived text is no source."""
    in_gate: bool = False
    """True if the user wrapped the search in ``gate(...)``. Rules are then about the results of this
    search, not about documents that an inner search finds and that this search does not return."""
    wider: Wider = never_wider
    """A function that returns a search for more results than this search."""

    def retrieval(self, part: AnyPart) -> Retrieving[Result]:
        """Records the call in a baseline, or answers it in a replay. Returns the result for the
        application.

        ``part``: the object that handles the call. Usually, it records or answers the searches of the
        current run. If this search was made inside an outer search, it records the inner searches of the
        outer search. This method is a generator: by a yield, it requests the real search, whose result
        must be sent to it. The yielded value is the object that handles searches inside the real search.
        """
        if isinstance(part, Nested):
            return (yield from self._inside(part))
        note_retrieving_tools()
        part.queries.append(self.query)
        run = participation()
        if run is not None:
            run.note_search(len(part.queries))
        if isinstance(part, Recording):
            return (yield from self._recording(part))
        if self._searches_what_was_made(part):
            result = yield None
            return self._derived_ones(part, result)
        keys = (*self.keys, *self.event_keys)
        if part.opens(keys):
            result = yield part
            return self._opened_ones(part, result)
        try:
            found: Sequence[Item] | None = part.serve(keys, self.query)
        except StopIteration as error:
            raise Stopped(error) from error
        form = None if found is None else part.form(keys)
        if found is None:
            found, form = yield from self._of_a_new_query(part, keys)
        if self.shape.needs_scores(found):
            part.remarks.add(MADE_UP_SCORES)
        with noting_refusals():
            if form is None:
                form = self.shape.of_another(part.form_of_another(self.retriever))
            return self.shape.result(found, form)

    def _of_a_new_query(
        self, part: Serving[Item], keys: Keys
    ) -> Retrieving[tuple[Sequence[Item], object]]:
        """Makes the real search for a query that the baseline never made. Returns the items that the
        application gets, and the form of the result (None if it is unknown)."""
        if not part.serves_what_is_kept:
            result = yield None
            return part.filtered(self._found(result)), self._form(result)
        try:
            result = yield None
            found, form = self.shape.found(result), self.shape.form(result)
        except Exception:  # if the real search fails, the application still gets the retained sources
            found, form = None, None
        return part.settled(keys, self.retriever, found), form

    def _inside(self, part: Nested) -> Retrieving[Result]:
        """Records a search that another search makes, and returns its result."""
        if not set(part.keys).isdisjoint(self.keys):
            # The framework called this method inside another method of the same search, which has
            # recorded the call already.
            return (yield part)
        nested = Nested(self.keys, part)
        result = yield nested
        result = yield from as_changed(self, part, result)
        try:
            found, form = self.shape.found(result), self.shape.form(result)
        except Exception:  # if the inner result cannot be read, only the outer search is recorded
            return result
        inside = tuple(nested.retrievals)
        part.note(Retrieval(self.keys, tuple(found), self.retriever, form, inside=inside))
        return self._unused(result, found, form)

    def _recording(self, part: Recording[Item]) -> Retrieving[Result]:
        run, nested = participation(), Nested(self.keys, part)
        context = part.begin(), callers(), nested.retrievals
        try:
            result = yield None if self.in_gate else nested
        except Stopped as stopped:
            part.failed(self.keys, stopped.error, self.retriever)
            raise
        except Exception as error:
            part.failed(self.keys, error, self.retriever)
            raise
        try:
            result = yield from as_changed(self, part, result)
            return self._recorded(part, result, context)
        except RagRuleError as error:
            if run is not None and not run.state.live:
                raise
            # In the user's own call, the application still gets the search's result, because the user
            # needs the answer. The error is raised after the run.
            part.fault = part.fault or error
            return result

    def _recorded(self, part: Recording[Item], result: Result, context: _Context) -> Result:
        own, form = self._found(result), self._form(result)
        genuine = self._genuine(part, own, context[0])
        if self._was_born():
            part.searched_own.add(self._kind)
        if genuine is not None:
            # Only documents that are not derived are recorded. Each replay derives the others again from
            # the documents that it retains.
            if genuine:
                part.record(self.keys, genuine, self.retriever, form, *context[:2])
            elif not self._was_born():
                # All found documents were derived from other texts. An empty result is recorded. So in a
                # replay in which nothing is derived, this search finds nothing.
                part.record(self.keys[:1], (), self.retriever, form, *context[:2])
            return self._unused(result, own, form)
        found = [*own, *part.added]
        part.record(self.keys, found, self.retriever, form, *context)
        if not part.added:
            return self._unused(result, own, form)
        with noting_refusals():
            return self.shape.result(found, form)

    def _unused(self, result: Result, found: Sequence[Item], form: object) -> Result:
        """Returns the result for the application. If the result is an iterator, reading its items has
        used it up, so a new result of the same form is built from the items ``found``."""
        if not isinstance(result, Iterator):
            return result
        with noting_refusals():
            return self.shape.result(found, form)

    @property
    def _kind(self) -> tuple[str, ...]:
        return tuple(getattr(each, "__qualname__", type(each).__qualname__) for each in self.hangs_on)

    def _was_born(self) -> bool:
        run = participation()
        return run is not None and any(map(run.state.bore, self.hangs_on))

    def _holds_own(self) -> bool:
        """Returns True iff this run made one of the searched objects, or wrote to one of them."""
        run = participation()
        return run is not None and any(map(run.state.holds_own, reached(*self.hangs_on)))

    def _genuine(self, part: Recording[Item], found: Sequence[Item], began: int) -> list[Item] | None:
        """Returns the found items that are not derived from texts that the baseline retrieved before the
        moment ``began``, at which the search began. Returns None if no item is known to be derived: all
        items are then recorded."""
        run = participation()
        if run is None or run.shared is None or not found:
            return None
        # Texts are compared only if a searched object has changed, because comparing them is slow.
        holds_own, changed = self._holds_own(), list(self._changed(run.shared))
        known = Known([*part.texts(before=began), *texts_of_models()] if holds_own or changed else ())
        derived = [known.derives(text) for text in part.texts_of(found)] if known else []
        if not any(derived):
            return None
        new = part.are_new(found, before=began)
        if not holds_own and not any(x and y for x, y in zip(derived, new, strict=True)):
            return None
        if holds_copies(changed, known, run.shared):
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
        """Yields the searched collections that are new, or whose size has changed since the run began."""
        for each in reached(*self.hangs_on):
            size = size_of(each)
            if size is not None and before.size_of(each) != size:
                yield each

    def _searches_what_was_made(self, part: Serving[Item]) -> bool:
        """Returns True iff the real search must run, because the searched object may hold texts that this
        replay derived from retrieved texts. If the object holds only the user's own documents, the real
        search does no harm, because omitted sources are removed from its result."""
        if part.begins_with((*self.keys, *self.event_keys)):
            return False
        kind = self._kind
        return (_COPIES, *kind) in part.derived or (kind in part.derived and self._holds_own())

    def _derived_ones(self, part: Serving[Item], result: Result) -> Result:
        """Returns the result of a search that really ran in this replay, without the omitted sources.
        Texts that belong to no known source are removed too, except texts that the application derived
        from texts of this replay: from retrieved texts, or from texts of a model."""
        found = list(self._found(result))
        known = Known([*(each.text for each in part.retrieved()), *texts_of_models()])
        kept: list[Item] = []
        for item, text, is_kept in zip(found, part.texts_of(found), part.are_kept(found), strict=True):
            if is_kept or (is_kept is None and known.derives(text)):
                kept.append(item)
            elif is_kept is None:
                part.remarks.add(FILTERED)
        form = self._form(result)
        if len(kept) == len(found):
            return self._unused(result, found, form)
        with noting_refusals():
            return self.shape.result(kept, form)

    def _opened_ones(self, part: Serving[Item], result: Result) -> Result:
        """Returns the result of an *opened* search without the omitted sources. Such a search really runs
        in replays, while the searches inside it get recorded results."""
        found = list(self._found(result))
        with noting_refusals():
            kept = part.let_through(found)
        form = self._form(result)
        if len(kept) == len(found):
            return self._unused(result, found, form)
        with noting_refusals():
            return self.shape.result(kept, form)

    def _found(self, result: Result) -> Sequence[Item]:
        with noting_refusals():
            return self.shape.found(result)

    def _form(self, result: Result) -> object:
        with noting_refusals():
            return self.shape.form(result)


def asked_part(retriever: object) -> AnyPart | None:
    """Returns the object that handles the retriever's calls. Usually, this object records or answers the
    searches of the current run. Inside an outer search of the baseline, it records the inner searches of
    the outer search. Returns None outside of runs, and if calls of this retriever are ignored."""
    part = handling()
    return part if part is not None and part.concerns(retriever) else None
