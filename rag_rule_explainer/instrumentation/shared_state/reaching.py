"""This module finds the objects that a search or an application refers to, directly or indirectly."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from inspect import getattr_static
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias, cast
from weakref import CallableProxyType, ProxyType

from ...probing.whose import is_named_as_ours, is_users
from ..copies.guarded_code import own_code
from ..copies.live import entries_now, members_now
from ..registered import frameworks
from .per_class import per_class

_MOST = 500
"""The largest number of objects that are visited for one search. Further objects are ignored."""
_MOST_INSIDE = 50
"""The largest number of entries of a collection that are visited. Further entries are ignored."""
FRAMEWORKS = tuple(frameworks())
"""The packages of the supported frameworks. Their objects are searched, because they can refer to objects
of the user's."""
LEAVES = (str, bytes, int, float, bool, type(None), type, ModuleType, CodeType)
_CONTAINERS = (list, dict, set, deque)
"""Collections to which a run may add entries."""
_ABSENT = object()
"""This object stands for a global that does not exist."""

NamedReference: TypeAlias = tuple[str, Any, bool]
"""A reference from one object to a second one: the name, the second object, and True iff a run may assign
a different object to the name."""


def reached(*starts: object) -> Iterator[object]:
    """Yields these objects and all objects to which they refer, directly or indirectly, each once. At
    most ``_MOST`` objects are yielded."""
    alive: list[object] = []
    seen: set[int] = set()
    waiting = deque[object](starts)
    while waiting and len(seen) < _MOST:
        thing = waiting.popleft()
        if id(thing) in seen or isinstance(thing, LEAVES):
            continue
        seen.add(id(thing))
        alive.append(thing)
        yield thing
        waiting.extend(value for _, value, _ in places(thing))


def size_of(thing: object) -> int | None:
    """Returns the number of entries of a mutable collection; None for anything else."""
    return len(cast("list[Any]", thing)) if isinstance(thing, _CONTAINERS) else None


def latest_in(container: object) -> Iterable[Any]:
    """Returns the entries that were added last to a collection, at most ``_MOST_INSIDE``."""
    if isinstance(container, dict):
        return [*entries_now(cast("dict[Any, Any]", container)).values()][-_MOST_INSIDE:]
    return members_now(cast("list[Any]", container))[-_MOST_INSIDE:]


@per_class
def _is_of_proxies(kind: type) -> bool:
    """Returns True iff objects of this class are proxies for other objects: weak proxies, and objects
    whose class defines ``__class__``."""
    names_itself = any("__class__" in vars(each) for each in kind.__mro__ if each is not object)
    # A metaclass may define ``==``, so classes are compared by identity.
    return names_itself or kind is ProxyType or kind is CallableProxyType


SIMPLE: frozenset[type] = frozenset({dict, list, set, tuple, frozenset})
"""The builtin collection types, to which most of the visited objects belong. Objects of exactly these
types are read at once. An object of a subclass is not, because its class may define its own
attributes."""
_READABLE: frozenset[type] = SIMPLE | {str, int, float, bool, bytes, type(None), FunctionType, MethodType}


def is_opaque(thing: object) -> bool:
    """Returns True for an object that must not be read, because any access may fail: a proxy, such as a
    weak reference that acts like its object, and an object whose class or dict cannot be read."""
    if type(thing) in _READABLE:
        return False
    if _is_of_proxies(type(thing)):
        return True
    try:
        _ = thing.__class__, getattr(thing, "__dict__", None)
    except Exception:  # an object of the user's may raise any error when it is read
        return True
    return False


def places(thing: object) -> list[NamedReference]:
    """Returns the references of an object to other objects. The list is empty for an object of a library
    (neither the user's nor a framework's), and for an object that cannot be read."""
    try:
        return [place for place in _places(thing) if not is_opaque(place[1])]
    except Exception:  # an object of the user's may raise any error when it is read
        return []


def _places(thing: object) -> Iterator[NamedReference]:
    if isinstance(thing, FunctionType):
        yield from _of_function(thing)
    elif isinstance(thing, MethodType):
        yield "self", thing.__self__, False
        yield "function", thing.__func__, False
    elif isinstance(thing, partial):
        whole = cast("partial[Any]", thing)
        yield "function", whole.func, False
        yield "arguments", [*whole.args, *entries_now(whole.keywords).values()], False
    elif isinstance(thing, dict):
        entries = entries_now(cast("dict[Any, Any]", thing), _MOST_INSIDE)
        yield from ((str(key), value, False) for key, value in entries.items())
    elif isinstance(thing, (list, tuple)):
        items = members_now(cast("list[Any]", thing), _MOST_INSIDE)
        yield from ((str(place), value, False) for place, value in enumerate(items))
    else:
        yield from _of_object(thing)


def _of_object(thing: object) -> Iterator[NamedReference]:
    kind = type(thing)
    is_own = is_users(str(kind.__module__))
    if not is_own and not str(kind.__module__).startswith(FRAMEWORKS):
        return  # a library's object, such as a client or a lock, holds no results of the user's
    held = _held_by(thing)
    for name, value in entries_now(held).items():
        # A cached property is computed once, so runs do not change it.
        yield name, value, is_own and not isinstance(getattr_static(kind, name, None), cached_property)
    if is_own:
        for name, value in vars(kind).copy().items():
            if not name.startswith("__"):
                yield name, value, True


def _of_function(function: FunctionType) -> Iterator[NamedReference]:
    if not is_users(function.__module__ or ""):
        return
    if is_ours(function):
        # A wrapper of this package has the ``__module__`` of the function that it wraps. Only the wrapped
        # function is the user's.
        yield "wrapped", getattr(function, "__wrapped__", None), False
        return
    for name, cell in zip(own_code(function).co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents, True
        except ValueError:  # the enclosed variable has no value yet
            continue
    for name in own_code(function).co_names:
        value = function.__globals__.get(name, _ABSENT)
        if value is not _ABSENT:
            yield name, value, True


def is_ours(thing: object) -> bool:
    """Returns True iff a function, a class or an object's class belongs to this package."""
    if isinstance(thing, FunctionType):
        # A wrapper has the ``__module__`` of the function that it wraps, so the wrapper's own module is
        # read from its globals.
        module = str(thing.__globals__.get("__name__", ""))
    else:
        module = str((thing if isinstance(thing, type) else type(thing)).__module__)
    return is_named_as_ours(module)


def _held_by(thing: object) -> Mapping[str, Any]:
    """Returns the attributes in the object's dict, even if its class overrides attribute access."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
