"""This module reads and writes the whole content of in-memory streams, arrays and buffers."""

import sys
from collections.abc import Iterator
from typing import Any, cast

from ..copies.live import entries_now
from ..shared_state.per_class import per_class
from .values import is_plain

_LARGEST = 1_000_000
"""The size in bytes of the largest buffer whose content is copied."""


def read_stream(thing: Any) -> tuple[Any, int] | None:
    """Returns the content and the position of a stream; None if it is closed."""
    return None if thing.closed else (thing.getvalue(), thing.tell())


def write_stream(thing: Any, content: tuple[Any, int] | None) -> None:
    """Restores the content and the position of a stream. Does nothing if the stream is closed now, or was
    closed when it was read."""
    if content is not None and not thing.closed:
        thing.seek(0)
        thing.truncate()
        thing.write(content[0])
        thing.seek(content[1])


def write_array(thing: Any, content: bytes) -> None:
    """Replaces the content of an array by these bytes."""
    del thing[:]
    thing.frombytes(content)


@per_class
def _is_of_c(kind: type) -> bool:
    return any(each.__module__ == "_ctypes" for each in kind.__mro__)


def is_of_c(thing: object) -> bool:
    """Returns True iff the object is one of ``ctypes``, such as a pointer, which may refer to others."""
    return _is_of_c(type(thing))


def memory_of_c(thing: Any) -> Iterator[Any]:
    """Yields the objects to whose memory an object of ``ctypes``, such as a pointer, refers. The object
    keeps them under names of its own, which say nothing about the code that uses them."""
    waiting: list[Any] = [getattr(thing, "_objects", None)]
    while waiting:
        held = waiting.pop()
        if type(held) is dict:
            waiting += entries_now(cast("dict[Any, Any]", held)).values()
        elif held is not None:
            yield held


@per_class
def _has_none(_: type) -> list[bool]:
    """Returns the list of this class; every call for the same class returns the same list. The list is
    empty at first. ``is_buffer`` adds an entry after it has found that objects of the class are no
    buffers, and then does not try again."""
    return []


def is_buffer(thing: object) -> bool:
    """Returns True iff the object is a writable buffer of at most ``_LARGEST`` bytes."""
    if is_plain(thing) or isinstance(thing, (type, tuple)):
        return False
    has_none = _has_none(type(thing))
    if has_none:
        return False
    try:
        with memoryview(cast("Any", thing)) as view:
            return not view.readonly and view.contiguous and view.nbytes <= _LARGEST
    except TypeError:
        has_none.append(True)
        return False
    except (ValueError, BufferError):
        return False


def is_of_numpy(thing: Any) -> bool:
    """Returns True iff the object is a NumPy array whose content can be copied as bytes: it contains no
    Python objects, and has at most ``_LARGEST`` bytes."""
    numpy: Any = sys.modules.get("numpy")
    return (
        numpy is not None
        and isinstance(thing, numpy.ndarray)
        and not thing.dtype.hasobject
        and thing.nbytes <= _LARGEST
    )


def write_numpy(thing: Any, content: bytes) -> None:
    """Replaces the content of a NumPy array by these bytes."""
    numpy: Any = sys.modules["numpy"]
    thing[...] = numpy.frombuffer(content, dtype=thing.dtype).reshape(thing.shape)


def read_buffer(thing: Any) -> bytes:
    """Returns the bytes of a buffer."""
    with memoryview(thing) as view:
        return view.tobytes()


def write_buffer(thing: Any, content: bytes) -> None:
    """Replaces the content of a buffer by these bytes, unless its size has changed."""
    with memoryview(thing) as view:
        if view.nbytes == len(content):
            with view.cast("B") as plain:
                plain[:] = content
