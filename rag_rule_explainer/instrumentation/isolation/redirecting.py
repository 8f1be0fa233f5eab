"""Redirects a shared thing to a run's own copy of it, whatever of it is used.

While somebody explains, looking up an attribute of an instance of an intercepted root class in a run, or
setting one, concerns the run's own copy. Everybody else's look-ups go through. A thing that keeps its
state to itself has a twin for each run (see ``twins``); for any other, an overlay does what its interface
says and leaves the thing as it is.
"""

import re
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol, cast

from ...errors import StateShared
from ..copies.copying import described
from ..copies.patching import Interception
from ..copies.state import Same, State
from ..copies.twins import NoTwin, Twins
from ..run_context import refused

_untouched: ContextVar[bool] = ContextVar("rag_rule_untouched", default=False)
_INTERCEPTED = ("__getattribute__", "__setattr__", "__delattr__", "__init__")
_WHOLE = ("__dict__", "__pydantic_private__")
TRANSPARENT = "_rag_rule_transparent"
"""Stands in classes that only hand on what they are asked."""


def shared_state(seen: str, ways_out: str = StateShared.WAYS_OUT) -> StateShared:
    """Returns the error for state that would carry over from run to run, which an application cannot
    swallow."""
    error = StateShared(seen, ways_out)
    refused(error)
    return error


@contextmanager
def untouched() -> Generator[None, None, None]:
    """Inside, the things themselves are used."""
    token = _untouched.set(True)
    try:
        yield
    finally:
        _untouched.reset(token)


class Overlay(Protocol):
    """Stands in for a thing that has no twin, in one run."""

    def attribute(self, name: str) -> Any:
        """Returns what the thing's attribute is in this run; ``name`` is one that the overlay stands in
        for."""
        ...

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets it in this run."""
        ...


_ADDRESS = re.compile(" at 0x[0-9A-Fa-f]")


def births(state_now: Callable[[], State | None]) -> Callable[[Any], Any]:
    """Wraps an ``__init__`` so that a run knows what is made during it."""

    def making(method: Any) -> Any:
        @wraps(method)
        def init(thing: Any, *args: Any, **kwargs: Any) -> None:
            state = state_now()
            if state is None or _untouched.get() or state.owns(thing):
                method(thing, *args, **kwargs)
                return
            told = type(thing).__module__, type(thing).__qualname__, described((args, kwargs), deep=False)
            unsaid = tuple(each for each in (*args, *kwargs.values()) if _ADDRESS.search(repr(each)))
            with state.birth_of(thing, told, unsaid):
                method(thing, *args, **kwargs)

        return init

    return making


def known_as(state: State, thing: Any) -> Hashable:
    """Returns how all runs recognise a thing that may be made anew in each of them, for what is
    outside."""
    return state.told_of(thing) or (state.first and state.first.told_of(thing)) or Same(thing)


@dataclass(frozen=True, slots=True)
class Held:
    """This class represents a thing at its beginning, as it is kept for all runs; said by what it
    holds."""

    twin: Any
    twins: Twins

    def another(self) -> Any:
        """One more, for a run."""
        return self.twins.of(self.twin)

    def __repr__(self) -> str:
        return f"{type(self.twin).__qualname__} {self.twins.described(self.twin)}"


@dataclass(frozen=True, slots=True)
class StandIn:
    """What one run uses instead of a thing. ``twin``: the thing itself where the run may use that.

    ``overlay``: in the place of a twin. ``shared``: writing is refused.
    """

    thing: Any
    twin: Any = None
    overlay: Overlay | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """How all instances of a root class are isolated, run by run.

    ``state``: of the run that the current context is part of. ``overlay``: for things without a twin.
    ``overlaid``: the names that overlays stand in for. ``writes``: those that change a thing.
    ``wakes``: the names whose use makes a copy; by default all. ``stays``: methods that are called on the
    thing itself even where there is a twin: what they look up then concerns the twin. ``owns_born``:
    whether one that a run makes is that run's own, and is used as it is. ``aside``: answers depend on it
    by retrieval only.
    """

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
        """Replaces what looks attributes up, for all instances."""
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
        """Returns None where the thing itself is to be used."""
        if state.owns(thing) or state.is_being_made(thing) or _untouched.get():
            return None
        original = state.original(thing)
        if original is not None:  # the copy of another run came here, by way of something shared
            return StandIn(thing, original)
        key = self.owner, Same(thing)
        stand_in: StandIn | None = state.owned(key)
        if stand_in is None:
            if not keeping and not self._wakes(name) and not _was_written(state, key):
                return None
            stand_in = state.own(key, lambda: self._made(state, thing))
        if stand_in is not None and stand_in.shared and (changing or self.writes.fullmatch(name)):
            raise shared_state(
                f"a {type(thing).__name__} that the first run made was still there in a later one, which "
                f"wrote to it ({name})"
            )
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
        return StandIn(thing, twin)

    def _held(self, state: State, thing: Any) -> Held | None:
        """Returns the thing as it was when the first run first used it; None where it has no twin."""
        kept, key = state.aside if self.aside else state.before, (self.owner, Same(thing))
        if key not in kept:
            if self.twins is None:
                return None
            try:
                kept.setdefault(key, Held(self.twins.of(thing), self.twins))
            except NoTwin:
                return None
        return kept[key]

    def keep(self, state: State, thing: Any) -> Any:
        """Keeps what the thing holds now as what it held before the run; returns its overlay, if any."""
        stand_in = self._stand_in(state, thing, "", keeping=True)
        return None if stand_in is None else stand_in.overlay


def _was_written(state: State, key: Hashable) -> bool:
    """Returns True where the thing itself holds what the user's own run wrote, which a replay is not to
    see."""
    first = state.first
    return first is not None and first.live and first.owned(key) is not None


def always(_isolation: Isolation, _thing: Any) -> bool:
    """For things of which one that a run makes is always that run's own."""
    return True


def in_memory(isolation: Isolation, thing: Any) -> bool:
    """For things that a run may also make for what is outside of it."""
    try:
        _ = None if isolation.twins is None else isolation.twins.of(thing)
    except NoTwin:
        return False
    return True
