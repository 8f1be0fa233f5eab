"""This module chooses the next action that an explanation is about, and cuts the record of a baseline off
there.

A replay of the next action gets the recorded replies up to one request of the baseline. Only this request
is sent to the model, with the omitted sources missing in it, and its reply is the answer.
"""

from collections.abc import Awaitable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ..errors import InvalidInput
from ..predicates.only_calls import CALLS_ONLY
from ..predicates.outcomes import as_judgement
from ..probing.prices import TokensByModel
from ..probing.wholeness import Said
from ..verdicts import Answer, Case, Verdict
from .answered import with_spent
from .conversation import Conversation, NotedReply
from .options import Manner
from .requests.exchanges import Exchange, Exchanges
from .requests.source_recognition import Request
from .run_context import ModelWatch, Participation, unusable
from .source_kinds.gathering import running_tools

KNOWN = "the next action is known"
NOT_REACHED = (
    "the replay did not come to the request whose reply is explained, as the application goes by what it "
    "was told before"
)
_NO_REPLIES = (
    "replay_of='next_action' needs replies that the application can be given again, and there is none: "
    "those of LangChain's chat models and of the OpenAI client are recorded; leave it out"
)
_NOT_SERVED = (
    "replay_of='next_action' cannot give the application a recorded reply again, as its model is no chat "
    "model, or its client streams; leave it out"
)


@dataclass(slots=True, eq=False)
class WatchedSoFar:
    """A ``WatchedSoFar`` is what was recorded of a run up to one of its requests; see ``ModelWatch``."""

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
    request. ``number``, ``of``: its number among those of the baseline, counted from 1.
    """

    served: tuple[Any, ...]
    answer: Answer
    at: int
    number: int
    of: int

    @property
    def note(self) -> str:
        """Returns a note for the reader of the explanation."""
        return (
            f"the answer is the reply to request {self.number} of {self.of} of the run; each replay was "
            "given the recorded replies before it, and only this request was sent"
        )


def at_next_action(first: Participation, manner: Manner, question: str) -> Participation:
    """Returns the record of a baseline as far as the request whose reply is explained: the first whose
    reply meets the condition; the last, if none does, or if a reply that does nothing meets it too.

    Requests made inside tools that do not run in replays are not repeated, so they do not count. If whole
    runs are replayed, returns the record as it is. Raises InvalidInput if no reply was recorded, or one
    cannot be given again.
    """
    conversation = first.conversation
    if conversation is None or first.action is not None:
        return first
    turns = list(_turns(conversation, running_tools(first, manner)))
    if not turns:
        raise InvalidInput(_NO_REPLIES)
    answers = [reply_as_answer(noted.said) for _, noted in turns]
    place = _chosen(answers, manner.condition, question)
    if any(noted.raw is None for _, noted in turns[:place]):
        raise InvalidInput(_NOT_SERVED)
    exchanges = [exchange for exchange, _ in turns[: place + 1]]
    watch: ModelWatch = WatchedSoFar(
        Exchanges.only(exchanges),
        [noted.said for _, noted in turns[: place + 1]],
        first.watch.models,
        first.watch.steps,
    )
    served = tuple(noted.raw for _, noted in turns[:place])
    answer = with_spent(answers[place], first.watch)
    action = ActionPoint(served, answer, exchanges[-1].at, place + 1, len(turns))
    return replace(first, watch=watch, action=action)


def _turns(conversation: Conversation, running: Collection[str]) -> Iterator[tuple[Exchange, NotedReply]]:
    for place, exchange in enumerate(conversation.exchanges):
        noted = conversation.noted.get(place)
        if noted is not None and not noted.said.apart and set(exchange.within) <= set(running):
            yield exchange, noted


def reply_as_answer(said: Said) -> Answer:
    """Returns a model's reply as an answer: its text, and its tool calls as one step."""
    calls = tuple(replace(each, step=1) for each in said.called)
    reason = CALLS_ONLY if calls and not said.text.strip() else said.reason
    return Answer(said.text, calls=calls, finish_reason=reason)


def _chosen(answers: Sequence[Answer], condition: Any, question: str) -> int:
    last = len(answers) - 1
    if condition is None or holds_at_once(condition, Answer("", calls=()), question):
        return last
    return next((n for n, each in enumerate(answers) if holds_at_once(condition, each, question)), last)


def holds_at_once(condition: Any, answer: Answer, question: str) -> bool:
    """Returns True iff the condition is known at once to hold of the answer."""
    with suppress(Exception):
        judged = condition(Case(question, answer, answer, ()))
        if isinstance(judged, Awaitable):
            getattr(cast("Any", judged), "close", bool)()
            return False
        return as_judgement(judged, condition).verdict is Verdict.HOLDS
    return False


def begin_action(run: Participation, action: ActionPoint) -> None:
    """Makes a replay that is about to begin one of the next action: it gets the recorded replies, and
    ends at the first tool call or request after the reply that is explained."""
    conversation = run.conversation = Conversation(run.watch.exchanges, action.served)

    def end(_: str) -> None:
        if conversation.acted is not None and run.tool_replay is not None:
            run.tool_replay.cut = run.tool_replay.cut or KNOWN

    run.watch.exchanges.after_reply.append(end)


def action_in(run: Participation) -> Answer:
    """Returns the answer of a replay of the next action. Raises UnusableReply if there is none."""
    acted = None if run.conversation is None else run.conversation.acted
    if acted is None:
        cut = run.tool_replay.cut if run.tool_replay is not None else ""
        raise unusable(cut or NOT_REACHED, run.watch, passing=False)
    return with_spent(reply_as_answer(acted.said), run.watch)
