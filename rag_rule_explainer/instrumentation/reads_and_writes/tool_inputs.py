"""This module records what the tools of the baseline could read besides the model's arguments, and finds
out whether an equal call of a replay would read the same.

A tool that does not run in replays changes nothing there. So if such a tool changed a variable in the
baseline, the values of the variable are not compared. Instead, the replay must have made the same calls
that changed it before.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..comparable import are_same
from ..isolation.unheard import unheard_by_hook
from .file_reads import KnownFiles, RunFiles
from .noted_reads import AskingReply, GivenToTool, NotedReads, ReadPath, StoreRead
from .outside_reads import PROGRAMS, is_outside
from .reached import Reached
from .reached_state import reached_state
from .read_paths import files_of, is_made_late, path_said, paths_of, reached_variables
from .store_writes import StorePlace, are_related, are_same_writes
from .tool_variables import ChangedVariables, ToolVariables
from .tool_writes import EarlierCall, OtherInput, ToolWrite, are_same_calls, may_write, writers_in


@dataclass(frozen=True, slots=True)
class CallInputs:
    """A ``CallInputs`` is what one call of the baseline could read. ``reads``: what it was given;
    ``state``: what its code reaches; ``tool``: the tool, or its function; ``asked``: the reply that asked
    for it."""

    tool: object
    reads: NotedReads
    state: Mapping[ReadPath, Reached]
    asked: AskingReply


class _Replay(NamedTuple):
    """A ``_Replay`` is a replay at a call that equals one of the baseline. ``at``, ``reply``: the moment
    of the call in the baseline, and the number of replies before it; ``made``: the calls of the replay
    before it; ``is_same_reply``: True if the same reply asked for the call; ``known``: the files of the
    replay; ``given``: with what it is called."""

    at: int
    reply: int
    made: Sequence[EarlierCall]
    is_same_reply: bool
    known: KnownFiles
    given: GivenToTool

    @property
    def running(self) -> Collection[str]:
        """Returns the names of the tools that run in the replay."""
        return self.known.running or ()


@dataclass(slots=True, eq=False)
class ToolInputs:
    """A ``ToolInputs`` records the ``CallInputs`` of a baseline. Thread-safe."""

    _calls: dict[int, CallInputs] = field(default_factory=dict[int, CallInputs])
    _made: list[EarlierCall] = field(default_factory=list[EarlierCall])
    _variables: ToolVariables = field(default_factory=ToolVariables)
    _stored: dict[StorePlace, set[ToolWrite]] = field(default_factory=dict[StorePlace, set[ToolWrite]])
    _kept: list[object] = field(default_factory=list[object])
    begun: float = 0.0
    """The time at which the baseline began, as files have it."""
    _files: RunFiles = field(default_factory=RunFiles)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, tool: object, given: GivenToTool) -> CallInputs:
        """Returns what a call that begins could read."""
        self._files = given.files
        state = reached_state(tool, self._kept, self._known())
        reads = NotedReads(given=given.values, stores=given.stores)
        inputs = CallInputs(tool, reads, state, given.asked)
        for path, value in given.whole.items():
            inputs.reads.note(path, value)
        self._variables.begin(inputs.state.values())
        return inputs

    def end(self, inputs: CallInputs, write: ToolWrite) -> None:
        """Records what a call could read, and which variables have changed since it began."""
        after = reached_state(inputs.tool, self._kept, self._known())
        used = inputs.reads.files
        before, now = files_of(used, used.before), files_of(used, used.read_now(self._known()))
        variables = self._of_variables(inputs.reads, self._known())
        self._note_outside(inputs)
        with self._guard:
            inner = {at for at, each in self._calls.items() if each.reads.files.outer is used}
            self._calls[write.at] = inputs
            self._made.append(
                EarlierCall(inputs.asked.number, write.place, write.at, write.key, write.name)
            )
            for place in inputs.reads.wrote:
                self._stored.setdefault(place, set()).add(write)
        pairs = (*paths_of(inputs.state, after), *paths_of(before, now), *paths_of(*variables))
        for _, (one, other) in pairs:
            self._variables.end(one, other, write, inner)

    def _note_outside(self, inputs: CallInputs) -> None:
        """Records what a call used outside of this process, as reads of stores, and writes to them."""
        for place, writes in inputs.reads.outside.places(inputs.tool):
            inputs.reads.in_stores.setdefault(place, StoreRead(place, []))
            if writes:
                inputs.reads.wrote.add(place)

    def _known(self, files: RunFiles | None = None, running: Collection[str] | None = None) -> KnownFiles:
        return KnownFiles(self._files, files or self._files, self.begun, running)

    def _of_variables(
        self, reads: NotedReads, known: KnownFiles
    ) -> tuple[Mapping[ReadPath, Reached], Mapping[ReadPath, Reached]]:
        """Returns the environment variables that a call has used, as they were before it, and as they
        are."""
        used = reads.variables
        found = (reached_variables(each, used.read, known) for each in (used.before, used.now()))
        return next(found), next(found)

    def why_other(
        self,
        at: int,
        tool: object,
        given: GivenToTool,
        made: Sequence[EarlierCall],
        running: Collection[str],
    ) -> OtherInput | None:
        """Returns something that a call of a replay would read otherwise than the equal call of the
        baseline; None if there is nothing. ``at``: the moment of the baseline's call; ``made``: the calls
        that the replay made before; ``running``: the tools that run in the replay."""
        inputs = self._calls.get(at)
        if inputs is None:
            return None
        is_same_reply = bool(inputs.asked.calls) and given.asked.calls == inputs.asked.calls
        known, used = self._known(given.files, running), inputs.reads.files
        replay = _Replay(at, inputs.asked.number, made, is_same_reply, known, given)
        for path in {**inputs.reads.found, **inputs.reads.in_stores}:
            writes = self._written_in_store(path, inputs.reads)
            if not self._reads_same(path, inputs.reads, writes, replay):
                return OtherInput(path_said(path), writers_in(writes))
        now = reached_state(tool, self._kept, known)
        files = used.read_now(known)
        pairs = (
            *paths_of(inputs.state, now),
            *paths_of(files_of(used, used.before), files_of(used, files)),
            *paths_of(*self._of_variables(inputs.reads, known)),
        )
        for path, (before, after) in pairs:
            if not (before.is_read or after.is_read):
                continue
            changed = self._variables.changed((before, after), replay.running)
            if not self._is_same(before, after, changed, replay):
                return OtherInput(path_said(path), writers_in(_not_running(changed.writes, replay)))
        return None

    def written_reads(self, name: str) -> Iterator[tuple[ReadPath, Collection[ToolWrite]]]:
        """Yields what the calls of a tool have read in the baseline, each with the calls of tools that
        wrote it."""
        with self._guard:
            own = [self._calls[each.at] for each in self._made if each.name == name]
        for each in own:
            used, (variables, _) = each.reads.files, self._of_variables(each.reads, self._known())
            for path in each.reads.in_stores:
                yield path, self._written_in_store(path, each.reads)
            reached = (each.state, files_of(used, used.before), variables)
            for path, value in (pair for held in reached for pair in held.items()):
                if value.is_read and not value.is_coarse:
                    yield path, self._variables.of(value).writes

    def reads_now(
        self, tool: object, files: RunFiles, running: Collection[str]
    ) -> Iterator[tuple[ReadPath, Collection[ToolWrite]]]:
        """Yields what the code of a tool reaches in a replay, as ``written_reads`` does. ``files``: those
        of the replay; ``running``: the names of the tools that run in it."""
        for path, value in reached_state(tool, self._kept, self._known(files, running)).items():
            if value.is_read and not value.is_coarse:
                yield path, self._variables.of(value).writes

    @property
    def writes(self) -> set[ToolWrite]:
        """Returns the calls that changed a variable or a file, or wrote to a store."""
        with self._guard:
            stored = list(self._stored.values())
        return {*self._variables.writes, *(write for made in stored for write in made)}

    @property
    def written_to_stores(self) -> set[ToolWrite]:
        """Returns the calls that wrote to a store of a framework."""
        with self._guard:
            stored = [made for place, made in self._stored.items() if not is_outside(place)]
        return {write for made in stored for write in made}

    def _written_in_store(self, path: ReadPath, reads: NotedReads) -> Collection[ToolWrite]:
        """Returns the calls of tools that wrote to a store where this was read."""
        read = reads.in_stores.get(path)
        return () if read is None else self.written_at(read.place)

    def written_at(self, place: StorePlace) -> set[ToolWrite]:
        """Returns the calls of tools that wrote to a store what a read at a place may find."""
        with self._guard:
            stored = [made for known, made in self._stored.items() if are_related(known, place)]
        files = self._variables.written_files if place == PROGRAMS else ()
        return {*files, *(write for made in stored for write in made)}

    def written_in(self, path: str) -> set[ToolWrite]:
        """Returns the calls of tools that wrote to a file, or to one in a folder. ``path``: that of the
        file or the folder, whose name may be another one if it is temporary."""
        return self._variables.written_in(path)

    def _reads_same(
        self, path: ReadPath, reads: NotedReads, writes: Collection[ToolWrite], replay: _Replay
    ) -> bool:
        read, stores = reads.in_stores.get(path), replay.given.stores
        idle = _not_running(writes, replay)
        if read is not None and idle and self._is_as_made(writes, replay):
            is_of_others = not stores.of_tools(read.place)
            if is_of_others and are_same_writes(read.others, stores.of_others(read.place)):
                return True
        # What the recorded calls wrote is missing in the replay, so its content says nothing after them.
        is_missing = any(map(self._may_write(idle), replay.made))
        if path not in reads.found:
            return not writes
        return not is_missing and _is_found_again(replay.given, path, reads.found[path])

    def _is_same(
        self, before: Reached, after: Reached, changed: ChangedVariables, replay: _Replay
    ) -> bool:
        files = {*before.files, *after.files}
        if is_made_late(before, after) or is_made_late(after, before):
            return True
        if not changed.writes:
            return before.content == after.content or are_same(before.content, after.content)
        if before.is_coarse or after.is_coarse:
            return True  # nothing shows that the tool reads the part that another tool has changed
        if files:
            is_of_tools = all(each[1] not in replay.known.now.writers for each in files)
            return is_of_tools and self._is_as_made(changed.writes, replay)
        # The content may be equal only because the baseline's calls still have their effect.
        return self._is_as_made(changed.writes, replay) and changed.is_of_tools(
            before, after, replay.running
        )

    def _is_as_made(self, writes: Collection[ToolWrite], replay: _Replay) -> bool:
        """Returns True iff a replay has made the calls that write this as the baseline has before the
        call, and in the same order. Calls of one reply may be made at once, in any order. So if the
        replay's reply has the same calls, it does not matter which of them have been made."""
        writing, now = self._may_write(writes), replay.given.asked.number
        with self._guard:
            before = [each for each in self._made if writing(each) and each.at < replay.at]
        made = [each for each in replay.made if writing(each)]
        if replay.is_same_reply:
            before = [each for each in before if each.reply < replay.reply]
            made = [each for each in made if each.reply < now]
        return are_same_calls(before, made)

    @property
    def called(self) -> Mapping[str, str]:
        """Returns the keys of the baseline's calls, each with the name of its tool."""
        with self._guard:
            return {each.key: each.name for each in self._made}

    def _may_write(self, writes: Collection[ToolWrite]) -> Callable[[EarlierCall], bool]:
        return may_write(writes, self.called.keys())


def _not_running(writes: Collection[ToolWrite], replay: _Replay) -> list[ToolWrite]:
    return [each for each in writes if each.name not in replay.running]


def _is_found_again(given: GivenToTool, path: ReadPath, content: Any) -> bool:
    try:
        now = NotedReads()
        with unheard_by_hook():
            now.note(path, given.now(path))
    except Exception:  # whatever the framework or the user's code raises, the value is not known
        return False
    return are_same(content, now.found[path])
