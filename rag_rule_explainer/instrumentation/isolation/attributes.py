"""Attributes of an object that each run has for itself, whoever reads or sets them, and how.

The object stays the same one; only what it holds is looked up elsewhere inside a run. Plain data is
copied; what else it refers to, such as a client or another object, is shared, and isolated, if at all,
where it is used.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy, deepcopy
from functools import wraps
from typing import Any, TypeAlias, cast

from ...errors import StateShared
from ..copies.copying import described
from ..copies.state import Same, State
from ..run_context import refused
from .isolating import current_state

PARTS = ("__dict__", "__pydantic_private__", "__pydantic_fields_set__", "__pydantic_extra__")
"""Where an object keeps its attributes; the latter are those of pydantic models."""

ADDED = ("__init__", "__getattribute__", "__setattr__", "__delattr__")
"""What has to be replaced on a root class."""

Parts: TypeAlias = dict[str, Any]
_LEAVES = frozenset({str, int, float, bool, bytes, type(None)})


def data_copy(value: Any, data: tuple[type, ...] = (), memo: dict[int, Any] | None = None) -> Any:
    """Returns a copy of containers, all the way down, and of objects of the types ``data``; of nothing
    else.

    Vectors are shared: nobody changes the numbers in one.
    """
    kind = cast("type[Any]", type(value))
    if kind in _LEAVES:
        return value
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    made: Any = value
    if issubclass(kind, data):
        made = memo[id(value)] = deepcopy(value)
    elif issubclass(kind, dict):
        made = memo[id(value)] = copy(value)
        _renew(made, made.items(), data, memo)
    elif issubclass(kind, (list, deque)):
        if kind is not list or not _is_vector(value):
            made = memo[id(value)] = copy(value)
            _renew(made, zip(range(len(made)), made, strict=True), data, memo)
    elif issubclass(kind, (set, bytearray)):
        made = memo[id(value)] = copy(value)
    elif kind is tuple:
        made = tuple([data_copy(each, data, memo) for each in value])
    return made


def _renew(made: Any, items: Iterable[Any], data: tuple[type, ...], memo: dict[int, Any]) -> None:
    """Puts copies in the place of what a copied container holds."""
    for place, each in [(place, each) for place, each in items if type(each) not in _LEAVES]:
        made[place] = data_copy(each, data, memo)


def _is_vector(value: list[Any]) -> bool:
    return len(value) > 15 and type(value[0]) is float  # no embedding is as short


class Attributes:
    """Keeps the attributes of objects apart from run to run.

    ``data``: types of objects that are copied with what holds them. ``told``: what of an object bears on
    answers, or None. ``carries``: True for objects that must not be made in one run and used in another.
    """

    def __init__(
        self,
        data: tuple[type, ...] = (),
        told: Callable[[Any, Mapping[str, Any]], Any] = lambda _thing, _parts: None,
        carries: Callable[[Any], bool] = lambda _thing: False,
    ) -> None:
        self._data = data
        self._told = told
        self._carries = carries

    def wrapping(self, name: str, method: Any) -> Any:
        """Returns the replacement of one of ``ADDED``."""
        if name == "__init__":
            return born(method)
        return {
            "__getattribute__": self._getting,
            "__setattr__": self._setting,
            "__delattr__": self._deleting,
        }[name](method)

    def _getting(self, method: Any) -> Any:
        @wraps(method)
        def get(thing: Any, name: str) -> Any:
            parts = None if name == "__class__" else self._parts(thing)
            if parts is None:
                return method(thing, name)
            if name in parts:
                return parts[name]
            attributes = parts["__dict__"]
            if name in attributes:
                return attributes[name]
            if name == "__getstate__" and len(parts) == 1 and not _has_a_state(thing):
                return lambda: dict(attributes)  # what copies and pickles are made of
            if name in object.__getattribute__(thing, "__dict__"):
                raise AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}")
            return method(thing, name)

        return get

    def _setting(self, method: Any) -> Any:
        @wraps(method)
        def set_(thing: Any, name: str, value: Any) -> None:
            parts = self._parts(thing)
            kind = cast("type[Any]", type(thing))
            # A model puts its fields into its own dict, of which it is given the run's.
            if parts is None or len(parts) > 1 or hasattr(getattr(kind, name, None), "__set__"):
                method(thing, name, value)
            else:
                parts["__dict__"][name] = value

        return set_

    def _deleting(self, method: Any) -> Any:
        @wraps(method)
        def delete(thing: Any, name: str) -> None:
            parts = self._parts(thing)
            for part in () if parts is None else map(parts.get, ("__dict__", "__pydantic_private__")):
                if part and name in part:
                    del part[name]
                    return
            method(thing, name)

        return delete

    def _parts(self, thing: Any) -> Parts | None:
        """Returns what this run has instead of what the object holds, or None where it has the real
        one."""
        state = current_state()
        if state is None or state.bore(thing):
            return None
        if _is_empty(thing):
            # Copies and what is unpickled are made without an ``__init__``.
            state.note_birth(thing)
            return None
        if self._carries(thing):
            not_carried_over(state, thing)
        key = "attributes", Same(thing)
        before = state.kept(key, lambda: self._taken(state, thing))
        return None if state.live else state.own(key, lambda: data_copy(before, self._data))

    def _taken(self, state: State, thing: Any) -> Parts:
        parts: Parts = {}
        for name in PARTS:
            try:
                parts[name] = object.__getattribute__(thing, name)
            except AttributeError:
                continue
        taken: Parts = data_copy(parts, self._data)
        told = self._told(thing, taken["__dict__"])
        if told is not None:
            state.before.setdefault(("told", Same(thing)), told)
        return taken


def _is_empty(thing: object) -> bool:
    """Returns True for an object that is not complete yet: all that are recognised hold something."""
    if object.__getattribute__(thing, "__dict__"):
        return False
    try:
        object.__getattribute__(thing, "__pydantic_fields_set__")
    except AttributeError:
        return True
    return False


def _has_a_state(thing: object) -> bool:
    """Returns True where the class itself says what copies are made of."""
    kind: Any = type(thing)
    return getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None)


def born(method: Any, *, outside: bool = False) -> Any:
    """Returns an ``__init__`` after which the run knows the object as one of its own.

    ``outside``: it may stand for something outside of the process, which is known again by what it was
    made with.
    """

    @wraps(method)
    def init(thing: Any, *args: Any, **kwargs: Any) -> None:
        state = current_state()
        if state is not None and not state.bore(thing):
            told = described((type(thing).__qualname__, args, kwargs), deep=False) if outside else None
            state.note_birth(thing, told)
        method(thing, *args, **kwargs)

    return init


def place_of(state: State, thing: object) -> Hashable:
    """Returns how every run recognises what the thing stands for."""
    return state.told_of(thing) or Same(thing)


def not_carried_over(state: State, thing: object) -> None:
    """Raises StateShared for something that the baseline made and a replay uses."""
    if state.first is not None and state.first.bore(thing):
        raise refused(
            StateShared(f"a {type(thing).__name__} that was made during one run was used by another one")
        )
