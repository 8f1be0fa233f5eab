"""This module turns a recorded first run into the ``Baseline`` from which the search of rules starts."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

from ..probing.replaying import Baseline
from ..probing.tracing.marks import TracedExplanation
from ..verdicts import Answer, logged_answer
from .bounds import seconds_for
from .copies.copying import described
from .doubts import ASKED, REORDERED
from .first_run_faults import acts_of_retrieving
from .recording.remarks import ASKED_ANEW, NAMED_OUTER, SEVERAL_RESULTS, WAITED
from .recording.scores import RELATIVE_SCORES, has_relative_scores
from .replays import Replays
from .requests.marks import texts_of
from .source_kinds.after_action import (
    after_earlier_replies,
    called_by_the_application,
    came_after_the_action,
    dropped_by_the_application,
    kinds_without_sources,
)

Item = TypeVar("Item")
_CLOSED = (
    "models and tools inside the tool {name!r} are no part of replays, which get its recorded result; "
    "with safe_tools=[{name!r}] and source_kinds=['tools'], it runs again, and what tools inside it "
    "returned can be sources"
)
_OWN = (
    "the application calls {name!r} as a plain function, and not as a tool, so it runs again in every "
    "replay; if it changes anything, put @tool on the function or call it by the tool's own invoke, and "
    "pass on_new_tool_call='unknown', by which no tool runs again"
)
_UNRESOLVED = (
    "nothing shows what the application runs for a call of {name!r}, so each replay was ended at the "
    "model's reply that makes one"
)
_RETURNED = (
    "the application returned the model's call of {name!r} as its answer, so it is taken to leave the "
    "call to its caller, and to run nothing for it"
)
_MAY_BE_OWN = (
    "nothing shows what became of the model's call of {name!r}; if the application runs a function for "
    "it, that function runs again in every replay; if it changes anything, put @tool on it or call it by "
    "the tool's own invoke, and pass on_new_tool_call='unknown', by which no tool runs again; if nothing "
    "runs, pass unexecuted_tools=[{name!r}]"
)
_ALSO_ACTS = (
    "the tool {name!r} retrieves, so it runs again in every replay, and it also does something else: it "
    "{what}. Put that into a tool of its own, and pass on_new_tool_call='unknown', by which no such tool "
    "runs again"
)
_RAN = "the function of the tool {name!r}, which retrieves, ran in replays, {times} in all"
_ONLY_IN_REPLAYS = (
    "the tool {name!r}, which the baseline did not call, ran in replays, {times} in all; if it changes "
    "anything, pass on_new_tool_call='unknown', by which no tool runs again"
)
_CONVERSATIONS = {
    "thread_id",
    "session_id",
    "conversation_id",
    "run_id",
    "checkpoint_id",
    "checkpoint_ns",
    "checkpoint_map",
}
"""The usual names of the entries of a configuration that identify a conversation, or a point in it."""


@dataclass(frozen=True, slots=True)
class RecordedBaseline(Generic[Item]):
    """A ``RecordedBaseline`` describes a first run for the search of rules.

    ``replays``: runs the replays of this baseline. ``trace``: the data about the explanation that tracing
    services get. ``seconds``: the duration of the run; None if unknown.
    """

    replays: Replays[Item]
    trace: TracedExplanation
    seconds: float | None = None

    def given_anyway(self) -> Iterator[str]:
        """Yields all texts that a run may send to its models even if all sources are omitted: the input,
        the configuration, the memory, the queries, and the sources that no replay gets (``held_out``)."""
        run = self.replays
        yield from run.application.texts_in(run.case.given)
        yield from map(described, (run.case.config, run.manner.stub_tools))
        yield from map(described, [*run.first.state.before.values()])
        yield from run.first.gate.queries
        for source in run.exposure.held_out:
            yield from texts_of(source)

    def baseline(self, current: Answer, count: int) -> Baseline:
        """Returns the ``Baseline`` from which the search of rules starts.

        ``current``: the answer of the first run. ``count``: the number of runs that this call made for
        the baseline; 0 if a run that the user made earlier is explained.
        """
        run = self.replays
        case, exposure, root = run.case, run.exposure, run.application.root
        logged = None if case.baseline is None else self._logged(case.baseline)
        answer = current if logged is None else logged
        shown = exposure.other_order_shown()
        return Baseline(
            replace(answer, seen=shown) if shown else answer,
            None if exposure.held_out else current,
            logged=logged is not None,
            replays=count,
            usage=(current.usage or {}) if count else {},
            models=current.models if count else None,
            state=self._state(),
            input=run.application.plain(case.given),
            scope=exposure.scope,
            held_out=exposure.held_out,
            dropped=tuple(run.captured.dropped),
            unseen_needed=lambda seen: exposure.unseen_needed(run.captured.that_found, seen),
            warnings=tuple(self._warnings()),
            fidelity=run.fidelity,
            chance=run.state.doubt_about_chance,
            application=getattr(root, "__name__", "") or type(root).__name__,
            longest=self._longest(),
            late_warnings=lambda: list(self._late_warnings()),
            late_notes=lambda: list(self._late_notes()),
            served_otherwise=self._served_otherwise,
            notes=tuple(self._notes()),
            if_constant=after_earlier_replies(run.first, exposure.sight),
            versions=run.application.versions(),
            trace=self.trace,
        )

    def _notes(self) -> Iterator[str]:
        run = self.replays
        yield from run.exposure.notes
        if run.first.action is not None:
            yield run.first.action.note
            yield from called_by_the_application(run.first)
        yield from self._notes_on_calls()
        yield from self._notes_on_conversations()
        yield from run.fidelity.notes
        yield from run.application.notes(run.captured)
        yield from self._notes_on_searches()
        if not self._acting():
            yield from run.manner.idle_stubs(self._called())

    def _notes_on_calls(self) -> Iterator[str]:
        first = self.replays.first
        closed = first.closed - self.replays.manner.safe_tools
        yield from (_CLOSED.format(name=each) for each in sorted(closed))
        yield from (_UNRESOLVED.format(name=each) for each in sorted(first.calls.unresolved))
        yield from (_RETURNED.format(name=each) for each in sorted(first.calls.left_to_the_caller))

    def _notes_on_conversations(self) -> Iterator[str]:
        run = self.replays
        yield from came_after_the_action(run.first, run.manner, run.case.question)
        yield from dropped_by_the_application(run.first, run.case.given)
        yield from kinds_without_sources(run.first, run.manner, run.captured.sources)

    def _notes_on_searches(self) -> Iterator[str]:
        captured = self.replays.captured
        if has_relative_scores(captured.batches):
            yield RELATIVE_SCORES
        if captured.holds_others_fast:
            yield NAMED_OUTER

    def _late_warnings(self) -> Iterator[str]:
        """Yields the warnings that are complete only after all replays."""
        if self.replays.captured.several:
            yield SEVERAL_RESULTS
        if self.replays.captured.waited:
            yield WAITED.format(reason=self.replays.captured.waited)
        yield from self._tools_of_replays_alone()

    def _tools_of_replays_alone(self) -> Iterator[str]:
        manner, first = self.replays.manner, self.replays.first
        named = {*first.tools, *first.retrieving_tools, *manner.safe_tools, *manner.stub_tools}
        for name, count in () if manner.replays_tools else sorted(first.acts.runs.items()):
            if count and name not in named:
                yield _ONLY_IN_REPLAYS.format(name=name, times=_times(count))

    def _served_otherwise(self) -> str:
        """Returns a warning if a replay searched with a query that the baseline did not make. The replay
        then got all retained sources, but a real search might have found others. Returns an empty text if
        there was no such replay."""
        return ASKED_ANEW if self.replays.captured.asked_anew else ""

    def _late_notes(self) -> Iterator[str]:
        run = self.replays
        state, fidelity = run.state, run.fidelity
        if fidelity.reordered:
            yield REORDERED
        asked = state.outside.services.asked(run.manner.steady.is_ignored)
        if asked:
            yield ASKED.format(services=asked)
        if state.alone.written:
            yield f"replays were made one at a time, as {state.alone.written}, which they share"
        yield from self._notes_on_tools_that_ran()
        remains = state.remaining_in_words(fidelity.unchecked)
        if remains:
            yield remains

    def _notes_on_tools_that_ran(self) -> Iterator[str]:
        """Yields a note for each tool whose function ran in replays because it retrieves."""
        first = self.replays.first
        before = Counter(each.call.name for each in (first.uncut or first).tool_record.executed)
        for name in sorted(first.retrieving_tools):
            count = first.acts.runs[name] - before[name]
            if count > 0:
                yield _RAN.format(name=name, times=_times(count))

    def _state(self) -> str:
        """Returns a digest of everything that the answer depends on, except the question and the sources:
        the rest of the input, the application's memory, its configuration, and the user's settings that
        may change the answers of replays. Empty if there is nothing else."""
        run = self.replays
        given = run.application.plain(run.case.given)
        held = map(run.application.lasting_content, [*run.first.state.before.values()])
        remembered = sorted(map(described, held))
        keywords = [described(dict(run.case.keywords))] if run.case.keywords else []
        settings = {**self._configured(), **run.manner.deciding(run.first.tools)}
        if run.first.action is not None:
            settings["next_action"] = run.first.action.number
        others = [*remembered, *keywords, *([run.manner.steady(described(settings))] if settings else [])]
        if given == run.case.question and not others:
            return ""
        text = "\n".join([described(given), *others])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _configured(self) -> dict[str, Any]:
        """Returns the entries of the framework's configuration that may influence what the application
        does; empty if there is no configuration. Leaves out entries that only identify a conversation,
        such as ``thread_id``, because the content of the conversation is used instead."""
        case = self.replays.case
        config: Any = case.config if case.before is None else case.before
        given = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
        entries = given.get("configurable")
        if not isinstance(entries, dict):
            return {}
        return {
            name: value
            for name, value in cast("dict[str, Any]", entries).items()
            if not name.startswith("__") and name not in _CONVERSATIONS
        }

    def _logged(self, given: Any) -> Answer:
        read = given if isinstance(given, (str, Answer)) else self.replays.manner.answer_of(given)
        return logged_answer(read)

    def _warnings(self) -> Iterator[str]:
        acting, run = self._acting(), self.replays
        yield from sorted(run.first.doubts)
        for tool in sorted(acting):
            yield (
                f"the tool {tool!r} retrieved nothing in the baseline and runs again in every replay; if "
                f"it changes anything, pass stub_tools={{{tool!r}: its result}}, or on_new_tool_call="
                "'unknown', by which no tool runs again"
            )
        if not run.manner.replays_tools:
            yield from (
                _ALSO_ACTS.format(name=name, what=what)
                for name, what in acts_of_retrieving(run.manner, run.first)
            )
            yield from self._run_by_the_application(acting)
        if acting:
            yield from run.manner.idle_stubs(self._called())

    def _run_by_the_application(self, told: Collection[str]) -> Iterator[str]:
        """Yields a warning for each tool that the application runs, or may run, as a plain function.
        ``told``: the names of the tools that another warning is about; they are left out."""
        first = self.replays.first
        known = {*told, *first.retrieving_tools, *first.unexecuted_tools}
        answered = {each.name for each in first.unmarked if each.is_answered} - known
        yield from (_OWN.format(name=each) for each in sorted(answered))
        others = {each.name for each in first.unmarked} - answered - known
        yield from (_MAY_BE_OWN.format(name=each) for each in sorted(others))

    def _called(self) -> set[str]:
        first = self.replays.first
        return first.tools | first.calls.names | {each.name for each in first.unmarked}

    def _acting(self) -> set[str]:
        """Returns the names of the tools that run again in every replay and may change something: tools
        that the first run called, that retrieved nothing and have no stub. Returns an empty set if
        replays get recorded tool results."""
        first = self.replays.first
        if self.replays.manner.replays_tools:
            return set()
        return first.tools - first.retrieving_tools - set(self.replays.manner.stub_tools)

    def _longest(self) -> float | None:
        factor, seconds = self.replays.manner.replay_bound, self.seconds
        return None if factor is None or seconds is None else seconds_for(seconds, factor)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
