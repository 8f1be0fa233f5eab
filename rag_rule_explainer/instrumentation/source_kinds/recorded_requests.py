"""This module checks that a replay of the next action gets a recorded reply only for the request that got
this reply in the baseline. If an earlier turn is omitted, the application may make other or fewer
requests, or make them in another order."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..requests.volatile import Steady
from .prompt_sections import PromptMessage

OTHER_REQUEST = (
    "without what is omitted, the application makes another request before the next action, so the "
    "recorded reply is no reply to it; replay_of='whole_run' asks the model anew"
)

CutTexts = Callable[[Sequence[PromptMessage]], Sequence[str | None]]
"""A function that gets messages and returns the text of each message without the omitted sources; None
for a message of which nothing is left."""

_RESULTS = ("tool", "function")
_SERVED = "\0"
"""This character replaces the text of a source that a search or a tool returned."""
_AROUND = re.compile(r"[^\w\0]*\0[^\w]*")
"""Matches the text of such a source with the characters around it that belong to it, such as bullets and
commas."""
_PERHAPS = r"[^\w]*"


@dataclass(slots=True, eq=False)
class RecordedRequests:
    """A ``RecordedRequests`` compares the requests of one replay that get recorded replies with the
    requests that got these replies in the baseline. The n-th request gets the n-th recorded reply, so the
    n-th requests of both runs have to be equal, except for white space.

    ``requests``: the messages of the requests of the baseline whose replies are recorded, in order.
    ``steady``: replaces parts of texts that differ from run to run without a meaning, such as ids.
    ``served``: the texts of the sources that searches and tools return. They are ignored in the
    comparison, because some of them may be missing in the replay.
    """

    requests: Sequence[Sequence[PromptMessage]]
    steady: Steady
    served: Sequence[str] = ()
    _made: int = 0

    def is_another(
        self, messages: Sequence[PromptMessage], texts: Sequence[str | None], cut: CutTexts
    ) -> bool:
        """Returns True iff the request would get a recorded reply that the baseline got for a different
        request. Must be called once for each request of the replay, in order. ``texts``: the texts with
        which the messages are sent; ``cut``: removes the omitted sources from the baseline's requests."""
        place, self._made = self._made, self._made + 1
        if place >= len(self.requests):
            return False
        known = self.requests[place]
        sent, expected = self._left(messages, texts), self._left(known, cut(known))
        if [role for role, _ in sent] != [role for role, _ in expected]:
            return True
        return not all(_is_same(was, text) for (_, was), (_, text) in zip(expected, sent, strict=True))

    def _left(
        self, messages: Sequence[PromptMessage], texts: Sequence[str | None]
    ) -> list[tuple[str, str]]:
        pairs = zip(messages, texts, strict=True)
        return [(each.role, self._own(each.role, text)) for each, text in pairs if text is not None]

    def _own(self, role: str, text: str) -> str:
        """Returns a message's text without white space, and with ``_SERVED`` in place of each source that
        a search or a tool returned."""
        own = "" if role in _RESULTS else self._dense(text)
        for each in sorted(map(self._dense, self.served), key=len, reverse=True):
            own = own.replace(each, _SERVED) if each else own
        return own

    def _dense(self, text: str) -> str:
        return "".join(self.steady(text).replace(_SERVED, "").split())


def _is_same(was: str, text: str) -> bool:
    """Returns True iff the two texts are equal, except that sources which a search or a tool returned may
    be missing in the second, with the characters around them."""
    if _SERVED not in was:
        return was == text
    return re.fullmatch(_PERHAPS.join(map(re.escape, _AROUND.split(was))), text) is not None
