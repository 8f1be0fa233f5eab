"""This module records the tool calls of the baseline, with their outcomes."""

import threading
from collections.abc import AsyncIterator, Awaitable, Collection, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..tool_calls import ToolCall
from .call_keys import CallKeys
from .executed_calls import ExecutedCall, NotedResult, ToolOutcome
from .named_tools import NamedTools
from .reads_and_writes.changed_in_place import BeforeCall
from .reads_and_writes.noted_reads import GivenToTool
from .reads_and_writes.tool_inputs import CallInputs, ToolInputs
from .reads_and_writes.written_paths import time_of_files
from .requests.exchanges import moment


class RecordedBefore(NamedTuple):
    """A ``RecordedBefore`` is what a tool reaches before it runs: what it may read, and what it may
    change in place."""

    inputs: CallInputs
    places: BeforeCall


@dataclass(slots=True, eq=False)
class ToolRecord:
    """A ``ToolRecord`` stores the outcomes of the tool calls of the baseline. Thread-safe.

    - ``executed``: the calls; ``noted``: their results, in the order in which the tools ended.
      ``failed``: the calls that raised an error, which is in place of a result.
    - ``not_begun``: the calls that failed before the tool began, with their errors: the tool lacks the
      interface (sync or async) that was called.
    - ``keys``: makes the keys of calls. ``tools``: distinguishes tools with the same name.
    - ``changing``: the names of the tools that changed what other code may read. ``held``: the ids of the
      objects before the baseline; None if tools run in replays.
    - ``inputs``: what the tools could read besides the model's arguments.
    - ``faults``: the error message for each tool that a replay may have run although it must not.
    """

    executed: list[ExecutedCall] = field(default_factory=list[ExecutedCall])
    noted: list[NotedResult] = field(default_factory=list[NotedResult])
    failed: list[NotedResult] = field(default_factory=list[NotedResult])
    not_begun: list[tuple[ToolCall, Exception]] = field(default_factory=list[tuple[ToolCall, Exception]])
    keys: CallKeys = field(default_factory=CallKeys)
    tools: NamedTools = field(default_factory=NamedTools)
    changing: set[str] = field(default_factory=set[str])
    held: Collection[int] | None = None
    inputs: ToolInputs = field(default_factory=ToolInputs)
    faults: dict[str, str] = field(default_factory=dict[str, str])
    _numbers: dict[int, int] = field(default_factory=dict[int, int])
    _outcomes: dict[str, list[ToolOutcome]] = field(default_factory=dict[str, list[ToolOutcome]])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def note(
        self,
        call: ToolCall,
        key: str,
        outcome: ToolOutcome,
        replies: int = 0,
        within: tuple[str, ...] = (),
        *,
        is_own: bool = True,
    ) -> None:
        """Records the outcome of a call. A stream is not recorded, because it can be read only once.
        ``key``, ``replies``, ``within``: see ``NotedResult``; ``is_own``: see ``UsedTool``."""
        if isinstance(outcome.result, (Iterator, AsyncIterator, Awaitable)):
            return
        kept = outcome.copy()
        with self._guard:
            known = self._outcomes.setdefault(key, [])
            if is_own:
                result = kept.result if kept.error is None else kept.error
                several, is_error = (self.noted, False) if kept.error is None else (self.failed, True)
                more = (result, replies, within, moment(), is_error)
                several.append(NotedResult(call, key, len(known), *more))
            known.append(kept)

    def key_of(self, name: str, given: object, tool: object, at: int = 0) -> str:
        """Returns the key of a call of the baseline; equal calls have equal keys. ``given``: the
        arguments, and the name of the attribute, such as "func", by which the tool was called; ``tool``:
        the tool, or its function; None if it is not known. ``at``: the moment of the call."""
        number = self._numbers[at] = self.tools.note(name, tool)
        return self.keys.of(name, (number, given))

    @property
    def writing(self) -> set[str]:
        """Returns the names of the tools that changed what other code may read: an object that the run
        made, a variable, a file, or a store of a framework."""
        return {*self.changing, *(each.name for each in self.inputs.writes)}

    def begin(self, held: Collection[int] | None) -> None:
        """Begins to record what tools read. ``held``: see there."""
        self.held = held
        if held is not None:
            self.inputs.begun = time_of_files()

    def reached(self, given: GivenToTool, tool: object) -> RecordedBefore | None:
        """Returns what a tool that is about to run may read, and change in place; None if tools run in
        replays."""
        if self.held is None:
            return None
        return RecordedBefore(self.inputs.begin(tool, given), BeforeCall(given.values, tool, self.held))

    def note_retrieving(self, at: int) -> None:
        """Records that the tool that was called at this moment retrieves, and those that called it."""
        calls = {each.at: each for each in self.executed.copy()}
        while at in calls:
            self.tools.note_retrieving(calls[at].call.name, self._numbers.get(at, 0))
            at = calls[at].inside

    def inside(self, at: int) -> list[ExecutedCall]:
        """Returns the tool calls that were made, at any depth, inside another tool call. ``at``: the
        moment of the other call, as a number."""
        own = [each for each in self.executed.copy() if at and each.inside == at]
        return [*own, *(deeper for each in own for deeper in self.inside(each.at))]

    def outcome(self, key: str, place: int) -> ToolOutcome | None:
        """Returns the outcome of the call with this key that has the number ``place`` among equal calls,
        counted from 0. Returns None if the baseline made fewer equal calls."""
        with self._guard:
            known = self._outcomes.get(key, [])
            return known[place] if place < len(known) else None
