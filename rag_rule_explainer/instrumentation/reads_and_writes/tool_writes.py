"""This module defines the calls of tools that changed what other tools may read."""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple


class ToolWrite(NamedTuple):
    """A ``ToolWrite`` is a call of a tool that changed a variable. ``at``: the moment of the call;
    ``place``: its place in the reply that asked for it."""

    at: int
    key: str
    name: str
    place: int = -1


class EarlierCall(NamedTuple):
    """An ``EarlierCall`` is a call of a tool in a run. ``reply``: the number of the models' replies
    before it; ``place``: its place among the calls of the last of them; ``at``: a number that is higher
    for later calls. They are sorted as a run makes them that makes one call at a time."""

    reply: int
    place: int
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


def may_write(writes: Collection[ToolWrite], known: Collection[str]) -> Callable[[EarlierCall], bool]:
    """Returns a function that returns True iff a call is one of ``writes``, or may write as they do: a
    call of the same tools that the baseline did not make. ``known``: the keys of the baseline's calls."""
    keys, names = {each.key for each in writes}, {each.name for each in writes}
    return lambda call: call.key in keys or (call.name in names and call.key not in known)


def are_same_calls(one: Iterable[EarlierCall], other: Iterable[EarlierCall]) -> bool:
    """Returns True iff these are the same calls, in the same order."""
    return [each.key for each in sorted(one)] == [each.key for each in sorted(other)]
