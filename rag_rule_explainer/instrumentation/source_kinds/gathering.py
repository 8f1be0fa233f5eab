"""This module gathers the sources of a first run that are no retrieved documents."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ...errors import InvalidInput
from ...sources import Source
from ..application import Application
from ..options import CallInput, Manner
from ..recording.captured import Captured
from ..run_context import Participation
from ..tool_replay import NotedResult, ToolReplay
from .tool_sources import ToolSources

Item = TypeVar("Item")
_NO_RESULTS = (
    "no tool that the application called returned anything that could be a source: tools of the "
    "framework and functions with @tool are recorded; an empty list or text has nothing to omit"
)
_UNKNOWN_RUN = (
    "source_kinds and replay_of need a run that is recorded from its beginning, and this run has ended; "
    "call explain(), or leave them out"
)


def gathered(
    captured: Captured[Item],
    first: Participation,
    manner: Manner,
    application: Application[Item],
) -> Captured[Item]:
    """Returns the recorded sources with those of the other kinds that the user wants. Sets
    ``first.tool_sources``."""
    if "tools" not in manner.source_kinds:
        return captured
    first.tool_sources = found = ToolSources.of(
        _outermost(_noted_in(first), running_tools(first, manner)),
        first.watch.said,
        application.result_content,
        manner.omit,
    )
    return replace(captured, others=tuple(_named_apart(found.sources, captured.sources)))


def check_kinds(manner: Manner, case: CallInput, *, has_ended: bool = False) -> None:
    """Raises InvalidInput if the input of a call, or a run that has ended, does not go with the kinds of
    sources that the user wants."""
    if has_ended and (manner.source_kinds != ("documents",) or manner.replay_of != "whole_run"):
        raise InvalidInput(_UNKNOWN_RUN)
    if "documents" not in manner.source_kinds and (case.documents is not None or case.add_documents):
        raise InvalidInput("documents were given, and source_kinds has no 'documents'; add it")


def why_no_sources(manner: Manner, application: Application[Item], retrievals: int) -> str:
    """Returns why a run has no sources. ``retrievals``: how often it obtained what may have some."""
    if "documents" in manner.source_kinds:
        return application.why_nothing(retrievals)
    return _NO_RESULTS


def tool_replay_of(
    first: Participation, manner: Manner, run: Participation, kept: Sequence[Source]
) -> ToolReplay:
    """Returns what answers the tool calls of a replay, ``run``. ``first``: the baseline."""
    omitting, gate = None, run.gate
    if first.tool_sources is not None:
        ids = [each.id for each in kept]
        omitting = first.tool_sources.omitting(ids, gate.deliver_result)
    running = running_tools(first, manner)
    on_new = manner.on_new_tool_call or "unknown"
    return ToolReplay(first.tool_record, running, manner.safe_tools, on_new, omitting)


def running_tools(first: Participation, manner: Manner) -> set[str]:
    """Returns the names of the tools that run in replays: those that retrieve, and those that the user
    named safe and inside which the baseline called other tools. The calls inside are answered instead, so
    that their results can be sources."""
    outer = {name for each in first.tool_record.noted for name in each.within}
    opened = outer & manner.safe_tools if "tools" in manner.source_kinds else set[str]()
    return first.retrieving_tools | opened


def _noted_in(first: Participation) -> list[NotedResult]:
    """Returns the results of the baseline; of the next action, those before it."""
    noted = list(first.tool_record.noted)
    return [each for each in noted if first.before is None or each.at < first.before]


def _outermost(noted: Sequence[NotedResult], running: Collection[str]) -> Iterator[NotedResult]:
    """Yields the results that replays get from the record: not those of tools that run in replays, and
    not those of calls inside a tool that does not run."""
    for each in noted:
        if each.call.name not in running and set(each.within) <= set(running):
            yield each


def _named_apart(sources: Sequence[Source], others: Sequence[Source]) -> Iterator[Source]:
    taken = {each.id for each in others}
    for each in sources:
        if each.id in taken:
            raise InvalidInput(
                f"the id {each.id!r} stands for a retrieved document and for the result of a tool; give "
                "the document another id"
            )
        yield each
