"""This module makes notes for the reader of an explanation: on sources that came after the explained
action, and on sources whose texts are repeated by recorded replies before it."""

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
    "later requests of the run lack messages of {named}, as the application drops old ones; where it is "
    "not given an omitted turn at all, it may keep another one in its place"
)


def dropped_by_the_application(first: Participation) -> Iterator[str]:
    """Yields a note if the application itself leaves out turns, in later requests of the first run."""
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
    called together with the action or after it. The action is the call with which the condition holds.
    These results stay sources, because a run without some of the others may take the action later."""
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
    """Returns the number of replies after which the condition held for the first time; None if it never
    did, or if it even holds of a run without calls."""
    if holds_at_once(condition, Answer("", calls=()), question):
        return None
    for count in range(1, len(said) + 1):
        calls = tuple(call for reply in said[:count] for call in reply.called)
        if holds_at_once(condition, Answer("", calls=calls), question):
            return count
    return None
