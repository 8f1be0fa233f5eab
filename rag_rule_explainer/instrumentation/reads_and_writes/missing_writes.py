"""This module finds what code that runs in a replay would miss there: what tools wrote in the baseline
whose recorded calls the replay has made, so that they did not run."""

from collections.abc import Collection, Iterable, Sequence

from .noted_reads import ReadPath
from .read_paths import path_said
from .tool_inputs import ToolInputs
from .tool_writes import EarlierCall, OtherInput, ToolWrite, may_write, writers_in

_ANYTHING = "what a store may hold"


def missing_for_tool(
    inputs: ToolInputs,
    name: str,
    made: Sequence[EarlierCall],
    running: Collection[str],
    reached: Iterable[tuple[ReadPath, Collection[ToolWrite]]],
) -> OtherInput | None:
    """Returns something that a tool that is about to run in a replay would miss; None if there is
    nothing. A tool that the baseline did not call may read all that tools wrote to stores. ``name``: that
    of the tool; ``made``: the calls of the replay before; ``running``: the names of the tools that run in
    it; ``reached``: what its code reaches, each with the calls of the baseline that wrote it."""
    is_new = name not in inputs.called.values()
    for path, writes in reached if is_new else inputs.written_reads(name):
        if left := missing_writers(inputs, writes, made, running):
            return OtherInput(path_said(path), left)
    left = missing_writers(inputs, inputs.written_to_stores if is_new else (), made, running)
    return OtherInput(_ANYTHING, left) if left else None


def missing_writers(
    inputs: ToolInputs,
    writes: Iterable[ToolWrite],
    made: Iterable[EarlierCall],
    running: Collection[str],
) -> tuple[str, ...]:
    """Returns the names of the tools that made these writes in the baseline and do not run in a replay,
    if the replay has made one of their calls; else none. ``made``, ``running``: as above."""
    idle = [each for each in writes if each.name not in running]
    return writers_in(idle) if any(map(may_write(idle, inputs.called.keys()), made)) else ()
