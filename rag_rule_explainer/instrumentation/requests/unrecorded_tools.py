"""This module notes the tools that an application runs itself, as plain functions, so that no record of
their calls is made and no replay can be given their results."""

from collections.abc import Sequence

from ...errors import InvalidInput
from ...sources import Source
from ..recording.recorder import Recording
from ..run_context import Participation, UnrecordedTool, refused
from .exchanges import moment
from .source_recognition import Request, Sight
from .tools_in_use import tools_in_use

RUNS_AGAIN = (
    "every replay would run {names} again, as the application does not call each as a tool, and nothing "
    "says which function it is; put @tool on that function, or call it by the tool's own invoke; or, if "
    "running it does no harm, name it: safe_tools=[{names}]. In LangChain, a call that runs nothing, as "
    "a guard rail refuses it, is answered with ToolMessage(..., status='error')"
)
MAY_RUN_AGAIN = (
    "a model called {names}, no tool of the name ran for it, and no later request has a result of it; if "
    "the application carries it out itself, by a plain function, every replay would run that again. Put "
    "@tool on that function, or call it by the tool's own call or invoke; or, if running it does no "
    "harm, or nothing runs, name it: safe_tools=[{names}]; or explain the next action alone, which ends "
    "before anything runs: replay_of='next_action'"
)
RAN = (
    "the tool {name!r} ran in a replay, as the application does not call it as a tool, and nothing says "
    "which function it is; put @tool on that function, or call it by the tool's own invoke; or, if "
    "running it does no harm, name it in safe_tools=[{name!r}]"
)


def note_answered_calls(run: Participation, results: Sequence[tuple[str, str]]) -> None:
    """Records the tools whose calls were answered although no tool of the name ran in this run. In a
    replay, raises InvalidInput for such a tool unless it was named safe.

    ``results``: the names of the tools, and the texts that the application gives the model for them. A
    tool whose text holds a retrieved one retrieves: its searches are served.
    """
    ran = {each.call.name for each in run.executed}
    own = [(name, text) for name, text in results if name not in ran]
    if not own:
        return
    replay = run.tool_replay
    if replay is not None:
        allowed = {*replay.retrieving, *replay.safe}
        name = next((name for name, _ in own if name not in allowed), None)
        if name is not None and replay.on_new != "live":
            raise refused(InvalidInput(RAN.format(name=name)))
        return
    found = run.gate.texts(run.gate.begin()) if isinstance(run.gate, Recording) else []
    sight = Sight([Source(str(place), text) for place, text in enumerate(dict.fromkeys(found))])
    for name, text in own:
        if sight.seen_in([Request(text)]):
            run.retrieving_tools.add(name)
        else:
            run.unmarked.add(UnrecordedTool(name, tools_in_use.get(), moment()))
