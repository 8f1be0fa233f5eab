"""How what holds bytes or text as a whole is read and written in place: streams in memory, arrays,
buffers."""

import sys
from typing import Any, cast

from .values import is_plain

_LARGEST = 1_000_000
"""Bytes of a buffer that is kept."""


def read_stream(thing: Any) -> tuple[Any, int] | None:
    """Returns what a stream holds and where it stands; None for one that is closed."""
    return None if thing.closed else (thing.getvalue(), thing.tell())


def write_stream(thing: Any, content: tuple[Any, int] | None) -> None:
    """Makes a stream hold that again, unless one of both was closed."""
    if content is not None and not thing.closed:
        thing.seek(0)
        thing.truncate()
        thing.write(content[0])
        thing.seek(content[1])


def write_array(thing: Any, content: bytes) -> None:
    """Makes an array hold these bytes."""
    del thing[:]
    thing.frombytes(content)


def is_buffer(thing: object) -> bool:
    """Returns True iff an object lets its bytes be written in place, and there are not too many."""
    if is_plain(thing) or isinstance(thing, (type, tuple)):
        return False
    try:
        with memoryview(cast("Any", thing)) as view:
            return not view.readonly and view.contiguous and view.nbytes <= _LARGEST
    except (TypeError, ValueError, BufferError):
        return False


def is_of_numpy(thing: Any) -> bool:
    """Returns True iff it is an array of numpy's that can be kept as bytes."""
    numpy: Any = sys.modules.get("numpy")
    return (
        numpy is not None
        and isinstance(thing, numpy.ndarray)
        and not thing.dtype.hasobject
        and thing.nbytes <= _LARGEST
    )


def write_numpy(thing: Any, content: bytes) -> None:
    """Makes an array of numpy's hold these bytes."""
    numpy: Any = sys.modules["numpy"]
    thing[...] = numpy.frombuffer(content, dtype=thing.dtype).reshape(thing.shape)


def read_buffer(thing: Any) -> bytes:
    """Returns the bytes of a buffer."""
    with memoryview(thing) as view:
        return view.tobytes()


def write_buffer(thing: Any, content: bytes) -> None:
    """Makes a buffer hold these bytes, unless it has another size by now."""
    with memoryview(thing) as view:
        if view.nbytes == len(content):
            with view.cast("B") as plain:
                plain[:] = content
