"""This module gives each run its own copy of an object's attributes.

The object itself is not copied. When a run reads or sets an attribute, the run's copy is used instead.
Plain data among the attributes is copied. All runs share other objects, such as a client, unless these
objects are isolated themselves.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy, deepcopy
from functools import wraps
from typing import Any, TypeAlias, cast

from ...errors import StateShared
from ...printable import type_said
from ..copies.copying import described
from ..copies.live import unchanged
from ..copies.state import Same, State
from ..run_context import refused
from .isolating import current_state

PARTS = ("__dict__", "__pydantic_private__", "__pydantic_fields_set__", "__pydantic_extra__")
"""The dicts with the attributes of an object. All objects have the first one, and only pydantic models
have the others."""

ADDED = ("__init__", "__getattribute__", "__setattr__", "__delattr__")
"""The methods that are replaced on a root class: the common base class of isolated objects."""

Parts: TypeAlias = dict[str, Any]
_LEAVES = frozenset({str, int, float, bool, bytes, type(None)})


def data_copy(value: Any, data: tuple[type, ...] = (), memo: dict[int, Any] | None = None) -> Any:
    """Returns a deep copy of containers and of objects of the types ``data``. The copy shares all other
    objects with the original. It also shares long lists of floats, because they are embeddings, which no
    application changes. ``memo``: the copies that were made so far, by the ``id()`` of the original."""
    kind = cast("type[Any]", type(value))
    if kind in _LEAVES:
        return value
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    made: Any = value
    if issubclass(kind, data):
        made = memo[id(value)] = unchanged(lambda: deepcopy(value))
    elif issubclass(kind, dict):
        made = memo[id(value)] = unchanged(lambda: copy(value))
        _renew(made, made.items(), data, memo)
    elif issubclass(kind, (list, deque)):
        if kind is not list or not _is_vector(value):
            made = memo[id(value)] = unchanged(lambda: copy(value))
            _renew(made, zip(range(len(made)), made, strict=True), data, memo)
    elif issubclass(kind, (set, bytearray)):
        made = memo[id(value)] = unchanged(lambda: copy(value))
    elif kind is tuple:
        made = tuple([data_copy(each, data, memo) for each in value])
    return made


def _renew(made: Any, items: Iterable[Any], data: tuple[type, ...], memo: dict[int, Any]) -> None:
    """Replaces each item of a copied container by a copy. Texts and numbers stay."""
    for place, each in [(place, each) for place, each in items if type(each) not in _LEAVES]:
        made[place] = data_copy(each, data, memo)


def _is_vector(value: list[Any]) -> bool:
    return len(value) > 15 and type(value[0]) is float  # an embedding has more than 15 numbers


class Attributes:
    """An ``Attributes`` isolates the attributes of objects: each run reads and sets its own copy of them.

    ``data``: types of objects that are copied together with the object that refers to them.
    ``deciding_part``: returns the part of an object on which answers depend; None if no part of the
    object influences answers. ``carries``: returns True for an object that contains a conversation. If
    the baseline made such an object, a replay that uses the object gets a StateShared error.
    """

    def __init__(
        self,
        data: tuple[type, ...] = (),
        deciding_part: Callable[[Any, Mapping[str, Any]], Any] = lambda _thing, _parts: None,
        carries: Callable[[Any], bool] = lambda _thing: False,
    ) -> None:
        self._data = data
        self._deciding_part = deciding_part
        self._carries = carries

    def wrapping(self, name: str, method: Any) -> Any:
        """Returns the function that replaces ``method``, such as ``__getattribute__``, on a class, so
        that each run uses its own copies of attributes."""
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
                # ``copy`` and ``pickle`` call ``__getstate__``. The default ``__getstate__`` would read
                # the object's real attributes instead of the run's copy.
                return lambda: dict(attributes)
            if name in object.__getattribute__(thing, "__dict__"):
                raise AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}")
            return method(thing, name)

        return get

    def _setting(self, method: Any) -> Any:
        @wraps(method)
        def set_(thing: Any, name: str, value: Any) -> None:
            parts = self._parts(thing)
            kind = cast("type[Any]", type(thing))
            # A pydantic model's own method can be called, because it sets the field in
            # ``thing.__dict__``, which is replaced by the run's copy.
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
        """Returns the current run's copy of the attributes; None if the run uses the object's own
        attributes."""
        state = current_state()
        if state is None or state.bore(thing):
            return None
        if _is_empty(thing):
            # ``copy`` and ``pickle`` make objects without calling ``__init__``. So this new object is
            # recorded here as made by this run.
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
        deciding = self._deciding_part(thing, taken["__dict__"])
        if deciding is not None:
            state.before.setdefault(("told", Same(thing)), deciding)
        return taken


def _is_empty(thing: object) -> bool:
    """Returns True for an object without attributes, on which ``__init__`` has not ended yet."""
    if object.__getattribute__(thing, "__dict__"):
        return False
    try:
        object.__getattribute__(thing, "__pydantic_fields_set__")
    except AttributeError:
        return True
    return False


def _has_a_state(thing: object) -> bool:
    """Returns True iff the class defines ``__getstate__``, or inherits one that is not ``object``'s."""
    kind: Any = type(thing)
    return getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None)


def born(method: Any, *, outside: bool = False) -> Any:
    """Returns an ``__init__`` that records each new object as made by the current run.

    ``outside``: True if the object may give access to something outside of the process, such as a
    database. Each run may make its own such object. Objects that two runs made with equal arguments then
    count as one object, because they give access to the same thing.
    """

    @wraps(method)
    def init(thing: Any, *args: Any, **kwargs: Any) -> None:
        state = current_state()
        if state is not None and not state.bore(thing):
            made_of = described((type(thing).__qualname__, args, kwargs), deep=False) if outside else None
            state.note_birth(thing, made_of)
        method(thing, *args, **kwargs)

    return init


def shared_key_of(state: State, thing: object) -> Hashable:
    """Returns a key for the state of this object. If each run makes its own object for the same purpose,
    such as one chat session, these objects have equal keys."""
    return state.key_of(thing) or Same(thing)


def not_carried_over(state: State, thing: object) -> None:
    """Raises StateShared if the current run is a replay and the baseline made the object, because the
    replay could read data that the baseline stored in it."""
    if state.first is not None and state.first.bore(thing):
        raise refused(
            StateShared(f"{type_said(thing)} that was made during one run was used by another one")
        )
