"""This module is used if the next action of an agent is explained. It checks that a replay gets a
recorded reply only for a request that got this reply in the baseline. If an earlier turn is omitted, the
application may make other or fewer requests, or make them in another order."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...printable import printable, shortened
from ..requests.volatile import Steady
from .asked_models import NOTHING_BESIDE, BesideTexts, SentRequest
from .prompt_sections import PromptMessage

OTHER_REQUEST = (
    "without what is omitted, the application makes another request before the next action, so the "
    "recorded reply is no reply to it; replay_of='whole_run' asks the model anew"
)
_OTHER_MODEL = (
    "without what is omitted, the application asks another model before the next action, so the recorded "
    "reply is not its reply; replay_of='whole_run' asks the model anew"
)
_DOUBTED = (
    "a request before the next action got a recorded reply, and without what is omitted it is not known "
    "to be the request that had this reply: "
)
_VOLATILE = (
    _DOUBTED
    + "it has {now!r}, where the runs with all sources have {was!r}. If the value has no meaning "
    "for the model, say so: ignore=[re.escape(the_text)]; or leave replay_of out"
)
_PERHAPS_ANOTHER = (
    _DOUBTED + "its model was made anew, and it cannot be compared with the one of the first run. Make "
    "the model once, before the runs, or leave replay_of out"
)

CutTexts = Callable[[Sequence[PromptMessage]], Sequence[str | None]]
"""A function that gets messages, and returns the text of each message without the omitted sources. The
text is None if nothing of the message is left."""
VolatilePlace = tuple[int, int, int]
"""The place of a volatile part, such as a time, in the requests: the number of the request, the number of
the message (-1 for the parameters of the request), and the number of the part in the message."""

_RESULTS = ("tool", "function")
_SERVED = "\0"
"""This character replaces, in a message, the text of a source that a search or a tool returned."""
_AROUND = re.compile(r"[^\w\0]*\0[^\w]*")
"""Matches a ``_SERVED`` character (which stands for the text of a source), together with the bullets,
commas and spaces around it."""
_PERHAPS = r"[^\w]*"


class Fault(NamedTuple):
    """A ``Fault`` says why (``why``) a request perhaps needs another reply than the recorded one.
    ``is_sure``: True if the recorded reply certainly does not belong to the request."""

    why: str
    is_sure: bool


class _Text(NamedTuple):
    role: str
    text: str
    beside: str


@dataclass(slots=True, eq=False)
class RecordedRequests:
    """A ``RecordedRequests`` compares the requests of one replay that get recorded replies with the
    requests that got these replies in the baseline. The n-th request gets the n-th recorded reply, so the
    n-th requests of both runs have to be equal, except for white space.

    ``requests``: the requests of the baseline whose replies are recorded, in order; ``parameters``: their
    parameters. ``steady``: replaces parts of texts that differ from run to run without a meaning, such as
    ids. ``served``: the texts of the sources that searches and tools return. They are ignored in the
    comparison, because the replay may lack some of them. ``results``: returns the texts of results that
    tools have returned to the replay or to the baseline. ``varying``: the places of volatile parts, such
    as times, that differed in a replay in which nothing was omitted. Differences at these places are
    ignored. All replays of a baseline share this set.
    """

    requests: Sequence[SentRequest]
    steady: Steady
    served: Sequence[str] = ()
    parameters: Sequence[str] = ()
    results: Callable[[], Collection[str]] = tuple
    varying: set[VolatilePlace] = field(default_factory=set[VolatilePlace])
    _made: int = 0

    def note_whole(self, messages: Sequence[PromptMessage]) -> None:
        """Records which volatile parts differ in a request of a replay in which nothing is omitted. Must
        be called once for each request of such a replay, in order."""
        place, self._made = self._made, self._made + 1
        known = self.requests[place].messages if place < len(self.requests) else ()
        for number, (was, now) in enumerate(zip(known, messages, strict=False)):
            self.varying.update((place, number, part) for part, _, _ in self._changed(was.text, now.text))

    def fault(
        self,
        messages: Sequence[PromptMessage],
        texts: Sequence[str | None],
        cut: CutTexts,
        beside: BesideTexts = NOTHING_BESIDE,
    ) -> Fault | None:
        """Returns the reason why the recorded reply may not belong to the request. Returns None if the
        reply belongs to it, or if there is no recorded reply for it. Must be called once for each request
        of the replay, in order. ``texts``: the texts with which the messages are sent; ``cut``: removes
        the omitted sources from the baseline's requests."""
        place, self._made = self._made, self._made + 1
        if place >= len(self.requests):
            return None
        known = self.requests[place]
        sent = _left(messages, texts, beside.told)
        expected = _left(known.messages, cut(known.messages), known.told)
        alike = [each[0] for each in sent] == [each[0] for each in expected]
        if not alike or not all(map(self._is_same, expected, sent)):
            return Fault(OTHER_REQUEST, is_sure=True)
        is_same = known.asked.is_same(beside.model)
        if is_same is not True:
            return Fault(_PERHAPS_ANOTHER if is_same is None else _OTHER_MODEL, is_sure=is_same is False)
        numbers = [number for number, text in enumerate(cut(known.messages)) if text is not None]
        return self._volatile_fault(
            [(place, *each) for each in zip(numbers, expected, sent, strict=True)]
        )

    def fault_of_parameters(self, place: int, now: str) -> Fault | None:
        """Returns the reason why the recorded reply may not belong to a request with these parameters,
        such as the tools that the model may call. Returns None if there is no such reason. ``place``: the
        number of the request, counted from 0; ``now``: its parameters."""
        was = self.parameters[place] if place < len(self.parameters) else now
        if self.steady(was) != self.steady(now):
            return Fault(OTHER_REQUEST, is_sure=True)
        return self._volatile_fault([(place, -1, _Text("", was, ""), _Text("", now, ""))])

    def _volatile_fault(self, pairs: Sequence[tuple[int, int, _Text, _Text]]) -> Fault | None:
        for place, number, expected, sent in pairs:
            for part, was, now in self._changed(expected.text, sent.text):
                if (place, number, part) not in self.varying:
                    shown = (shortened(printable(each), 60) for each in (was, now))
                    return Fault(_VOLATILE.format(**dict(zip(("was", "now"), shown, strict=True))), False)
        return None

    def _changed(self, was: str, now: str) -> list[tuple[int, str, str]]:
        """Returns the volatile parts, such as times, that differ between two texts, each with its number
        in the text. If the numbers of volatile parts are not equal, returns the parts of ``now`` that are
        not in ``was``, with the number -1."""
        parts = [self._volatile_in(each) for each in (was, now)]
        if len(parts[0]) != len(parts[1]):
            left = [each for each in parts[1] if each not in parts[0]]
            return [(-1, "other values", each) for each in left]
        pairs = enumerate(zip(*parts, strict=True))
        return [(number, *each) for number, each in pairs if each[0] != each[1]]

    def _volatile_in(self, text: str) -> list[str]:
        for each in sorted(self.served, key=len, reverse=True):
            text = text.replace(each, _SERVED) if each else text
        return self.steady.volatile_in(text)

    def _is_same(self, was: _Text, now: _Text) -> bool:
        """Returns True iff two messages are equal, except for volatile parts such as times. Sources
        that a search or a tool returned, and the characters around them, may be missing in the second
        message."""
        if self._dense(was.beside) != self._dense(now.beside):
            return False
        if was.role in _RESULTS and self._are_results(was.text, now.text):
            return True
        known, left = self._own(was.text), self._own(now.text)
        if _SERVED not in known:
            return known == left
        return re.fullmatch(_PERHAPS.join(map(re.escape, _AROUND.split(known))), left) is not None

    def _are_results(self, was: str, now: str) -> bool:
        """Returns True iff both texts are results of tools, in which different sources may be missing."""
        if not self.served:
            return False
        results = {self._dense(each) for each in self.results()}
        return {self._dense(was), self._dense(now)} <= results

    def _own(self, text: str) -> str:
        """Returns a message's text without white space. The text of each source that a search or a tool
        returned is replaced by ``_SERVED``."""
        own = self._dense(text)
        for each in sorted(map(self._dense, self.served), key=len, reverse=True):
            own = own.replace(each, _SERVED) if each else own
        return own

    def _dense(self, text: str) -> str:
        return "".join(self.steady(text).replace(_SERVED, "").split())


def _left(
    messages: Sequence[PromptMessage], texts: Sequence[str | None], told: Sequence[str]
) -> list[_Text]:
    beside = told or [""] * len(messages)
    several = zip(messages, texts, beside, strict=True)
    return [_Text(each.role, text, more) for each, text, more in several if text is not None]
