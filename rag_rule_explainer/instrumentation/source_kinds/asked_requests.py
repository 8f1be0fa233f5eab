"""This module records the requests of a baseline to models, so that the requests of replays that get
recorded replies can be compared with them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..requests.exchanges import Exchange, moment
from .asked_models import NOTHING_BESIDE, BesideTexts, ComparedModel, ModelsInUse, SentRequest
from .prompt_sections import PromptMessage


class PromptEditing(Protocol):
    """A ``PromptEditing`` edits each request of a run before it is sent."""

    def edited(
        self, messages: Sequence[PromptMessage], beside: BesideTexts = NOTHING_BESIDE
    ) -> Sequence[str | None]:
        """Returns the text that each message is sent with; None for a message that is not sent.
        ``beside``: what the request has besides these texts."""
        ...


@dataclass(slots=True, eq=False)
class AskedRequests:
    """An ``AskedRequests`` records the requests of a baseline to models, and changes none. ``requests``:
    all of them. ``keeps_models``: True if replays get recorded replies, so that their requests have to be
    compared with these. ``used``: the models that the run asks. ``varying``: the places of volatile parts
    of requests that differed although nothing was omitted, see ``RecordedRequests``."""

    requests: list[SentRequest] = field(default_factory=list[SentRequest])
    keeps_models: bool = False
    used: ModelsInUse = field(default_factory=ModelsInUse)
    varying: set[tuple[int, int, int | str]] = field(default_factory=set[tuple[int, int, int | str]])

    def edited(
        self, messages: Sequence[PromptMessage], beside: BesideTexts = NOTHING_BESIDE
    ) -> Sequence[str | None]:
        """Returns the messages' texts, unchanged."""
        asked = ComparedModel.of(beside.model, self.used) if self.keeps_models else ComparedModel()
        self.requests.append(
            SentRequest(moment(), tuple(messages), tuple(beside.whole), asked, beside.more)
        )
        return [each.text for each in messages]

    def requests_of(self, exchanges: Iterable[Exchange]) -> list[SentRequest]:
        """Returns the requests of these exchanges, in order. Leaves out an exchange that was not made of
        messages. Requests that were made at the same time are told apart by their texts."""
        left, found, before = list(self.requests), list[SentRequest](), 0
        for each in exchanges:
            earlier = [one for one in left if one.at < each.at]
            shown = _dense(each.request.text)
            having = [one for one in earlier if all(_dense(told.text) in shown for told in one.messages)]
            own = having or [one for one in earlier if one.at > before]
            if own:
                found.append(own[-1])
                left.remove(own[-1])
            before = each.at
        return found


def _dense(text: str) -> str:
    return "".join(text.split())
