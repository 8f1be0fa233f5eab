"""This module finds the objects inside generators and coroutines that have not ended."""

from collections.abc import Iterator
from typing import Any

_KINDS = (("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await"), ("cr_frame", "cr_await"))


def suspended_in(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yields the local variables of a generator or coroutine that has not ended, by name. Also yields the
    generator or coroutine for which it waits, without a name."""
    for frame_name, inner_name in _KINDS:
        frame: Any = getattr(thing, frame_name, None)
        if frame is not None:
            yield from frame.f_locals.copy().items()
            inner: Any = getattr(thing, inner_name, None)
            if inner is not None:
                yield "", inner
