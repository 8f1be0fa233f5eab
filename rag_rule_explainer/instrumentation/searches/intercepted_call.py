"""This module records or serves the outermost call of a search; nested calls are let through."""

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from ...errors import RagRuleError, StateShared
from ..recording.current import GoingOn, going_on
from ..recording.recorder import Recording
from ..recording.retrievals import Keys
from ..recording.serving import Serving
from ..run_context import note_retrieving_tools, out_of_sight, participation, refused
from ..shared_state.reaching import latest_in, reached, size_of
from ..shared_state.temporaries import Shared
from .callers import callers
from .derived_texts import Known
from .items import text_in

T = TypeVar("T")
Item = TypeVar("Item")
Result: TypeAlias = Any

_COPIES = "copies"
_KEPT_COPIES = (
    "a search read a list, or another collection, to which the run had added what it had retrieved "
    "before; it stays there for the next run"
)
_MADE_INSIDE = (
    "Make that collection, and the search, inside the function that is explained, so that every run "
    "starts from the same"
)
MADE_UP_SCORES = "documents without a known score were served to a search that returns scores, as 1.0"


class Shape(Protocol[Item]):
    """How a search returns what it found."""

    def found(self, result: Any) -> Sequence[Item]:
        """Returns the items of a result."""
        ...

    def form(self, result: Any) -> object:
        """Returns how a result came (its form), whatever was in it."""
        ...

    def of_another(self, form: object) -> object:
        """Returns the form for a request that was never made, given that of another one."""
        ...

    def result(self, found: Sequence[Item], form: object = ()) -> Any:
        """Returns the items in the form of a result."""
        ...

    def needs_scores(self, found: Iterable[Item]) -> bool:
        """Returns True iff scores would have to be made up."""
        ...


@dataclass(frozen=True, slots=True)
class Asked(Generic[Item]):
    """One call of a search: who was asked, how it is recognised, and the shape of its results.

    ``event_keys``: how it is recognised where only its events were recorded. ``hangs_on``: the things
    that it searches, such as the store of a retriever; one that the run made or wrote to may hold what
    the run had retrieved before.
    """

    retriever: object
    keys: Keys
    query: str
    shape: Shape[Item]
    event_keys: Keys = ()
    hangs_on: tuple[object, ...] = ()

    def retrieval(self, part: GoingOn) -> Generator[None, Result, Result]:
        """Yields where the real search is made, is sent its result, returns what the caller gets."""
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
            raise _Stopped(error) from error
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
        except _Stopped as stopped:
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
            # The user's own run goes on with what it has found; it is told after that.
            part.fault = part.fault or error
            return result

    def _recorded(
        self, part: Recording[Item], result: Result, began: int, called_by: tuple[str, ...]
    ) -> Result:
        own, form = self._found(result), self._form(result)
        genuine = self._genuine(part, own, began)
        if genuine is not None:
            # What it found of its own is a source; the rest is made anew in every replay.
            if genuine:
                part.record(self.keys, genuine, self.retriever, form, began, called_by)
            elif not self._was_born():
                # A replay that writes nothing there finds nothing there.
                part.record(self.keys[:1], (), self.retriever, form, began, called_by)
            return result
        found = [*own, *part.added]
        part.record(self.keys, found, self.retriever, form, began, called_by)
        if not part.added:
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
        """Returns whether this run made what is searched, or wrote to it."""
        run = participation()
        return run is not None and any(map(run.state.holds_own, reached(*self.hangs_on)))

    def _genuine(self, part: Recording[Item], found: Sequence[Item], began: int) -> list[Item] | None:
        """Returns what a search found in the baseline that was not made of what the run had retrieved
        before; None where nothing says that any of it was."""
        run = participation()
        if run is None or run.shared is None or not found:
            return None
        # Texts are compared only where the run changed something, which is rare: that takes its time.
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
            part.derived.add(self._kind)
        else:
            return None
        return [item for item, made in zip(found, derived, strict=True) if not made]

    def _changed(self, before: Shared) -> Iterator[object]:
        """Yields the searched collections that are new since the run began, or of another size."""
        for each in reached(*self.hangs_on):
            size = size_of(each)
            if size is not None and before.size_of(each) != size:
                yield each

    def _searches_what_was_made(self, part: Serving[Item]) -> bool:
        kind = self._kind
        return (_COPIES, *kind) in part.derived or (kind in part.derived and self._holds_own())

    def _derived_ones(self, part: Serving[Item], result: Result) -> Result:
        """Returns what was found live, but for what does not come from what this replay was served, and
        for sources that were left out."""
        found = list(self._found(result))
        known = Known([*part.delivered_texts(), *_made_by_models()])
        kept = [
            item
            for item, text, is_kept in zip(found, part.texts_of(found), part.are_kept(found), strict=True)
            if is_kept or (is_kept is None and known.derives(text))
        ]
        if len(kept) == len(found):
            return result
        with _told():
            return self.shape.result(kept, self.shape.form(result))

    def _found(self, result: Result) -> Sequence[Item]:
        with _told():
            return self.shape.found(result)

    def _form(self, result: Result) -> object:
        with _told():
            return self.shape.form(result)


@contextmanager
def _told() -> Generator[None, None, None]:
    """An error of this package that is raised inside is told, also where the application swallows it."""
    try:
        yield
    except RagRuleError as error:
        raise refused(error) from error


def _holds_copies(changed: Iterable[object], known: Known, before: Shared) -> bool:
    """Returns whether the run made one of these collections, and put into it what it had retrieved.
    Raises StateShared where all runs share it."""
    made, now = False, None
    for each in changed:
        if any(map(known.derives, _texts_in(latest_in(each)))):
            now = now or before.now()
            if now.size_of(each) is not None:
                raise refused(StateShared(_KEPT_COPIES, _MADE_INSIDE))
            made = True
    return made


def _texts_in(held: Iterable[Any]) -> Iterator[str]:
    """Yields the texts of documents in a collection, which may stand in pairs with something else."""
    for each in held:
        pair = cast("tuple[Any, ...]", each) if isinstance(each, tuple) else (each,)
        yield from (text for text in map(text_in, pair) if text is not None and text.strip())


def _made_by_models() -> list[str]:
    run = participation()
    if run is None:
        return []
    return [*(each.reply for each in run.watch.exchanges if each.reply), *run.made]


def asked_part(retriever: object) -> GoingOn | None:
    """Returns what a call of this retriever takes part in: a replay, a baseline, or nothing."""
    part = going_on()
    return part if part is not None and part.concerns(retriever) else None


def driven(
    retrieval: Generator[None, Result, T], search: Callable[[], Result], *, awaited: bool = False
) -> Any:
    """Runs a retrieval whose real search is a function; returns an awaitable where that does.

    ``awaited``: it is known to, so that what is served without a search is one as well.
    """
    step = _Step(retrieval)
    if not step.wants_a_search():
        return _at_once(step.result) if awaited else step.result
    try:
        with out_of_sight():
            result = search()
    except Exception as error:
        return step.failed(error)
    return _once_there(step, result) if isawaitable(result) else step.finished(result)


async def _at_once(result: T) -> T:
    return result


async def _once_there(step: "_Step[T]", coming: Awaitable[Result]) -> T:
    try:
        with out_of_sight():
            result = await coming
    except Exception as error:
        return step.failed(error)
    return step.finished(result)


async def adriven(retrieval: Generator[None, Result, T], search: Callable[[], Awaitable[Result]]) -> T:
    """Returns the same for a coroutine function."""
    step = _Step(retrieval)
    if step.wants_a_search():
        try:
            with out_of_sight():
                result = await search()
        except Exception as error:
            return step.failed(error)
        return step.finished(result)
    return step.result


class _Stopped(Exception):
    """Carries a StopIteration of a search, which a generator can neither be told of nor raise."""

    def __init__(self, error: StopIteration) -> None:
        super().__init__(str(error))
        self.error = error


class _Step(Generic[T]):
    """This class is a retrieval on its way: it makes at most one real search and has its result."""

    def __init__(self, retrieval: Generator[None, Result, T]) -> None:
        self._retrieval = retrieval
        self.result: Any = None

    def wants_a_search(self) -> bool:
        """True until it has its result."""
        return self._goes_on(lambda: next(self._retrieval))

    def finished(self, found: Result) -> T:
        """Returns its result, now that the search has found this."""
        return self._ended(self._goes_on(lambda: self._retrieval.send(found)))

    def failed(self, error: Exception) -> T:
        """Returns what becomes of a search that raised: by rule, that it raises."""
        if isinstance(error, StopIteration):
            error = _Stopped(error)
        return self._ended(self._goes_on(lambda: self._retrieval.throw(error)))

    def _goes_on(self, going: Callable[[], None]) -> bool:
        try:
            going()
        except StopIteration as done:
            self.result = done.value
            return False
        except _Stopped as stopped:
            raise stopped.error from None
        return True

    def _ended(self, goes_on: bool) -> T:
        if goes_on:
            raise RuntimeError("a retrieval makes at most one real search")
        return self.result
