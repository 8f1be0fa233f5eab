"""This module describes, as a text, the state of objects whose content has no names: iterators, queues
and buffers.

If two descriptions of the same object differ, the object's state has changed in between. Making a
description does not change the object.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from hashlib import blake2b
from itertools import count, islice
from types import GeneratorType
from typing import Any, cast

from ..copies.hidden_warnings import warnings_hidden
from ..copies.live import entries_now, members_now

_MOST_ENTRIES = 1000
_MOST_INSIDE = 50
_DEEPEST = 3
"""The maximum depth to which the nested values of a queue's entry are compared. At each depth, the first
``_MOST_INSIDE`` values are compared."""
_SHOWN = 40
_unknown = count()


class Position(str):
    """A ``Position`` is a text that says how far an iterator was read. A run that reads a shared iterator
    continues where the earlier run stopped, so the position is state that one run leaves to the next."""

    __slots__ = ()


def position_of(thing: object) -> Position | None:
    """Returns the position of an iterator or a generator; None for anything else."""
    if isinstance(thing, GeneratorType):
        frame = cast("Any", thing).gi_frame
        if frame is None:
            return Position("ended")
        plain = {k: v for k, v in frame.f_locals.copy().items() if isinstance(v, (str, int, float))}
        return Position(f"{frame.f_lasti} {sorted(plain.items())}")
    kind = type(thing)
    if kind.__module__ not in {"builtins", "itertools"} or not isinstance(thing, Iterator):
        return None
    if "__repr__" in vars(kind):
        return Position(repr(cast("object", thing)))
    try:
        # From Python 3.12 on, iterators of ``itertools`` warn that they will have no ``__reduce__``.
        with warnings_hidden() if kind.__module__ == "itertools" else nullcontext():
            return Position(_digest(thing.__reduce__()))
    except Exception:  # some iterators have no usable ``__reduce__``
        return None


def state_text_of(thing: object) -> str:
    """Returns a text that describes the state of a queue, lock, buffer, in-memory stream or cache; an
    empty text for any other object."""
    return next((state for ask in _WAYS if (state := _asked(ask, thing))), "")


def _asked(ask: Callable[[object], str], thing: object) -> str:
    try:
        return ask(thing)
    except Exception:  # the object may be closed
        return ""


def _of_a_buffer(thing: object) -> str:
    if isinstance(thing, bytes):
        return ""
    view = memoryview(cast("Any", thing))
    return blake2b(view.tobytes(), digest_size=8).hexdigest() if view.nbytes <= 10_000_000 else ""


def _of_a_stream(thing: object) -> str:
    if isinstance(thing, (io.StringIO, io.BytesIO)):
        return _digest((thing.getvalue(), thing.tell()))
    return ""


def _of_a_queue(thing: Any) -> str:
    """Returns a text that shows the number and the order of a queue's entries. Entries with equal
    content, such as two connections to one database, look the same in the text."""
    size = thing.qsize()
    entries: Any = getattr(thing, "queue", None)
    if entries is None:
        entries = getattr(thing, "_queue", None)
    if entries is not None:
        return f"{size} {_digest([_content(each, 0) for each in members_now(entries, _MOST_ENTRIES)])}"
    # The entries of a SimpleQueue cannot be read, so their order counts as changed.
    return str(size) if size < 2 else f"{size} {next(_unknown)}"


def _content(value: Any, depth: int) -> object:
    """Returns a comparable description of a value in a queue's entry: a text or a number itself; for any
    other object, its class and its attributes. ``depth``: the depth of the value in the entry."""
    kind = cast("type[Any]", type(value))
    if value is None or isinstance(value, (str, bytes, int, float, bool, type)):
        return value
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return [
            _content(each, depth + 1) for each in members_now(cast("Iterable[Any]", value), _MOST_INSIDE)
        ]
    inside = cast("dict[Any, Any]", value if isinstance(value, dict) else getattr(value, "__dict__", {}))
    entries = entries_now(inside, _MOST_INSIDE).items() if depth < _DEEPEST else ()
    return kind.__qualname__, [(str(name), _content(each, depth + 1)) for name, each in entries]


_ASKED: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("qsize", _of_a_queue),
    ("is_set", lambda thing: thing.is_set()),
    ("locked", lambda thing: thing.locked()),
    ("getstate", lambda thing: _digest(thing.getstate())),
    ("cache_info", lambda thing: thing.cache_info().currsize),
    ("is_alive", lambda thing: thing.is_alive()),
    ("done", lambda thing: thing.done()),
)
_MODULES = {"queue", "_queue", "threading", "_thread", "asyncio", "random", "functools", "concurrent"}


def _by_methods(thing: object) -> str:
    if str(type(thing).__module__).split(".")[0] not in _MODULES:
        return ""
    return next((f"{name} {ask(thing)}" for name, ask in _ASKED if hasattr(thing, name)), "")


def _by_attributes(thing: object) -> str:
    if str(type(thing).__module__).split(".")[0] not in {
        *_MODULES,
        "collections",
        "types",
        "_collections_abc",
    }:
        return ""
    held: dict[str, Any] = vars(thing).copy()
    return _digest(sorted((name, repr(value)) for name, value in islice(held.items(), _MOST_ENTRIES)))


_WAYS = (_of_a_buffer, _of_a_stream, _by_methods, _by_attributes)


def _digest(thing: object) -> str:
    return (
        repr(thing)[:_SHOWN] + blake2b(repr(thing).encode("utf-8", "replace"), digest_size=8).hexdigest()
    )
