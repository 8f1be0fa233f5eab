"""This module records what the tools of the baseline could read besides the model's arguments, and finds
out whether an equal call of a replay would read the same.

A tool that does not run in replays changes nothing there. So if such a tool changed a variable in the
baseline, the values of the variable are not compared. Instead, the replay must have made the same calls
that changed it before.
"""

import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from time import time
from typing import Any, NamedTuple

from .comparable import Opaque, Unreadable, are_same
from .noted_reads import AskingReply, GivenToTool, NotedReads, ReadPath
from .reached_state import Holder, Reached, reached_state

_NONE = Reached(None, (), is_read=False)
"""This value is in place of a variable that does not exist."""


class ToolWrite(NamedTuple):
    """A ``ToolWrite`` is a call of a tool that changed a variable. ``at``: the moment of the call."""

    at: int
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class CallInputs:
    """A ``CallInputs`` is what one call of the baseline could read. ``reads``: what it was given;
    ``state``: what its code reaches; ``tool``: the tool, or its function; ``asked``: the reply that asked
    for it."""

    tool: object
    reads: NotedReads
    state: Mapping[ReadPath, Reached]
    asked: AskingReply


class _Time(NamedTuple):
    at: int
    reply: int


@dataclass(slots=True, eq=False)
class _Variable:
    """A ``_Variable`` holds what the baseline made of a variable: its first and its last content, and the
    calls of tools that changed it."""

    first: Any
    last: Any
    writes: set[ToolWrite] = field(default_factory=set[ToolWrite])


@dataclass(slots=True, eq=False)
class ToolInputs:
    """A ``ToolInputs`` records the ``CallInputs`` of a baseline. Thread-safe."""

    _calls: dict[int, CallInputs] = field(default_factory=dict[int, CallInputs])
    _times: dict[str, list[_Time]] = field(default_factory=dict[str, list[_Time]])
    _variables: dict[Holder, _Variable] = field(default_factory=dict[Holder, _Variable])
    _kept: list[object] = field(default_factory=list[object])
    _begun: float = field(default_factory=time)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, tool: object, given: GivenToTool) -> CallInputs:
        """Returns what a call that begins could read."""
        state = reached_state(tool, self._kept, self._begun)
        inputs = CallInputs(tool, NotedReads(given=given.values), state, given.asked)
        for path, value in given.whole.items():
            inputs.reads.note(path, value)
        with self._guard:
            for each in inputs.state.values():
                for holder in each.holders:
                    self._variables.setdefault(holder, _Variable(each.content, each.content))
        return inputs

    def end(self, inputs: CallInputs, write: ToolWrite) -> None:
        """Records what a call could read, and which variables have changed since it began."""
        after = reached_state(inputs.tool, self._kept, self._begun)
        with self._guard:
            self._calls[write.at] = inputs
            self._times.setdefault(write.key, []).append(_Time(write.at, inputs.asked.number))
            for _, (before, now) in _paths(inputs.state, after):
                for holder in _changed(before, now):
                    known = self._variables.setdefault(holder, _Variable(before.content, now.content))
                    known.last = now.content
                    known.writes.add(write)

    def why_other(
        self,
        at: int,
        tool: object,
        given: GivenToTool,
        made: Mapping[str, int],
        running: Collection[str],
    ) -> str:
        """Returns the name of something that a call of a replay would read otherwise than the equal call
        of the baseline; empty if there is nothing. ``at``: the moment of the baseline's call; ``made``:
        how often the replay made each call before; ``running``: the tools that run in the replay."""
        inputs = self._calls.get(at)
        if inputs is None:
            return ""
        is_same_reply = bool(inputs.asked.calls) and given.asked.calls == inputs.asked.calls
        for path, content in inputs.reads.found.items():
            if not _reads_same(given, path, content):
                return _said(path)
        for path, (before, now) in _paths(inputs.state, reached_state(tool, self._kept, self._begun)):
            if not (before.is_read or now.is_read) or before.content == now.content:
                continue
            changed = self._changed_by_others((*before.holders, *now.holders), running)
            if changed and (before.is_coarse or now.is_coarse):
                continue  # nothing shows that the tool reads the part that another tool has changed
            if changed:
                is_same = self._is_as_made(changed, _Time(at, inputs.asked.number), made, is_same_reply)
            else:
                is_same = are_same(before.content, now.content)
            if not is_same or not all(_is_of_tools(each, now, running) for each in changed):
                return _said(path)
        return ""

    def _changed_by_others(
        self, holders: Collection[Holder], running: Collection[str]
    ) -> list[_Variable]:
        """Returns the variables that tools changed which do not run in a replay."""
        with self._guard:
            known = [self._variables[each] for each in holders if each in self._variables]
        return [each for each in known if any(write.name not in running for write in each.writes)]

    def _is_as_made(
        self, variables: Collection[_Variable], time: _Time, made: Mapping[str, int], is_same_reply: bool
    ) -> bool:
        """Returns True iff a replay has made the same calls that changed the variables as the baseline
        before ``time``. Calls of one reply may be made at once, in any order. So if the replay's reply
        has the same calls (``is_same_reply``), it does not matter which of them have been made."""
        for key in {write.key for each in variables for write in each.writes}:
            earlier = sum(each.at < time.at for each in self._times[key])
            least = sum(each.reply < time.reply for each in self._times[key])
            most = sum(each.reply <= time.reply for each in self._times[key])
            possible = range(least, most + 1) if is_same_reply else (earlier,)
            if made.get(key, 0) not in possible:
                return False
        return True


def _is_of_tools(variable: _Variable, now: Reached, running: Collection[str]) -> bool:
    """Returns True iff nothing but tools has changed a variable: where none of them runs in the replay,
    it is as it was before or after the baseline."""
    if any(each.name in running for each in variable.writes):
        return True
    return any(are_same(now.content, each) for each in (variable.first, variable.last))


def _reads_same(given: GivenToTool, path: ReadPath, content: Any) -> bool:
    try:
        now = NotedReads()
        now.note(path, given.now(path))
    except Exception:  # whatever the framework or the user's code raises, the value is not known
        return False
    return are_same(content, now.found[path])


def _paths(
    one: Mapping[ReadPath, Reached], other: Mapping[ReadPath, Reached]
) -> Iterator[tuple[ReadPath, tuple[Reached, Reached]]]:
    for path in {**one, **other}:
        yield path, (one.get(path, _NONE), other.get(path, _NONE))


def _changed(before: Reached, after: Reached) -> Collection[Holder]:
    """Returns the holders of a value if it has changed. A client that is made when it is first needed is
    no change."""
    is_made_late = before.content in (None, (type(None), None)) and isinstance(after.content, Opaque)
    is_unknown = isinstance(before.content, Unreadable) and isinstance(after.content, Unreadable)
    is_changed = not is_made_late and not is_unknown and before.content != after.content
    return {*before.holders, *after.holders} if is_changed else ()


def _said(path: ReadPath) -> str:
    last = f"{str(path[-1])!r}"
    return last if len(path) == 1 else f"{last} of {path[0]}"
