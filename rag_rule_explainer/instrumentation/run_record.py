"""This module stores what is known about one run of the application, while it runs and afterwards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

from ..errors import RagRuleError
from ..probing.tracing.marks import TracedExplanation
from ..tool_calls import ToolCall
from .bounds import Bound, ReplayEnded
from .conversation import Conversation
from .copies.state import State
from .executed_calls import ExecutedCall, ResultSources, ToolOutcome
from .isolation.acts import Acts
from .isolation.callbacks import keep_loop_quiet
from .isolation.lasting_work import LastingWork
from .reads_and_writes.file_reads import RunFiles
from .reads_and_writes.noted_reads import GivenToTool, asked_by
from .reads_and_writes.store_writes import StoreWrites
from .recording.current import GoingOn
from .recording.recorder import Recording
from .requests.calls_of_run import CallsOfRun, MadeCall, UnrecordedTool
from .requests.exchanges import moment
from .requests.tools_in_use import call_in_use, tools_in_use
from .shared_state.temporaries import Shared
from .source_kinds.asked_requests import PromptEditing
from .tool_record import ToolRecord
from .tool_replay import NewToolCall, ToolReplay, UsedTool
from .watches import Audited, ModelWatch


@dataclass(slots=True, eq=False)
class Participation:
    """A ``Participation`` holds one run of the application (the baseline or a replay) and its state."""

    gate: GoingOn
    """The object that records the searches of a baseline, or answers the searches of a replay."""
    watch: ModelWatch
    """The object that records the run's model requests."""
    state: State
    """The run's own copies of objects that have a memory, such as a chat memory."""
    stubs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tools: set[str] = field(default_factory=set[str])
    tool_calls: int = 0
    executed: list[ExecutedCall] = field(default_factory=list[ExecutedCall])
    """The tool calls for which a tool really ran."""
    inside: list[ExecutedCall] = field(default_factory=list[ExecutedCall])
    """The baseline's tool calls by other tools that do not run in replays."""
    calls: CallsOfRun = field(default_factory=CallsOfRun)
    """The tool calls in the models' replies."""
    unexecuted_tools: frozenset[str] = frozenset()
    """The names of the tools for whose calls the application runs nothing."""
    closed: frozenset[str] = frozenset()
    """The tools that asked models or ran other tools in the baseline, and that do not run in replays."""
    tool_record: ToolRecord = field(default_factory=ToolRecord)
    """The results of tools in a baseline."""
    tool_replay: ToolReplay | None = None
    """The object that answers the tool calls of a replay; None if tools run."""
    conversation: Conversation | None = None
    """Records the models' replies in a baseline, and returns them in a replay; None if whole runs are
    replayed."""
    action: Any = None
    """The request of a baseline whose reply is explained, an ``ActionPoint``; None for the whole run."""
    prompts: PromptEditing | None = None
    asked: PromptEditing | None = None
    """Edits the requests; ``asked`` where parts of prompts are no sources."""
    prompt_sources: Any = None
    """The sources in the model requests of a baseline."""
    takes_results: bool = False
    """True if results of tools are sources."""
    tool_sources: ResultSources | None = None
    """The sources in the results of a baseline's tools."""
    unmarked: set[UnrecordedTool] = field(default_factory=set[UnrecordedTool])
    """The tools whose calls a replay cannot answer, because their functions are unknown."""
    unkept: set[str] = field(default_factory=set[str])
    """The tools whose results contain messages of the baseline and so cannot be used in replays."""
    stray: set[str] = field(default_factory=set[str])
    """The tools that were called in threads of which it is unknown to which run they belong."""
    retrieving_tools: set[str] = field(default_factory=set[str])
    acts: Acts = field(default_factory=Acts)
    """The object that records what tools do; replays share that of the baseline."""
    traced: bool = True
    muted: bool = False
    """``muted`` is True if the run's prints are hidden."""
    stubbed: set[str] = field(default_factory=set[str])
    """The names of the tools whose result was replaced by a stub."""
    made: list[str] = field(default_factory=list[str])
    """Texts that the run got from tools and not from a model, such as the results of tools."""
    bound: Bound | None = None
    """The limits of a replay; None if there are none."""
    refused: RagRuleError | None = None
    """An error of this package that the run raised, stored because an agent may swallow the error."""
    shared: Shared | None = None
    """The state that all runs share, as it was before the first run."""
    trace: TracedExplanation | None = None
    """The object that receives the id of the explained run; None in replays."""
    outside: Audited | None = None
    """Receives the run's use of files and environment variables."""
    files: RunFiles = field(default_factory=RunFiles)
    """The files that the run has written."""
    stores: StoreWrites = field(default_factory=StoreWrites)
    """The writes of the run to stores of a framework."""
    read: set[str] = field(default_factory=set[str])
    """The files that the run opens, except the files of memories."""
    before_search: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Functions that are called before each search."""
    begun: list[Thread] = field(default_factory=list[Thread])
    """The threads that the run started."""
    work: LastingWork = field(default_factory=LastingWork)
    """Threads and tasks that may still run after the end of the run."""
    waits: str = ""
    """The reason why the run waits for a human, with advice; empty if it does not wait."""
    doubts: set[str] = field(default_factory=set[str])
    """Warnings about the results of the run's searches."""
    ends_at: int | None = None
    """The moment in the baseline at which replays end; None if replays do not end early."""
    uncut: "Participation | None" = None
    """The whole record of the run, if the record that is used was cut off at ``ends_at``."""
    answered_by_tool: bool = False
    """True if the answer of a baseline is the result of a tool."""
    guards: Any = None
    """The object that guards the functions of tools; None if the run may run all tools."""

    @property
    def before(self) -> int | None:
        """Returns the moment of the baseline at which replays end; replays ignore later events of the
        baseline. Returns None if replays do not end early."""
        return self.ends_at if self.action is None else self.action.at

    @property
    def unexecuted(self) -> list[MadeCall]:
        """Returns the calls in the models' replies for which no recorded tool ran; other code may."""
        return self.calls.unexecuted([*self.executed, *self.inside])

    @property
    def retrievals(self) -> int:
        """Returns the number of times that the run obtained something that may contain sources: by a
        search or, if ``takes_results`` is set, from a tool."""
        noted = [*self.tool_record.noted, *self.tool_record.failed] if self.takes_results else []
        results = len(noted) + bool(self.prompts is not None and self.watch.requests)
        return results + (self.gate.retrievals if isinstance(self.gate, Recording) else self.gate.served)

    @property
    def has_all_sources(self) -> bool:
        """Returns True iff an estimate may stop the run now, as nothing later has to be recorded."""
        return bool(self.retrievals) and not self.takes_results and self.conversation is None

    def note_search(self, made: int) -> None:
        """Calls ``before_search``. Raises an error if a replay has made too many searches (``made``)."""
        self.tool_record.tools.made.settle()
        for callback in self.before_search:
            callback()
        if self.bound is not None:
            self.bound.check_retrievals(made)

    def note_made_tool(self, name: str, tool: object) -> None:
        """Records a tool that the run has made itself. ``tool``: the tool, or its function."""
        obtained = self.tool_calls or self.watch.said or self.watch.requests or self.retrievals
        self.tool_record.tools.made.note(name, tool, is_early=not obtained)

    def use_tool(
        self,
        name: str | None,
        arguments: object = None,
        identity: str | None = None,
        way: str = "",
        tool: object = None,
        given: GivenToTool | None = None,
    ) -> UsedTool:
        """Returns a ``UsedTool`` for a call that begins. Raises an error if a replay ends. ``name``: None
        to only count it. ``way``: the attribute by which ``tool`` is called; ``given``: with what."""
        self.tool_record.tools.made.settle()
        self.tool_calls += 1
        call, given = ToolCall.written(name, arguments), asked_by(given, self)
        replies, within, now = given.asked.number, tools_in_use.get(), moment()
        made = ExecutedCall(replies, call, within, now, identity or "", call_in_use.get())
        self.tools.update([] if name is None else [name])
        self.executed += [] if name is None else [made]
        if self.bound is not None:
            self.bound.count_tool_call()
        if name is None:
            return UsedTool(None, None, None)
        if name in self.stubs:
            self.stubbed.add(name)
            return UsedTool(None, None, ToolOutcome(self.stubs[name]))
        if (replay := self.tool_replay) is None:
            self.tool_record.executed.append(made)
            key = self.tool_record.key_of(name, (way, arguments), tool, now)
            reach = self.tool_record.reached(given, tool)
            return UsedTool(call, self.tool_record, None, key, replies, within, at=now, reaching=reach)
        retrieves = replay.retrieves(name, tool, self.tool_record.tools.made)
        try:
            key = replay.key_of(name, (way, arguments), tool, self.tool_record.tools.made, runs=retrieves)
            outcome = replay.outcome(call, key, tool, given, retrieves=retrieves)
        except (NewToolCall, ReplayEnded) as error:
            keep_loop_quiet(error)
            raise
        for each in replay.record.inside(outcome.at) if outcome is not None else ():
            self.inside.append(each._replace(before=replies, at=moment()))
        return UsedTool(call, None, outcome, key, replay=None if retrieves else replay, at=now)
