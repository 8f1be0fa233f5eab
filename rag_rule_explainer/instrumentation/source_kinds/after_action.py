"""This module makes notes for the reader of an explanation of an agent's action. They name sources that
did not lead to the action in the first run, sources that recorded replies repeat, and turns that the
application dropped."""

from collections.abc import Iterator, Sequence

from ...explanation.wording import few_of
from ...predicates.only_calls import reads_only_calls
from ...probing.wholeness import Said
from ...verdicts import Answer
from ..chosen_reply import holds_at_once
from ..options import Manner
from ..requests.source_recognition import Request, Sight
from ..run_context import Participation

_AFTER = (
    "{named} came after the action of the first run and did not lead to it there; in runs without other "
    "sources they may. replay_of='next_action' leaves them out"
)
_REPEATED = (
    "replies of the model before the explained action repeat {named}, and every replay has these "
    "replies; what it does through them is not seen; replay_of='whole_run' shows it"
)
_DROPPED = (
    "later requests of the run lack messages of {named}, as the application drops old ones; a replay "
    "leaves omitted turns out of the requests that the application makes, so nothing that was dropped "
    "comes back in their place"
)


def dropped_by_the_application(first: Participation) -> Iterator[str]:
    """Yields a note if later requests of the first run lack turns that its first request had, because
    the application itself has left them out."""
    dropped: Sequence[str] = () if first.prompt_sources is None else first.prompt_sources.dropped
    if dropped:
        yield _DROPPED.format(named=few_of(dropped, 120))


def repeated_by_replies(first: Participation, sight: Sight) -> Iterator[str]:
    """Yields a note if the next action is explained, and recorded replies before it hold the text of
    sources. Such a text stays in the conversation when the source is omitted."""
    if first.action is None:
        return
    before = first.watch.said[:-1]
    calls = (str(call.arguments) for each in before for call in each.called)
    ids = sorted(sight.seen_in([Request(text) for text in (*(each.text for each in before), *calls)]))
    if ids:
        yield _REPEATED.format(named=few_of(ids, 120))


def came_after_the_action(first: Participation, manner: Manner, question: str) -> Iterator[str]:
    """Yields a note if a whole run is explained, and some of its sources are results of tools that were
    called together with the action or after it. The action is the tool call with which the condition
    first holds. Such results are still sources, because a replay without earlier results may take the
    action later, after it got them."""
    found, condition = first.tool_sources, manner.condition
    if found is None or first.action is not None or not reads_only_calls(condition):
        return
    made = _replies_before(first.watch.said, condition, question)
    if made is not None:
        late = [each for each in first.tool_record.noted if each.replies >= made]
        ids = [identity for each in late for identity in found.ids_in(each)]
        if ids:
            yield _AFTER.format(named=few_of(ids, 120))


def _replies_before(said: Sequence[Said], condition: object, question: str) -> int | None:
    """Returns the number of the models' replies after which the condition, which is about tool calls,
    first held. Returns None if it never held, or if it also holds when no tool is called."""
    if holds_at_once(condition, Answer("", calls=()), question):
        return None
    for count in range(1, len(said) + 1):
        calls = tuple(call for reply in said[:count] for call in reply.called)
        if holds_at_once(condition, Answer("", calls=calls), question):
            return count
    return None
