"""This module finds the requests of a baseline for which a model failed, and after which the application
asked another model, as with a fallback. Replays that get recorded replies get the same errors, so that
they ask the models in the same order."""

from collections.abc import Iterator

from ..probing.wholeness import Said
from .conversation import FailedRequest, NotedReply
from .requests.exchanges import Exchange
from .run_record import Participation
from .source_kinds.asked_requests import AskedRequests


def failed_before(first: Participation, action: Exchange) -> Iterator[tuple[Exchange, NotedReply]]:
    """Yields the failed requests before the request ``action``, each with a ``NotedReply`` that holds the
    error. ``first``: the baseline.

    Leaves out a request that was repeated to the same model: a replay gets the recorded reply at once,
    and does not wait for another attempt. Also leaves out a request after which the action was the next
    reply: a replay sends it, because the model may fail only if it is shown some source.
    """
    asked, conversation = first.prompts or first.asked, first.conversation
    if conversation is None or not isinstance(asked, AskedRequests):
        return
    exchanges = list(conversation.exchanges)
    for place, error in sorted(conversation.failed.items()):
        exchange = exchanges[place]
        answered = next((each for each in exchanges[place + 1 :] if each.said is not None), None)
        if exchange.said is not None or answered is None or answered.at >= action.at:
            continue
        if not _is_repetition(asked, exchange, answered):
            yield exchange, NotedReply(FailedRequest(error), Said(""))


def _is_repetition(asked: AskedRequests, failed: Exchange, answered: Exchange) -> bool:
    if failed.sent != answered.sent:
        return False
    sent = asked.requests_of([failed, answered])
    return len(sent) < 2 or sent[0].asked.is_same(sent[1].asked) is not False
