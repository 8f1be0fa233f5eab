"""This module removes from the record of a baseline all events inside tools that do not run in replays.
Replays get the recorded results of these tools, so they do not repeat the requests and calls inside them.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from .early_ends import until_decided
from .first_run_faults import check_acts, check_unrecorded
from .inner_calls import check_first
from .next_action import WatchedSoFar, at_next_action
from .options import Manner
from .requests.exchanges import Exchanges
from .run_record import Participation
from .source_kinds.gathering import running_tools


def repeated_part(
    first: Participation, manner: Manner, question: str, ended: Sequence[Any] = ()
) -> Participation:
    """Returns the part of a baseline's record that replays repeat. This part lacks all events inside
    tools that do not run in replays.

    With ``replay_of="next_action"``, the part ends at the explained reply. Otherwise it ends with the
    run, or at a reply that decides the condition by calling an unresolved tool: a tool of which it is
    unknown what code the application runs for its calls.

    ``ended``: a list that contains only the application's output; empty if the run has not ended. Raises
    InvalidInput if the record does not fit these options, for example if no reply was recorded.
    """
    part = _outer_part(first, manner, question)
    check_unrecorded(manner, part)
    check_acts(manner, part)
    return until_decided(part, manner, ended[0]) if ended else part


def _outer_part(first: Participation, manner: Manner, question: str) -> Participation:
    acting = at_next_action(first, manner, question)
    if not manner.replays_tools or not first.executed or first.closed:
        return acting
    if acting.action is not None and acting.action.meets:
        return acting
    running = running_tools(first, manner)
    inner = {each.within for each in first.executed} | {each.within for each in first.watch.said}
    closed = {name for within in inner for name in within} - running
    outer = _without(first, closed) if closed else first
    check_first(outer, manner, question)
    return outer if acting.action is None else acting


def _without(first: Participation, closed: Collection[str]) -> Participation:
    said, executed = list(first.watch.said), first.executed
    inner = [each for each in executed if set(each.within) & set(closed)]
    kept = [place for place, each in enumerate(said) if not set(each.within) & set(closed)]
    outer = [
        each._replace(before=sum(place < each.before for place in kept))
        for each in executed
        if each not in inner
    ]
    watch = WatchedSoFar(
        Exchanges.only([each for each in first.watch.exchanges if not set(each.within) & set(closed)]),
        [said[place] for place in kept],
        first.watch.models,
        first.watch.steps,
        first.watch.fault,
        first.watch.failed,
    )
    called = {each.call.name for each in outer} | {
        call.name for place in kept for call in said[place].called
    }
    inside = {each.call.name for each in executed} | {call.name for each in said for call in each.called}
    tools = first.tools - (inside - called)
    shut = frozenset(closed)
    return replace(first, watch=watch, executed=outer, inside=inner, tools=tools, closed=shut)
