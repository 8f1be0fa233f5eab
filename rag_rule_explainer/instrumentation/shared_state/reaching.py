"""What can be reached from a search or an application: what objects hold and what functions enclose."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from inspect import getattr_static
from itertools import islice
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias, cast
from weakref import CallableProxyType, ProxyType

from ...probing.whose import is_named_as_ours, is_users
from ..registered import frameworks

_MOST = 500
"""Things that are looked at from a search on."""
_MOST_INSIDE = 50
"""Of a container."""
FRAMEWORKS = tuple(frameworks())
"""Packages whose objects hold objects of the user; their own attributes are their own affair."""
LEAVES = (str, bytes, int, float, bool, type(None), type, ModuleType, CodeType)
_CONTAINERS = (list, dict, set, deque)
"""Collections that a run may add to."""

Place: TypeAlias = tuple[str, Any, bool]
"""A name under which a thing holds another one, which one, and whether a run may set it."""


def reached(*starts: object) -> Iterator[object]:
    """Yields these things and what can be reached from them, each once; not all, where there are many."""
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
    """Returns how much a collection holds; None for what a run cannot add to."""
    return len(cast("list[Any]", thing)) if isinstance(thing, _CONTAINERS) else None


def latest_in(container: object) -> Iterable[Any]:
    """Returns what was added to a collection last, as far as it keeps the order."""
    by_key = isinstance(container, dict)
    held = cast("dict[Any, Any]", container).values() if by_key else cast("list[Any]", container)
    return list(held)[-_MOST_INSIDE:]


def is_opaque(thing: object) -> bool:
    """Returns True iff a thing stands for another one, such as a weak reference or a context's object:
    asking it for anything may fail, even for its class. So it is of one where that does fail."""
    kind = type(thing)
    if kind in (ProxyType, CallableProxyType):
        return True
    if any("__class__" in vars(each) for each in kind.__mro__ if each is not object):
        return True
    try:
        _ = thing.__class__, getattr(thing, "__dict__", None)
    except Exception:  # whatever an object of the user's raises that is asked
        return True
    return False


def places(thing: object) -> list[Place]:
    """Returns what a thing refers to, as far as that is the application's and not a library's own.

    Nothing, where the thing does not let itself be looked at.
    """
    try:
        return [place for place in _places(thing) if not is_opaque(place[1])]
    except Exception:  # whatever an object of the user's raises that is looked at
        return []


def _places(thing: object) -> Iterator[Place]:
    if isinstance(thing, FunctionType):
        yield from _of_function(thing)
    elif isinstance(thing, MethodType):
        yield "self", thing.__self__, False
        yield "function", thing.__func__, False
    elif isinstance(thing, partial):
        whole = cast("partial[Any]", thing)
        yield "function", whole.func, False
        yield "arguments", [*whole.args, *whole.keywords.values()], False
    elif isinstance(thing, dict):
        # As a dict holds them, whatever a subclass does when it is asked.
        entries: Iterable[tuple[Any, Any]] = dict[Any, Any].items(cast("dict[Any, Any]", thing))
        yield from ((str(key), value, False) for key, value in list(islice(entries, _MOST_INSIDE)))
    elif isinstance(thing, (list, tuple)):
        items = list(cast("list[Any]", thing))[:_MOST_INSIDE]
        yield from ((str(place), value, False) for place, value in enumerate(items))
    else:
        yield from _of_object(thing)


def _of_object(thing: object) -> Iterator[Place]:
    kind = type(thing)
    is_own = is_users(kind.__module__)
    if not is_own and not kind.__module__.startswith(FRAMEWORKS):
        return  # a client of a service, a lock, a socket: what it keeps is no result of the user's
    held = _held_by(thing)
    for name, value in list(held.items()):
        # What is computed once is the same in every run.
        yield name, value, is_own and not isinstance(getattr_static(kind, name, None), cached_property)
    if is_own:
        for name, value in list(vars(kind).items()):
            if not name.startswith("__"):
                yield name, value, True


def _of_function(function: FunctionType) -> Iterator[Place]:
    if not is_users(function.__module__ or ""):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents, True
        except ValueError:  # not filled yet
            continue
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name], True


def is_ours(thing: object) -> bool:
    """Returns True iff a function, a class or the class of an object is of this package."""
    if isinstance(thing, FunctionType):
        # A function that wraps another one has the other one's __module__.
        module = str(thing.__globals__.get("__name__", ""))
    else:
        module = str((thing if isinstance(thing, type) else type(thing)).__module__)
    return is_named_as_ours(module)


def _held_by(thing: object) -> Mapping[str, Any]:
    """The thing's own attributes, whatever a run would see instead of them."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
