"""This module words the reasons why a replay is ended at what a tool does or reads."""

from collections.abc import Collection

from ..tool_calls import ToolCall
from .reads_and_writes.tool_writes import OtherInput

NEW_CALL = (
    "the replay was ended at a tool call that the baseline did not make, so that no tool runs: {call} "
    "(safe_tools=[{name!r}] lets the tool run, on_new_tool_call= answers in its place, and "
    "unexecuted_tools=[{name!r}] says that the application runs nothing for such a call)"
)
_OTHER_INPUT = (
    "the replay was ended at a call of a tool that reads what the run made, which is not what it was in "
    "the baseline, so that the recorded result may be wrong: {call} reads {what} ({way})"
)
_MISSING = (
    "the replay was ended at a call of a tool that runs again and reads what another tool wrote in the "
    "baseline, which no replay runs: {call} reads {what} (safe_tools={names} lets these tools run again; "
    "name them if that does no harm)"
)
_READ_OUTSIDE = (
    "the replay was ended, as code of the application reads what a tool wrote in the baseline, which no "
    "replay runs: it reads {what} (safe_tools={names} lets such tools run again; name them if that does "
    "no harm)"
)
SAME_TEXT = (
    "the replay was ended, as the tool {name!r}, which the baseline did not call so, returned the text "
    "of {source!r}, which is omitted: it is not known whether that is the same source"
)
_RUNS_AGAIN = "safe_tools={names} lets the tool run again; name it if it only reads"
_RUN_AGAIN = (
    "which a tool wrote; safe_tools={names} lets these tools run again; name them if that does no harm"
)


def new_call(call: ToolCall) -> str:
    """Returns the reason for a call that the baseline did not make."""
    return NEW_CALL.format(call=call, name=call.name)


def other_input(call: ToolCall, other: OtherInput, safe: Collection[str]) -> str:
    """Returns the reason for a recorded call that would read something else. ``safe``: the names of the
    tools that the user named safe, here and below."""
    names = sorted({call.name, *other.writers, *safe})
    way = _RUNS_AGAIN if len(names) == 1 else _RUN_AGAIN
    return _OTHER_INPUT.format(call=call, what=other.what, way=way.format(names=names))


def missing_input(call: ToolCall, missing: OtherInput, safe: Collection[str]) -> str:
    """Returns the reason for a tool that runs and would miss what another one wrote."""
    names = sorted({call.name, *missing.writers, *safe})
    return _MISSING.format(call=call, what=missing.what, names=names)


def read_outside(missing: OtherInput, safe: Collection[str]) -> str:
    """Returns the reason for code besides the tools that would miss what a tool wrote."""
    return _READ_OUTSIDE.format(what=missing.what, names=sorted({*missing.writers, *safe}))
