"""This module finds unrecorded tools: tools that an application runs as plain functions, and not through
its framework. Their results are not recorded, so a replay cannot use recorded results in their place."""

from collections.abc import Collection, Iterable, Sequence

from ...errors import InvalidInput, RagRuleError, UntrueReplay
from ...sources import Source
from ..bounds import ReplayEnded
from ..recording.recorder import Recording
from ..run_context import refused
from ..run_record import Participation
from ..tool_replay import ToolReplay
from .calls_of_run import MadeCall, UnrecordedTool
from .exchanges import moment
from .source_recognition import Request, Sight

MARK_IT = (
    "put @tool on that function (from plain_rag_rule_explainer import tool), or call it by the tool's "
    "own invoke"
)
_WAYS_OUT = (
    "; if running it does no harm, name it: safe_tools=[{names}]; if the application runs nothing for "
    "such a call, as where it denies it, hands over, or takes it as a structured answer: "
    "unexecuted_tools=[{names}]"
)
OR_NEXT_ACTION = "; or explain the model's reply alone, after which nothing runs: replay_of='next_action'"
RUNS_AGAIN = (
    "every replay would run {names} again, as the application does not call each as a tool, and nothing "
    "says which function it is; " + MARK_IT + "{next}" + _WAYS_OUT
)
MAY_RUN_AGAIN = (
    "nothing shows what became of the model's call of {names}, so that every replay would run again what "
    "the application may run for it; " + MARK_IT + "{next}" + _WAYS_OUT
)
RAN = (
    "the tool {names} was called in a replay, and no tool of which there is a record ran for it, so that "
    "the application may have run a function itself; " + MARK_IT + _WAYS_OUT
)
REMOTE = (
    "the provider of the model runs {names} itself, over MCP, whenever the model calls it, so that a "
    "replay may run it again; if running it does no harm, name it: safe_tools=[{names}]; or call the "
    "server's tools in the application"
)
IN_ITS_CONTEXT = (
    "begin that thread or task in the function that is explained, or call the tool there in the context "
    "of the run, which contextvars.copy_context() returns in that function: context.run(tool, ...)"
)
STRAY = (
    "a thread or a task that was begun outside of the run called {names}, so that it is not known for "
    "which run it works, and every replay would run this again; " + IN_ITS_CONTEXT
)
NO_STUB = (
    "stub_tools names {name!r}, whose stub was not used, as the application does not call it as a tool, "
    "and nothing says which function it is; " + MARK_IT
)


def note_answers(run: Participation, results: Iterable[tuple[str, str]]) -> list[MadeCall]:
    """Records the results of tool calls that a request to a model contains. Returns the calls of this run
    to which they belong. ``results``: pairs of the id of a call and the text of its result.

    If a call has a result although no recorded tool ran, an unrecorded tool ran. In a baseline, the name
    of this tool is stored: as a tool that retrieves if the result contains a retrieved text, otherwise as
    an unrecorded tool. In a replay, UntrueReplay is raised, unless the user named the tool safe. If a
    stub was to replace the tool, an error is raised in a baseline too.
    """
    answered = run.calls.note_answered(results, [*run.executed, *run.inside])
    own = run.unexecuted if answered else []
    unrecorded = [each for each in own if each.answered is not None]
    check_no_stub(run, unrecorded)
    if run.tool_replay is not None:
        check_unrun(run, unrecorded)
        return answered
    sight = _sight_of(run)
    for each in unrecorded:
        if sight.seen_in([Request(each.text)]):
            run.retrieving_tools.add(each.call.name)
        else:
            run.unmarked.add(UnrecordedTool(each.call.name, each.within, each.answered or moment()))
    return answered


def note_remote(run: Participation, names: Collection[str]) -> None:
    """Records that the provider of a model ran the tools ``names`` itself, over MCP. In a replay, raises
    UntrueReplay if the user did not name all of them safe. Does not raise it if ``on_new_tool_call`` is
    "live", which allows new tool calls in replays."""
    run.calls.remote.update(names)
    replay = run.tool_replay
    new = [] if replay is None or replay.on_new == "live" else sorted(set(names).difference(replay.safe))
    if new:
        raise _ending_all(run, new[0], REMOTE.format(names=repr(new[0])))


def note_retrieving(run: Participation, answered: Sequence[MadeCall]) -> None:
    """Records the names of the tools that retrieve: those whose call in ``answered`` has a result with a
    retrieved text."""
    sight = _sight_of(run)
    run.retrieving_tools.update(
        each.call.name for each in answered if sight.seen_in([Request(each.text)])
    )


def check_unrun(run: Participation, unrecorded: Sequence[MadeCall]) -> None:
    """Raises UntrueReplay if one of the calls ``unrecorded`` is of a tool that must not run in replays.
    No recorded tool ran for these calls, so the application may have run a function for them. The error
    ends the explanation, because other replays might run the tool too. Does nothing in a baseline."""
    replay = run.tool_replay
    if replay is None or replay.on_new == "live":
        return
    allowed = _allowed(run, replay)
    name = next((each.call.name for each in unrecorded if each.call.name not in allowed), None)
    if name is not None:
        why = STRAY if name in run.stray else RAN
        raise _ending_all(run, name, why.format(names=repr(name)))


def check_none_ran(run: Participation) -> None:
    """Raises UntrueReplay if another replay of the same baseline may have run a tool that must not run.
    The error of that replay may be lost, because the application caught it or the replay was
    abandoned."""
    replay = run.tool_replay
    if replay is None or replay.on_new == "live":
        return
    allowed = _allowed(run, replay)
    faults = replay.record.faults.copy()
    fault = next((why for name, why in faults.items() if name not in allowed), None)
    if fault is not None:
        raise UntrueReplay(fault)


def end_if_one_ran(run: Participation) -> None:
    """Calls ``check_none_ran`` in a replay. If that raises an error, stores the error on the run, and
    ends the replay by ReplayEnded, which ``except Exception`` in the application does not catch."""
    try:
        check_none_ran(run)
    except UntrueReplay as error:
        run.refused = run.refused or error
        raise ReplayEnded(str(error)) from error


def check_no_stub(run: Participation, unrecorded: Sequence[MadeCall]) -> None:
    """Raises an error if the tool of one of these calls has a stub. No recorded tool ran for the call, so
    the stub was not used. The error is InvalidInput in a baseline, and UntrueReplay, which ends the
    explanation, in a replay."""
    stubs = set(run.stubs) - run.unexecuted_tools
    name = next((each.call.name for each in unrecorded if each.call.name in stubs), None)
    if name is None:
        return
    if isinstance(run.gate, Recording):
        raise refused(InvalidInput(NO_STUB.format(name=name)))
    raise _ending_all(run, name, NO_STUB.format(name=name))


def _allowed(run: Participation, replay: ToolReplay) -> set[str]:
    return {*replay.retrieving, *replay.safe, *run.unexecuted_tools}


def _ending_all(run: Participation, name: str, why: str) -> RagRuleError:
    """Returns the error that ends the explanation, because a replay may have run this tool. ``why``: the
    message of the error, unless a reason is known for this tool already. No other replay of the baseline
    begins, even if the application catches the error."""
    if run.tool_replay is not None:
        why = run.tool_replay.record.faults.setdefault(name, why)
    return refused(UntrueReplay(why))


def _sight_of(run: Participation) -> Sight:
    found = run.gate.texts(run.gate.begin()) if isinstance(run.gate, Recording) else []
    return Sight([Source(str(place), text) for place, text in enumerate(dict.fromkeys(found))])
