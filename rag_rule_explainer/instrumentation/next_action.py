"""This module chooses the reply of a model that is explained if the user sets
``replay_of="next_action"``. It also ends the record of the baseline at this reply.

A replay of the next action sends one request to a model: the request that got this reply in the baseline,
but without the omitted sources. Its earlier requests get the recorded replies. The model's reply is the
answer.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InvalidInput
from ..predicates import Predicate
from ..predicates.combine import AnyOf, Not
from ..predicates.next_action import OfNextAction
from ..predicates.only_calls import CALLS_ONLY, reads_calls
from ..probing.prices import TokensByModel
from ..probing.wholeness import Said
from ..tool_calls import ToolCall
from ..verdicts import Answer
from .answered import with_spent
from .bounds import ReplayEnded
from .chosen_reply import check_chosen, holds_at_once
from .conversation import Conversation, NotedReply
from .executed_calls import ExecutedCall
from .failed_requests import failed_before
from .options import Manner
from .requests.conversations import check_is_whole
from .requests.exchanges import Exchange, Exchanges
from .requests.source_recognition import Request
from .run_failures import unusable
from .run_record import Participation
from .source_kinds.gathering import running_tools
from .watches import ModelWatch

KNOWN = "the next action is known"
NOT_REACHED = (
    "the replay did not reach the request whose reply is explained, because what the application asks "
    "depends on earlier results"
)
_NO_REPLIES = (
    "replay_of='next_action' needs a recorded reply of a model that the application can be given again, "
    "and this run has none; only replies are recorded whose model is called through the framework or "
    "the client that is explained; leave it out"
)
_NOT_SERVED = (
    "replay_of='next_action' cannot give the application a recorded reply again, as its model is no chat "
    "model, or the application did not read a stream to its end; leave it out"
)

_UNREAD = object()
"""This object stands for a reply that was not recorded, such as a stream not read to its end."""
_AWAITED = (
    "replay_of='next_action' explains the first reply that meets the condition, and the condition is "
    "awaited, as a judge is, so that several replies may be the one; say which, such as by "
    "calls_tool('pay') & the condition, or leave replay_of out"
)


@dataclass(slots=True, eq=False)
class WatchedSoFar:
    """A ``WatchedSoFar`` replaces the ``ModelWatch`` of a run whose record was cut off. It has only the
    requests and replies up to the point at which replays end."""

    exchanges: Exchanges
    said: Sequence[Said]
    models: TokensByModel
    steps: int = 0
    fault: str = ""
    failed: bool = False
    before_step: list[Any] = field(default_factory=list[Any])

    @property
    def requests(self) -> list[Request]:
        """Returns the requests to models, in order."""
        return self.exchanges.requests


@dataclass(frozen=True, slots=True)
class ActionPoint:
    """An ``ActionPoint`` is the request of a baseline whose reply is explained.

    ``served``: the replies before it. ``answer``: the reply as an answer. ``at``: the moment of the
    request, a number that is higher for later events. ``number``: the position of the request among the
    baseline's requests, counted from 1; ``of``: the number of these requests. ``within``: the tools
    inside which the request was sent. ``meets``: True iff the reply is known to meet the condition.
    """

    served: tuple[Any, ...]
    answer: Answer
    at: int
    number: int
    of: int
    within: tuple[str, ...] = ()
    meets: bool = False

    @property
    def note(self) -> str:
        """Returns a note for the reader of the explanation, which says which request was repeated."""
        return (
            f"the answer is the reply to request {self.number} of {self.of} of the run; each replay was "
            "given the recorded replies before it, and only this request was sent"
        )


def at_next_action(first: Participation, manner: Manner, question: str) -> Participation:
    """Returns the record of a baseline up to the request whose reply is explained: the first request
    whose reply meets the condition. If no reply meets the condition, or if even an empty reply would meet
    it, the last request is chosen.

    Requests inside tools that do not run in replays are not repeated, so they do not count. If whole runs
    are replayed, returns the whole record. Raises InvalidInput if no reply was recorded, if a recorded
    reply cannot be given to a replay, and if the condition is async and several replies may meet it.
    """
    conversation = first.conversation
    if conversation is None or first.action is not None:
        return first
    turns = list(_turns(conversation, running_tools(first, manner)))
    if all(noted.raw is _UNREAD for _, noted in turns):
        raise InvalidInput(_NO_REPLIES)
    answers = list(_answers(turns, first.executed))
    place, meets = _chosen(answers, manner.condition, question)
    check_chosen(manner.condition, answers, place, question, meets=meets)
    within = turns[place][0].within
    running = {*first.retrieving_tools, *within}
    before = [each for each in turns[:place] if running.issuperset(each[0].within)]
    replies = [*before, turns[place]]
    if any(noted.raw is None for _, noted in before) or any(noted.raw is _UNREAD for _, noted in replies):
        raise InvalidInput(_NOT_SERVED)
    check_is_whole(turns[place][0])
    failed = [
        each for each in failed_before(first, turns[place][0]) if running.issuperset(each[0].within)
    ]
    before = sorted([*before, *failed], key=lambda each: each[0].at)
    watch: ModelWatch = WatchedSoFar(
        Exchanges.only([*(exchange for exchange, _ in before), turns[place][0]]),
        [noted.said for _, noted in replies],
        first.watch.models,
        first.watch.steps,
        failed=bool(failed),
    )
    served = tuple(noted.raw for _, noted in before)
    answer, at = with_spent(answers[place], first.watch), turns[place][0].at
    action = ActionPoint(served, answer, at, place + 1, len(turns), within, meets)
    return replace(first, watch=watch, action=action)


def judged_by_each(manner: Manner, conditions: Iterable[Predicate]) -> tuple[Manner, list[Predicate]]:
    """Returns the options and the conditions of an explanation by several conditions. If only the next
    action is replayed, the next action is the first reply that meets one of these conditions; a condition
    that is the opposite of another one (``~condition``) cannot choose it."""
    judged: list[Predicate] = list(conditions)
    choosing = judged
    if manner.replay_of == "next_action":
        # An audit adds the opposite of a condition. The first reply that does nothing would often meet
        # the opposite, so opposites do not choose the reply.
        opposites = [each for each in judged if isinstance(each, Not) and each.inner in judged]
        choosing = [OfNextAction.of(each) for each in judged if each not in opposites]
        judged = list(map(OfNextAction.of, judged))
    any_of = choosing[0] if len(choosing) == 1 else AnyOf(tuple(choosing))
    reads = any(map(reads_calls, judged))
    return replace(manner, condition=any_of, accepts_calls=reads), judged


def _turns(conversation: Conversation, running: Collection[str]) -> Iterator[tuple[Exchange, NotedReply]]:
    for place, exchange in enumerate(conversation.exchanges):
        noted = conversation.noted.get(place)
        if noted is None and exchange.said is not None:
            noted = NotedReply(_UNREAD, Said(exchange.reply or ""))
        if noted is not None and not noted.said.apart and set(exchange.within) <= set(running):
            yield exchange, noted


def _answers(
    turns: Sequence[tuple[Exchange, NotedReply]], executed: Sequence[ExecutedCall]
) -> Iterator[Answer]:
    """Yields each reply as an answer. ``executed``: the calls of tools that ran."""
    named = {call.name for _, noted in turns for call in noted.said.called}
    own = [each for each in executed if each.call.name not in named]
    ends = [*(exchange.at for exchange, _ in turns[1:]), None]
    for (exchange, noted), end in zip(turns, ends, strict=True):
        later = (each for each in own if exchange.at < each.at and (end is None or each.at < end))
        called = [each.call for each in later if each.within == exchange.within]
        yield reply_as_answer(noted.said, called)


def reply_as_answer(said: Said, called: Sequence[ToolCall] = ()) -> Answer:
    """Returns a model's reply as an answer: its text, and its tool calls as one step.

    ``called``: the tools that were called after the reply. If the reply itself has no tool call, the
    first of these counts as its call, because some models write their calls as plain text, and some
    applications choose the tool themselves.
    """
    calls = tuple(replace(each, step=1) for each in said.called or called[:1])
    reason = CALLS_ONLY if calls and not said.text.strip() else said.reason
    is_unread = said.is_call and not said.called
    return Answer(said.text, calls=None if is_unread else calls, finish_reason=reason)


def _chosen(answers: Sequence[Answer], condition: Any, question: str) -> tuple[int, bool]:
    """Returns the index of the reply that is explained, and whether it is known to meet the condition."""
    last = len(answers) - 1
    if condition is None or holds_at_once(condition, Answer("", calls=()), question):
        return last, False
    known = [holds_at_once(condition, each, question) for each in answers]
    places = [place for place, each in enumerate(known) if each is not False]
    if len(places) > 1 and known[places[0]] is None:
        raise InvalidInput(_AWAITED)
    return (places[0], known[places[0]] is True) if places else (last, False)


def begin_action(run: Participation, action: ActionPoint) -> None:
    """Prepares a replay of the next action: it gets the recorded replies before the explained one. The
    replay ends right after the explained reply if this reply has tool calls, otherwise at the next tool
    call or request."""
    conversation = run.conversation = Conversation(run.watch, action.served)

    def end(_: str) -> None:
        if conversation.acted is None or run.tool_replay is None:
            return
        run.tool_replay.cut = run.tool_replay.cut or KNOWN
        if conversation.acted.said.called:
            # The replay ends here, because nothing may run for the calls, not even a function that the
            # application calls itself. A reply without calls does not end it: the reply may ask for a
            # tool in words that only the application can read.
            raise ReplayEnded(run.tool_replay.cut)

    run.watch.exchanges.after_reply.append(end)


def action_in(run: Participation) -> Answer:
    """Returns the model's reply to the only request that a replay with ``replay_of="next_action"`` sends,
    as the replay's answer. Raises UnusableReply if the replay sent no request or got no reply."""
    acted, replay = None if run.conversation is None else run.conversation.acted, run.tool_replay
    if acted is None:
        cut = "" if replay is None else replay.cut
        raise unusable(cut or NOT_REACHED, run.watch, passing=False)
    return with_spent(reply_as_answer(acted.said, replay.late if replay else ()), run.watch)
