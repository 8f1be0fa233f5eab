"""This module decides whether replays of a whole run end early, at a model's reply that calls an
*unresolved* tool. A tool is unresolved if it is unknown which code the application runs for its calls."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..predicates.at_once import verdict_at_once
from ..predicates.only_calls import CUT
from ..tool_calls import ToolCall
from ..verdicts import Answer, Case, Verdict
from .answered import calls_in
from .next_action import WatchedSoFar
from .options import Manner
from .requests.exchanges import Exchanges
from .requests.unanswered_calls import note_unanswered
from .run_record import Participation
from .source_kinds.gathering import running_tools


def until_decided(first: Participation, manner: Manner, output: Any) -> Participation:
    """Returns the part of a baseline's record that replays repeat. If the first reply that calls an
    unresolved tool decides the condition, the part ends at this reply. Replays then also end there,
    before the application runs anything for the call. Otherwise returns the whole record.

    Also records on ``first`` the tools whose calls have no result, but which the application may have run
    nevertheless. ``output``: the output of the baseline.
    """
    note_unanswered(first, output)
    names = _unresolved_tools(first, manner)
    said = list(first.watch.said)
    calling = (n for n, each in enumerate(said) if not each.apart and _calls(each.to_run, names))
    place, at = next(calling, None), first.calls.first_of(names)
    if place is None or at is None or first.action is not None:
        return first
    before, until = (_verdict(manner, first, count) for count in (place, place + 1))
    if not before is Verdict.UNKNOWN is not until:
        return first
    first.calls.unresolved = frozenset(names)
    watch = WatchedSoFar(
        Exchanges.only([each for each in first.watch.exchanges if each.at < at]),
        said[: place + 1],
        first.watch.models,
        first.watch.steps,
        first.watch.fault,
        first.watch.failed,
    )
    executed = [each for each in first.executed if each.at < at]
    return replace(first, watch=watch, executed=executed, ends_at=at, uncut=first)


def _unresolved_tools(first: Participation, manner: Manner) -> set[str]:
    """Returns the names of the unresolved tools at whose calls replays may end. Leaves out tools that
    retrieve, tools in ``safe_tools`` (they may run), and tools in ``unexecuted_tools`` (nothing runs for
    their calls). Returns an empty set if tools really run in replays."""
    if manner.on_new_tool_call == "live" or not manner.replays_tools:
        return set()
    allowed = first.retrieving_tools | manner.safe_tools | manner.unexecuted_tools
    running = running_tools(first, manner)
    unanswered = [
        each for each in first.unmarked if not each.is_answered and running.issuperset(each.within)
    ]
    return {*(each.name for each in unanswered), *first.calls.returned} - allowed


def _calls(called: Collection[ToolCall], names: Collection[str]) -> bool:
    return any(each.name in names for each in called)


def _verdict(manner: Manner, first: Participation, count: int) -> Verdict:
    """Returns the condition's verdict on the tool calls of the first ``count`` replies of the run.
    Returns UNKNOWN if later calls may still change it, or if the condition raises an error."""
    executed = [each for each in first.executed if each.before < count]
    calls = tuple(calls_in(list(first.watch.said)[:count], executed))
    found, answer = None, Answer("", calls=calls, finish_reason=CUT)
    with suppress(Exception):  # the user's function may raise any error
        found = verdict_at_once(manner.condition, Case("", answer, answer, ()))
    return Verdict.UNKNOWN if found is None else found
