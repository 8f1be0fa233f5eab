"""This module records the results of tools in the baseline, and answers the tool calls of replays from
the record, so that no tool runs again.

Tools that retrieve are an exception: they run in replays, and their searches get the recorded results of
the baseline's searches, without the omitted sources.
"""

import threading
import traceback
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..probing.whose import is_named_as_ours
from ..tool_calls import ToolCall
from .bounds import ReplayEnded
from .ended_replays import NEW_CALL, SAME_TEXT, missing_input, new_call, other_input, read_outside
from .executed_calls import Omits, ToolOutcome
from .forked_children import ForkedChildren
from .made_tools import MadeTools
from .named_tools import OF_ANOTHER_TOOL
from .reads_and_writes.missing_writes import missing_for_tool, missing_writers
from .reads_and_writes.noted_reads import GivenToTool, reads_in_use
from .reads_and_writes.outside_reads import outside_said
from .reads_and_writes.store_writes import StorePlace
from .reads_and_writes.tool_writes import EarlierCall, OtherInput, ToolWrite
from .shared_state.reaching import FRAMEWORKS
from .tool_record import RecordedBefore, ToolRecord

OnNewToolCall: TypeAlias = Literal["unknown", "live"] | Callable[[ToolCall], Any]
"""The treatment of a tool call that the baseline did not make: "unknown" ends the replay, "live" runs the
tool, a function returns its result."""
_PATIENCE = 20
"""The number of ``NewToolCall`` errors that an application may catch. The next error is a
``ReplayEnded``, which the application cannot catch by ``except Exception``."""


class NewToolCall(Exception):
    """This error ends a replay at a tool call that the baseline did not make."""


@dataclass(slots=True, eq=False)
class ToolReplay:
    """A ``ToolReplay`` answers the tool calls of one replay. Thread-safe."""

    record: ToolRecord
    """The calls of the baseline."""
    retrieving: Collection[str] = ()
    """The names of the tools that retrieve, which always run."""
    safe: Collection[str] = ()
    """The names of the tools that the user named safe, which run if the record has no result."""
    on_new: OnNewToolCall = "unknown"
    """The outcome of a call that is not in the record; see ``OnNewToolCall``."""
    omitting: Omits | None = None
    """The object that removes omitted sources from results; None if no result contains sources."""
    again: Collection[str] = ()
    """The names of the tools that run although the record has a result."""
    cut: str = ""
    """The reason why the replay was ended; empty if the replay was not ended."""
    late: list[ToolCall] = field(default_factory=list[ToolCall])
    """The tool calls that the application tried to make after the end of the replay."""
    others: dict[str, str] = field(default_factory=dict[str, str])
    """A hint for error messages, by the name of a tool: it says that the baseline called a different tool
    with this name."""
    compares: bool = False
    """True if a recorded result counts only where the tool would read the same as in the baseline."""
    is_other: bool = False
    """True if the replay is on other sources than the baseline's."""
    uncertain: set[str] = field(default_factory=set[str])
    """The names of tools that may differ from the tools of these names that the baseline called."""
    children: ForkedChildren = field(default_factory=ForkedChildren)
    _earlier: list[EarlierCall] = field(default_factory=list[EarlierCall])
    _made: dict[str, int] = field(default_factory=dict[str, int])
    _made_again: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    _refused: int = 0
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def key_of(
        self, name: str, given: object, tool: object, made: MadeTools, *, runs: bool = False
    ) -> str:
        """Returns the key of a call of the replay, which is that of an equal call of the baseline.
        ``made``: the tools that the replay made; ``runs``: True for one that runs. Others: as above."""
        if runs:
            return ""
        found = self.record.tools.recognised(name, tool, made)
        if found.number is None:
            self.others[name] = OF_ANOTHER_TOOL.format(name=name)
        elif not found.is_sure:
            self.uncertain.add(name)
        return self.record.keys.of(name, (found.number, given))

    def retrieves(self, name: str, tool: object, made: MadeTools) -> bool:
        """Returns True iff a tool retrieves, so that it runs. ``tool``, ``made``: see ``key_of``."""
        return name in self.retrieving and self.record.tools.retrieves(name, tool, made)

    def outcome(
        self,
        call: ToolCall,
        key: str,
        tool: object = None,
        given: GivenToTool | None = None,
        *,
        retrieves: bool = False,
    ) -> ToolOutcome | None:
        """Returns the outcome that the call gets without a run of its tool; None if the tool is to run.
        Raises NewToolCall if the replay ends here. ``key``: the key of the call, equal for equal
        calls. ``tool``: the tool, or its function; ``given``: with what it is called. ``retrieves``: True
        for a tool that retrieves, which runs."""
        if self.cut:
            self.late.append(call)
        self.check()
        if retrieves:
            self._check_reads(call, self._earlier.copy(), tool, given)
            return None
        place, before = self._counted(call, key, given)
        known = self.record.outcome(key, place)
        if known is not None and call.name in self.again:
            with self._guard:
                self._made_again.setdefault(key, []).append(place)
            self._check_reads(call, before, tool, given)
            return None
        other = None if known is None else self._why_other(known, tool, given, before)
        if known is not None and other is None:
            left = known if self.omitting is None else self.omitting.recorded(key, place, known)
            return left._replace(at=known.at)
        if callable(self.on_new):
            return ToolOutcome(self.lasting(self.on_new(call), call.name))
        if self.on_new == "live" or call.name in self.safe:
            self._check_reads(call, before, tool, given)
            return None
        new = new_call(call) if other is None else other_input(call, other, self.safe)
        self.cut = self.cut or new + self.others.get(call.name, "")
        self.check()
        return None

    def _counted(
        self, call: ToolCall, key: str, given: GivenToTool | None
    ) -> tuple[int, Sequence[EarlierCall]]:
        """Counts a call. Returns the number of equal calls before it, and all calls before it."""
        asked = (given or GivenToTool()).asked
        with self._guard:
            before, place = self._earlier.copy(), self._made.get(key, 0)
            self._made[key] = place + 1
            now = (asked.number, asked.place_of(call), len(before), key, call.name)
            self._earlier.append(EarlierCall(*now))
        return place, before

    def _why_other(
        self, known: ToolOutcome, tool: object, given: GivenToTool | None, made: Sequence[EarlierCall]
    ) -> OtherInput | None:
        if not self.compares:
            return None
        running = {*self.retrieving, *self.again}
        return self.record.inputs.why_other(known.at, tool, given or GivenToTool(), made, running)

    def note_read(self, what: str, writes: Iterable[ToolWrite]) -> None:
        """Ends the replay where code besides the tools reads what recorded calls would have written, as
        that is missing. ``what``: what it reads; ``writes``: the calls of the baseline that wrote it."""
        if not self.is_other or self.cut:
            return
        missing = missing_writers(self.record.inputs, writes, self._earlier.copy(), self._running(""))
        if missing:
            self.cut = read_outside(OtherInput(what, missing), self.safe)

    def note_read_outside(self, place: StorePlace) -> None:
        """Ends the replay where code uses what recorded calls would have changed outside of this
        process. ``place``: that of a service, or of all programs."""
        self.note_read(outside_said(place), self.record.inputs.written_at(place))

    def _check_reads(
        self, call: ToolCall, made: Sequence[EarlierCall], tool: object, given: GivenToTool | None
    ) -> None:
        """Ends the replay at a tool that would run, if it would miss what tools wrote in the baseline."""
        if not self.compares:
            return
        inputs, running = self.record.inputs, self._running(call.name)
        reached = inputs.reads_now(tool, (given or GivenToTool()).files, running)
        missing = missing_for_tool(inputs, call.name, made, running, reached)
        if missing is not None:
            self.cut = self.cut or missing_input(call, missing, self.safe)
            self.check()

    def _running(self, name: str) -> set[str]:
        return {*self.retrieving, *self.again, name}

    def end_at(self, call: ToolCall, why: str = NEW_CALL) -> None:
        """Ends the replay at a call before its tool is reached. Raises ReplayEnded. ``why``: the error
        message, with ``{call}`` and ``{name}`` for the call and the name of its tool."""
        self.cut = self.cut or why.format(call=call, name=call.name)
        raise ReplayEnded(self.cut)

    def lasting(self, result: Any, tool: str, key: str = "") -> Any:
        """Returns the result of ``tool``, which ran, without the omitted sources. ``key``: the key of the
        call, equal for equal calls."""
        with self._guard:
            places = self._made_again.get(key)
            place = places.pop(0) if places else None
        if self.omitting is None:
            return result
        if other := self.omitting.holds_others(result, tool) if place is None else "":
            self.cut = self.cut or SAME_TEXT.format(name=tool, source=other)
            self.check()
        if place is None:
            return self.omitting.new(result, tool)
        return self.omitting.again(key, place, result, tool)

    def check(self) -> None:
        """Raises an error if the replay was already ended, because the application may have caught the
        first error. The error is NewToolCall, or ReplayEnded if the application has caught more than
        ``_PATIENCE`` errors."""
        if not self.cut:
            return
        self.children.note_end()
        with self._guard:
            self._refused += 1
            patient = self._refused <= _PATIENCE
        raise NewToolCall(self.cut) if patient else ReplayEnded(self.cut)


@dataclass(frozen=True, slots=True)
class UsedTool:
    """A ``UsedTool`` is a tool call of a run. ``outcome``: the result that the call gets if the tool must
    not run; None if the tool is to run. ``record``: stores the outcome of a tool that ran; None if that
    is not stored. ``key``, ``replies``, ``within``: see ``NotedResult``. ``replay``: answers the calls of
    the replay; None in the baseline, and for a tool that retrieves. ``at``: the moment of the call.
    ``is_own``: False if another tool called the function of this one, which is no call of its own.
    ``reaching``: what the tool reaches before it runs; None in replays."""

    call: ToolCall | None
    record: ToolRecord | None
    outcome: ToolOutcome | None
    key: str = ""
    replies: int = 0
    within: tuple[str, ...] = ()
    replay: ToolReplay | None = None
    at: int = 0
    is_own: bool = True
    reaching: RecordedBefore | None = None

    def noted(self, result: Any) -> Any:
        """Records the result of a tool that ran. Returns the result that the application gets; in a
        replay, this is the result without the omitted sources."""
        if self.record is not None and self.call is not None:
            reach = self.reaching
            if reach is not None and (reach.inputs.reads.writes_stream or reach.places.changed()):
                self.record.changing.add(self.call.name)
            self._note_inputs()
            outcome = ToolOutcome(result, at=self.at)
            self.record.note(self.call, self.key, outcome, self.replies, self.within, is_own=self.is_own)
        if self.replay is None or self.call is None:
            return result
        return self.replay.lasting(result, self.call.name, self.key)

    @contextmanager
    def noting_errors(self, pauses: tuple[type[Exception], ...] = ()) -> Generator[None, None, None]:
        """Records what the tool reads in the block, and an error that the block raises as the outcome of
        the call. ``pauses``: the types of errors that are not recorded, because the framework raises them
        to pause a tool that it later calls again."""
        reads, outer = None if self.reaching is None else self.reaching.inputs.reads, reads_in_use.get()
        if reads is not None and outer is not None:
            reads.files.outer, reads.variables.outer = outer.files, outer.variables
        noting = reads_in_use.set(reads)
        try:
            yield
        except pauses:
            raise
        except Exception as error:
            if self.record is not None and self.call is not None:
                self._note_inputs()
                outcome, noted = ToolOutcome(error=error, at=self.at), (self.replies, self.within)
                self.record.note(self.call, self.key, outcome, *noted, is_own=self.is_own)
                if _has_not_begun(error):
                    self.record.not_begun.append((self.call, error))
            raise
        finally:
            reads_in_use.reset(noting)

    def _note_inputs(self) -> None:
        if self.record is not None and self.call is not None and self.reaching is not None:
            inputs, call = self.reaching.inputs, self.call
            write = ToolWrite(self.at, self.key, call.name, inputs.asked.place_of(call))
            self.record.inputs.end(inputs, write)


def _has_not_begun(error: Exception) -> bool:
    """Returns True iff a tool failed before it began, because it lacks the interface (sync or async) that
    was called. The error has then passed only through code of the frameworks and of this package. Before
    any other error, the tool may have acted."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    names = (str(frame.f_globals.get("__name__", "")) for frame in frames)
    is_alone = all(each.startswith(FRAMEWORKS) or is_named_as_ours(each) for each in names)
    return isinstance(error, NotImplementedError) and is_alone
