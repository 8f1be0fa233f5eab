"""This module checks that a replay of the next action gets a recorded reply only to the request that had
this reply in the baseline. If an earlier turn is omitted, the application may make other or fewer
requests."""

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
"""A function that gets messages and returns the text of each without the omitted sources; None for a
message of which nothing is left."""


_WORDS = re.compile(r"\w+")
_RESULTS = ("tool", "function")


@dataclass(slots=True, eq=False)
class RecordedRequests:
    """A ``RecordedRequests`` compares requests of one replay with the requests of the baseline. It
    compares those that get a recorded reply.

    ``requests``: the messages of the baseline's requests. ``number``: the number of requests that get
    recorded replies. ``steady``: replaces parts of texts that differ from run to run without a meaning,
    such as ids. ``served``: the texts of the sources that searches and tools return. They are ignored in
    the comparison, because the replay may lack some of them.
    """

    requests: Sequence[Sequence[PromptMessage]]
    number: int
    steady: Steady
    served: Sequence[str] = ()
    _made: int = 0

    def is_another(
        self, messages: Sequence[PromptMessage], texts: Sequence[str | None], cut: CutTexts
    ) -> bool:
        """Returns True iff the request gets a recorded reply although the baseline made no such request.
        Must be called once for each request of the replay, in order. ``texts``: the texts with which the
        messages are sent; ``cut``: removes the omitted sources from the baseline's requests."""
        self._made += 1
        if self._made > self.number:
            return False
        sent = self._left(messages, texts)
        return all(self._left(each, cut(each)) != sent for each in self.requests)

    def _left(
        self, messages: Sequence[PromptMessage], texts: Sequence[str | None]
    ) -> list[tuple[str, str]]:
        pairs = zip(messages, texts, strict=True)
        return [(each.role, self._own(each.role, text)) for each, text in pairs if text is not None]

    def _own(self, role: str, text: str) -> str:
        own = "" if role in _RESULTS else _letters(self.steady(text))
        for each in sorted(map(_letters, self.served), key=len, reverse=True):
            own = own.replace(each, "") if each else own
        return own


def _letters(text: str) -> str:
    return "".join(_WORDS.findall(text))
