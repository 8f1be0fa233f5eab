"""This module finds what a tool that runs in a replay would miss there: what tools wrote in the baseline
whose recorded calls the replay has made, so that they did not run."""

from collections.abc import Collection, Sequence

from .read_paths import path_said
from .tool_inputs import ToolInputs
from .tool_writes import EarlierCall, OtherInput, ToolWrite, may_write, writers_in

_ANYTHING = "what it may read"


def missing_writes(
    inputs: ToolInputs, name: str, made: Sequence[EarlierCall], running: Collection[str]
) -> OtherInput | None:
    """Returns something that a tool that is about to run in a replay would miss; None if there is
    nothing. A tool that the baseline did not call may read all that tools wrote. ``name``: the tool's;
    ``made``: the calls of the replay before; ``running``: the names of the tools that run in it."""
    known = inputs.called

    def missing(writes: Collection[ToolWrite]) -> list[ToolWrite]:
        idle = [each for each in writes if each.name not in running]
        return idle if any(map(may_write(idle, known.keys()), made)) else []

    if name not in known.values():
        left = missing(inputs.writes)
        return OtherInput(_ANYTHING, writers_in(left)) if left else None
    for path, writes in inputs.written_reads(name):
        if left := missing(writes):
            return OtherInput(path_said(path), writers_in(left))
    return None
