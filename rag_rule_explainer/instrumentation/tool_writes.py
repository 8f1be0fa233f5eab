"""This module defines the calls of tools that changed what other tools may read."""

from collections.abc import Collection
from typing import NamedTuple


class ToolWrite(NamedTuple):
    """A ``ToolWrite`` is a call of a tool that changed a variable. ``at``: the moment of the call."""

    at: int
    key: str
    name: str


class OtherInput(NamedTuple):
    """An ``OtherInput`` is what a call of a replay would read otherwise than the equal call of the
    baseline, in words. ``writers``: the names of other tools that wrote it and that do not run in the
    replay."""

    what: str
    writers: tuple[str, ...] = ()


def writers_in(writes: Collection[ToolWrite]) -> tuple[str, ...]:
    """Returns the names of the tools of these calls, sorted."""
    return tuple(sorted({each.name for each in writes}))
