"""This module redirects the use of a shared object to the run's own copy.

If a run reads or sets an attribute of an instance of certain classes, the run's copy is used instead of
the instance. Outside of runs, the instance itself is used. The copy is a *twin*: it shares no data with
the instance. If no twin can be made, each run gets an *overlay*, which replaces some of the attributes.
"""

import re
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, cast

from ...errors import StateShared
from ...printable import type_said
from ..copies.copying import described
from ..copies.patching import Interception
from ..copies.state import Same, State
from ..copies.twins import NoTwin, Twins
from ..run_context import refused

_untouched: ContextVar[bool] = ContextVar("rag_rule_untouched", default=False)
_INTERCEPTED = ("__getattribute__", "__setattr__", "__delattr__", "__init__")
_WHOLE = ("__dict__", "__pydantic_private__")
TRANSPARENT = "_rag_rule_transparent"
"""The attribute that marks a class whose objects only forward calls, and so have no state to copy."""


def shared_state(seen: str, ways_out: str = StateShared.WAYS_OUT) -> StateShared:
    """Returns a StateShared error. Also records it on the current run, because the application may catch
    it. ``seen``: the state that one run would pass to another, in words; ``ways_out``: advice."""
    error = StateShared(seen, ways_out)
    refused(error)
    return error


@contextmanager
def untouched() -> Generator[None, None, None]:
    """Makes all calls in the block use the objects themselves instead of the run's copies."""
    token = _untouched.set(True)
    try:
        yield
    finally:
        _untouched.reset(token)


class Overlay(Protocol):
    """An ``Overlay`` replaces some attributes of an object that cannot be copied, for one run."""

    def attribute(self, name: str) -> Any:
        """Returns this run's value of an attribute. ``name``: the name of an attribute that the overlay
        replaces."""
        ...

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets the attribute for this run only."""
        ...


_ADDRESS = re.compile(" at 0x[0-9A-Fa-f]")


def births(state_now: Callable[[], State | None]) -> Callable[[Any], Any]:
    """Returns a wrapper for ``__init__`` that records new objects in the run's state, ``state_now()``."""

    def making(method: Any) -> Any:
        @wraps(method)
        def init(thing: Any, *args: Any, **kwargs: Any) -> None:
            state = state_now()
            if state is None or _untouched.get() or state.owns(thing):
                method(thing, *args, **kwargs)
                return
            kind = cast("type[Any]", type(thing))
            made_of = kind.__module__, kind.__qualname__, described((args, kwargs), deep=False)
            unsaid = tuple(each for each in (*args, *kwargs.values()) if _ADDRESS.search(repr(each)))
            with state.birth_of(thing, made_of, unsaid):
                method(thing, *args, **kwargs)

        return init

    return making


def known_as(state: State, thing: Any) -> Hashable:
    """Returns a key for an object's state. If each run makes its own object for the same purpose, such as
    the history of one chat session, these objects have equal keys."""
    return state.key_of(thing) or (state.first and state.first.key_of(thing)) or Same(thing)


@dataclass(frozen=True, slots=True)
class Original:
    """An ``Original`` holds a copy of an object from before the first run. Each run gets a copy of this
    copy. The ``repr`` of an ``Original`` describes the content."""

    twin: Any
    twins: Twins

    def another(self) -> Any:
        """Returns a new copy of the object as it was before the first run."""
        return self.twins.of(self.twin)

    def __repr__(self) -> str:
        return f"{type(self.twin).__qualname__} {self.twins.described(self.twin)}"


@dataclass(frozen=True, slots=True)
class StandIn:
    """A ``StandIn`` holds the object that one run uses instead of ``thing``, a shared object.

    ``twin``: the copy that the run uses; the object itself if the run needs no copy of it. ``overlay``:
    replaces some attributes if there is no twin. ``shared``: True if the run must only read the object.
    """

    thing: Any
    twin: Any = None
    overlay: Overlay | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """An ``Isolation`` isolates the instances of one class and of its subclasses: each run uses its own
    twins (copies) or overlays (replaced attributes) of them.

    ``state``: returns the state of the current run. ``overlay``: makes the overlay of an instance that
    cannot be copied. ``overlaid``: the attributes that overlays replace. ``writes``: the methods that
    change an instance. ``wakes``: the run's copy is made when one of these attributes is first used; None
    for any attribute. ``stays``: methods that are called on the instance itself, not on the twin, but
    read the twin's attributes. ``owns_born``: returns True if a run uses its own new instances uncopied.
    ``aside``: True for objects that are no memory, such as an index."""

    module: str
    owner: str
    state: Callable[[], State | None]
    twins: Twins | None
    overlay: Callable[[Any, State, Hashable], Overlay]
    overlaid: re.Pattern[str]
    writes: re.Pattern[str]
    wakes: re.Pattern[str] | None = None
    stays: re.Pattern[str] | None = None
    owns_born: Callable[["Isolation", Any], bool] = lambda _self, _thing: False
    aside: bool = False

    @property
    def interception(self) -> Interception:
        """Returns the ``Interception`` that replaces the class's ``__init__`` and attribute access."""
        names = re.compile("|".join(_INTERCEPTED))
        return Interception(self.module, self.owner, names, self._wrapping, _INTERCEPTED)

    def _wrapping(self, name: str, method: Any) -> Any:
        return {
            "__getattribute__": self._getting,
            "__setattr__": self._setting,
            "__delattr__": self._deleting,
            "__init__": births(self.state),
        }[name](method)

    def _getting(self, method: Any) -> Any:
        state_now, stand_in_for = self.state, self._stand_in

        @wraps(method)
        def get(thing: Any, name: str) -> Any:
            state = None if name == "__class__" else state_now()
            if state is None:
                return method(thing, name)
            stand_in = stand_in_for(state, thing, name)
            if self.writes.fullmatch(name):
                state.note_write(thing)
            if stand_in is None:
                return method(thing, name)
            if stand_in.overlay is not None and self.overlaid.fullmatch(name):
                return stand_in.overlay.attribute(name)
            twin = stand_in.twin
            if twin is None or twin is thing or (self.stays and self.stays.fullmatch(name)):
                return method(thing, name)
            return getattr(twin, name)

        return get

    def _setting(self, method: Any) -> Any:
        @wraps(method)
        def set_(thing: Any, name: str, value: Any) -> None:
            stand_in = self._to_change(thing, name)
            if stand_in is None:
                method(thing, name, value)
            elif stand_in.overlay is not None and self.overlaid.fullmatch(name):
                stand_in.overlay.set_attribute(name, value)
            elif stand_in.twin is None or stand_in.twin is thing:
                method(thing, name, value)
            else:
                setattr(stand_in.twin, name, value)

        return set_

    def _deleting(self, method: Any) -> Any:
        @wraps(method)
        def delete(thing: Any, name: str) -> None:
            stand_in = self._to_change(thing, name)
            if stand_in is None or stand_in.twin is None or stand_in.twin is thing:
                method(thing, name)
            else:
                delattr(stand_in.twin, name)

        return delete

    def _to_change(self, thing: Any, name: str) -> StandIn | None:
        state = self.state()
        return None if state is None else self._stand_in(state, thing, name, changing=True)

    def _stand_in(
        self, state: State, thing: Any, name: str, *, changing: bool = False, keeping: bool = False
    ) -> StandIn | None:
        """Returns the ``StandIn`` that the current run uses for the object; None if the run uses the
        object itself. ``name``: the used attribute. ``changing``: True if the attribute is set or
        deleted. ``keeping``: True to make a copy now, even if the attribute is not in ``wakes``."""
        if state.owns(thing) or state.is_being_made(thing) or _untouched.get():
            return None
        original = state.original(thing)
        # The application may have kept the baseline's copy. A replay then uses a copy of the original.
        if original is not None:
            return StandIn(thing, original)
        key = self.owner, Same(thing)
        stand_in: StandIn | None = state.owned(key)
        if stand_in is None:
            if not keeping and not self._wakes(name) and not _was_written(state, key):
                return None
            stand_in = state.own(key, lambda: self._made(state, thing))
        if stand_in is not None and stand_in.shared and (changing or self.writes.fullmatch(name)):
            seen = f"{type_said(thing)} that the first run made was still there in a later one"
            raise shared_state(f"{seen}, which wrote to it ({name})")
        return stand_in

    def _wakes(self, name: str) -> bool:
        if name.startswith("__"):
            return name in _WHOLE
        return self.wakes is None or self.wakes.fullmatch(name) is not None

    def _made(self, state: State, thing: Any) -> StandIn:
        if hasattr(cast("type[Any]", type(thing)), TRANSPARENT):
            return StandIn(thing, thing)
        if state.bore(thing) and self.owns_born(self, thing):
            return StandIn(thing, thing)
        first = state.first
        if first is not None and first.bore(thing) and self.owns_born(self, thing):
            return StandIn(thing, thing, shared=True)
        held = self._held(state, thing)
        if held is None:
            key = self.owner, "elsewhere", known_as(state, thing)
            with untouched():
                overlay = self.overlay(thing, state, key)
            state.note_copy(overlay, thing)
            return StandIn(thing, overlay=overlay)
        if state.live:
            return StandIn(thing, thing)
        twin = held.another()
        state.note_copy(twin, thing)
        return StandIn(thing, twin if self.aside else state.edit_attributes(twin))

    def _held(self, state: State, thing: Any) -> Original | None:
        """Returns a copy of the object from before the first run used it; the first call makes the copy.
        Returns None if the object cannot be copied."""
        kept, key = state.aside if self.aside else state.before, (self.owner, Same(thing))
        if key not in kept:
            if self.twins is None:
                return None
            try:
                kept.setdefault(key, Original(self.twins.of(thing), self.twins))
            except NoTwin:
                return None
        return kept[key]

    def keep(self, state: State, thing: Any) -> Any:
        """Stores a copy of the object's current content, from which replays will start. If a copy is
        already stored, that copy stays. Returns the object's overlay, or None if it has no overlay."""
        stand_in = self._stand_in(state, thing, "", keeping=True)
        return None if stand_in is None else stand_in.overlay


def _was_written(state: State, key: Hashable) -> bool:
    """Returns True iff the baseline was the user's own run, and may have changed the object itself.
    Replays then use copies, because they must not see such changes."""
    first = state.first
    return first is not None and first.live and first.owned(key) is not None


def always(_isolation: Isolation, _thing: Any) -> bool:
    """Returns True. It is used as ``owns_born`` if a run may use all its new objects without a copy."""
    return True


def in_memory(isolation: Isolation, thing: Any) -> bool:
    """Returns True iff ``thing`` keeps its state in the memory of this process; False if the state is
    elsewhere, such as in a database."""
    try:
        _ = None if isolation.twins is None else isolation.twins.of(thing)
    except NoTwin:
        return False
    return True
