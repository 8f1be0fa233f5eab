"""This module reads what lies deep inside an object of a library, such as the rules of a parser, if the
application's code calls a method of the object that sets something.

The search for the application's objects follows only few objects of libraries, because these hold much
that changes at any time. An object that code changes by ``enable`` or ``add_rule`` is read to a greater
depth here. It is compared and never restored.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any, cast

from ..shared_state.per_class import per_class
from ..shared_state.reaching import FRAMEWORKS, is_opaque, is_ours
from .c_objects import COMMON, OF_SETTERS, state_inside
from .companies import is_of_own, is_own
from .owners import package_of
from .reachable import FROM_A_LIBRARY
from .values import held_by, is_plain

_MOST = 3000
"""The maximum number of objects that are read inside of one object."""
_OF_LOGS = frozenset(
    {
        *("tqdm", "rich", "prometheus_client", "opentelemetry", "structlog", "loguru", "logfire"),
        *("langsmith", "langfuse", "sentry_sdk", "openinference", "datadog", "ddtrace", "statsd"),
    }
)
"""Packages by which code reports what it does; their objects change with every report."""
_OF_CONNECTIONS = frozenset(
    {"httpx", "httpcore", "requests", "urllib3", "aiohttp", "websockets", "grpc", "botocore", "psycopg"}
)
"""Packages of connections. An object that holds one is a client of a service: what is inside of it
changes with every request."""
_READ_ELSEWHERE = frozenset({"numpy", "pandas", "pydantic", "sqlite3"})
_CLIENT = object()
"""This object says that a connection was found."""
_COLLECTIONS: Any = (list, tuple, set, frozenset, deque)
_MAPPING: Any = Mapping


def asked_inside(thing: object, named: frozenset[str]) -> Iterator[Callable[[Any], object]]:
    """Yields a function that reads what lies inside of an object of a library, if the application's code
    names a method of its class that sets something. ``named``: the names in this code."""
    if not named.isdisjoint(_setting_methods(type(thing))):
        yield lambda held: _hash_of(held, named)


def _hash_of(thing: object, named: frozenset[str]) -> int | None:
    found = [*_read(thing, named)]
    return None if _CLIENT in found else hash(repr(found))


@per_class
def _setting_methods(kind: type) -> frozenset[str]:
    package = str(kind.__module__).partition(".")[0]
    is_read = package in sys.stdlib_module_names or package in _OF_LOGS | _READ_ELSEWHERE
    if is_read or package.startswith(FRAMEWORKS) or is_own(str(kind.__module__)):
        return frozenset()
    return frozenset(
        name
        for each in kind.__mro__[:-1]
        for name, member in vars(each).copy().items()
        if isinstance(member, FunctionType) and OF_SETTERS.match(name) and name not in COMMON
    )


def _read(thing: object, named: frozenset[str]) -> Iterator[object]:
    """Yields the texts and numbers deep inside of an object in the order in which they are found. An
    object of the user's, a function and a class count by their identity."""
    waiting, seen = deque[tuple[Any, int]]([(thing, 1)]), set[int]()
    while waiting and len(seen) < _MOST:
        each, steps = waiting.popleft()
        if package_of(each) in _OF_CONNECTIONS:
            yield _CLIENT
            return
        if is_plain(each):
            if steps > FROM_A_LIBRARY:  # what is nearer is restored
                yield type(each).__name__, each
        elif id(each) in seen or is_opaque(each) or is_ours(each):
            continue
        elif isinstance(each, (FunctionType, type)) or (is_of_own(each) and each is not thing):
            yield id(each)
        else:
            seen.add(id(each))
            yield from state_inside(each, named)
            is_collection = isinstance(each, (_MAPPING, *_COLLECTIONS))
            waiting += ((inner, steps + (not is_collection)) for inner in _held(each))


def _held(thing: Any) -> list[Any]:
    kind = cast("type[object]", type(thing))
    if isinstance(thing, _MAPPING):
        return [kind.__name__, *(each for entry in tuple(thing.items()) for each in entry)]
    if isinstance(thing, (set, frozenset)):
        # The order of a set differs between equal sets, so only its size and plain members count.
        plain = sorted(repr(each) for each in cast("set[Any]", thing) if is_plain(each))
        return [kind.__name__, len(cast("set[Any]", thing)), *plain]
    if isinstance(thing, _COLLECTIONS):
        return [kind.__name__, *tuple(thing)]
    if kind.__module__.partition(".")[0] in sys.stdlib_module_names:
        return []  # locks, patterns, streams and the like
    return [*(held_by(thing) or getattr(thing, "__dict__", None) or {}).values()]
