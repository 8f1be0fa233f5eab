"""This module is used if the next action of an agent is explained. It checks that a replay gets a
recorded reply only for a request that got this reply in the baseline. If an earlier turn is omitted, the
application may make other or fewer requests, or make them in another order."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from ..requests.volatile import Steady
from .asked_models import NOTHING_BESIDE, BesideTexts, ComparedModel, ModelsInUse, SentRequest
from .lacking_texts import SERVED, lacks_only, may_lack
from .prompt_sections import PromptMessage
from .request_faults import OTHER_MODEL, OTHER_REQUEST, PERHAPS_ANOTHER, Fault, differing
from .whole_messages import (
    EMPTY_MESSAGE,
    PLAIN_TEXT,
    WholeMessage,
    are_cached_alike,
    differ_in_caching,
    other_fields,
)

CutTexts = Callable[[Sequence[PromptMessage]], Sequence[str | None]]
"""A function that gets messages and returns the text of each without the omitted sources; None for a
message of which nothing is left."""
VolatilePlace = tuple[int, int, int | str]
"""The place of a volatile part: the number of its request, of its message (-1 for the parameters), and of
the part in the message; or the name of a field beside the messages."""

_RESULTS = ("tool", "function")
GAP = "\1"
"""This character replaces a section that was cut out of a text."""
_AROUND_GAPS = re.compile(rf"(?:\\?\s)*(?:\\?{GAP}(?:\\?\s)*)+")
"""Matches the places of sections in an escaped text, with the white space around them."""
_LONG = 12
"""The smallest length of a tool's result that is looked for inside other texts."""
_OF_PARAMETERS, _OF_MORE = -1, -2
"""Numbers that stand for a message's number in a ``VolatilePlace``."""


class _Sent(NamedTuple):
    """A ``_Sent`` is a message of a request as it is sent. ``is_cut``: True if its text is another one
    than before the omitted sources were cut out."""

    role: str
    text: str
    whole: WholeMessage = EMPTY_MESSAGE
    is_cut: bool = False

    @property
    def shown(self) -> str:
        return "\n".join([self.text, self.whole.frame, self.whole.parts])


@dataclass(slots=True, eq=False)
class RecordedRequests:
    """A ``RecordedRequests`` compares the requests of one replay that get recorded replies with the
    requests that got these replies in the baseline. The n-th request gets the n-th recorded reply, so the
    n-th requests of both runs have to be equal in everything but the omitted sources.

    ``requests``: the requests of the baseline whose replies are recorded, in order; ``parameters``: their
    parameters. ``steady``: replaces parts of texts that differ from run to run without a meaning, such as
    ids. ``served``: the texts of the sources that searches and tools return. They are ignored in the
    comparison, because the replay may lack some of them. ``results``: returns the texts of results that
    tools have returned to the replay or to the baseline. ``varying``: the places of volatile parts, such
    as times, that differed in a replay in which nothing was omitted: they have no meaning. All replays of
    a baseline share it. ``omitted``: the texts of the sources in ``served`` that the replay omits.
    ``used``: the models that the replay asks. ``holds_out``: True if no replay gets all sources, because
    no model was shown some of them."""

    requests: Sequence[SentRequest]
    steady: Steady
    served: Sequence[str] = ()
    parameters: Sequence[str] = ()
    results: Callable[[], Collection[str]] = tuple
    varying: set[VolatilePlace] = field(default_factory=set[VolatilePlace])
    omitted: Sequence[str] = ()
    used: ModelsInUse = field(default_factory=ModelsInUse)
    holds_out: bool = False
    _made: int = 0

    def note_whole(self, messages: Sequence[PromptMessage], beside: BesideTexts = NOTHING_BESIDE) -> None:
        """Records which volatile parts differ in a request of a replay in which nothing is omitted. Must
        be called once for each request of such a replay, in order."""
        place, self._made = self._made, self._made + 1
        if place >= len(self.requests):
            return
        known = self.requests[place]
        was, now = (
            _left(each, [one.text for one in each], whole)
            for each, whole in ((known.messages, known.whole), (messages, beside.whole))
        )
        for number, pair in enumerate(zip(was, now, strict=False)):
            self._note_varying(place, number, *pair)
        self._note_varying(place, _OF_MORE, _Sent("", known.more), _Sent("", beside.more))
        several = other_fields(known.more, beside.more, self.steady)
        self.varying.update((place, _OF_MORE, each) for each in several)

    def note_whole_parameters(self, place: int, now: str) -> None:
        """Records which volatile parts differ in the parameters of such a request."""
        was = self.parameters[place] if place < len(self.parameters) else now
        self._note_varying(place, _OF_PARAMETERS, _Sent("", was), _Sent("", now))

    def _note_varying(self, place: int, number: int, was: _Sent, now: _Sent) -> None:
        self.varying.update((place, number, part) for part, _, _ in self._changed(was, now))

    def fault(
        self,
        messages: Sequence[PromptMessage],
        texts: Sequence[str | None],
        cut: CutTexts,
        beside: BesideTexts = NOTHING_BESIDE,
    ) -> Fault | None:
        """Returns the reason why the recorded reply may not belong to the request. Returns None if the
        reply belongs to it, or if there is no recorded reply for it. Must be called for each request, in
        order. ``texts``: the texts of the sent messages; ``cut``: cuts out omitted sources."""
        place, self._made = self._made, self._made + 1
        if place >= len(self.requests):
            return None
        known = self.requests[place]
        left = cut(known.messages)
        sent, expected = _left(messages, texts, beside.whole), _left(known.messages, left, known.whole)
        roles = [[each.role for each in side] for side in (sent, expected)]
        is_same = roles[0] == roles[1] and are_cached_alike(
            [each.whole for each in expected], [each.whole for each in sent], known.whole
        )
        several = other_fields(known.more, beside.more, self.steady)
        if (
            not is_same
            or not {(place, _OF_MORE, each) for each in several} <= self.varying
            or not all(map(self._is_same, _renamed(expected), _renamed(sent)))
        ):
            return Fault(OTHER_REQUEST, is_sure=True)
        if (is_same := known.asked.is_same(ComparedModel.of(beside.model, self.used))) is not True:
            return Fault(PERHAPS_ANOTHER if is_same is None else OTHER_MODEL, is_sure=is_same is False)
        numbers = [number for number, text in enumerate(left) if text is not None]
        pairs = [(place, *each) for each in zip(numbers, expected, sent, strict=True)]
        more = (place, _OF_MORE, _Sent("", known.more), _Sent("", beside.more))
        return self._volatile_fault([*pairs, more])

    def fault_of_parameters(self, place: int, now: str) -> Fault | None:
        """Returns the reason why the recorded reply may not belong to a request with these parameters,
        such as the tools that the model may call. Returns None if there is no such reason. ``place``: the
        number of the request, counted from 0; ``now``: its parameters."""
        was = self.parameters[place] if place < len(self.parameters) else now
        if self.steady(was) != self.steady(now):
            return Fault(OTHER_REQUEST, is_sure=True)
        return self._volatile_fault([(place, _OF_PARAMETERS, _Sent("", was), _Sent("", now))])

    def _volatile_fault(self, pairs: Sequence[tuple[int, int, _Sent, _Sent]]) -> Fault | None:
        for place, number, expected, sent in pairs:
            known = {
                part for *at, part in self.varying if at == [place, number] and isinstance(part, int)
            }
            for part, was, now in self._changed(expected, sent, known):
                if part not in known:
                    return differing(was, now, holds_out=self.holds_out)
        return None

    def _changed(
        self, was: _Sent, now: _Sent, varying: Collection[int] = ()
    ) -> list[tuple[int, str, str]]:
        """Returns the volatile parts that differ between two messages, each with its number: dates, ids
        and the like, and the ids of calls. Where the messages have different numbers of such parts,
        sources are missing between them. ``varying``: the numbers of the parts that have no meaning."""
        if was.shown == now.shown:
            return []
        parts = [[*self._volatile_in(each.shown), *each.whole.calls] for each in (was, now)]
        if len(parts[0]) != len(parts[1]):
            if self._only_lacks(parts[0], parts[1], varying):
                return []
            left = [each for each in parts[1] if each not in parts[0]]
            return [(-1, "other values", each) for each in left]
        pairs = enumerate(zip(*parts, strict=True))
        return [(number, *each) for number, each in pairs if each[0] != each[1]]

    def _only_lacks(self, was: Sequence[str], now: Sequence[str], varying: Collection[int]) -> bool:
        """Returns True iff ``now`` is ``was`` without some parts. ``varying``: the positions in ``was``
        of parts that may have another value, such as another date in the place of a date."""
        left = enumerate(was)
        return all(
            any(
                one == each or (number in varying and self.steady(one) == self.steady(each))
                for number, one in left
            )
            for each in now
        )

    def _volatile_in(self, text: str) -> list[str]:
        return self.steady.volatile_in(self._marked(text))

    def _is_same(self, was: _Sent, now: _Sent) -> bool:
        """Returns True iff two messages are equal up to volatile parts, except that the second may lack
        served sources, with the signs around them, and white space around sections that were cut out."""
        if was == now:
            return True
        if self.steady(was.whole.frame) != self.steady(now.whole.frame):
            return False
        if was.role in _RESULTS and self._are_results(was.text, now.text):
            return True
        known, has_parts = self._steadied(was.text), self._has_parts_of(was, now)
        if SERVED in known:
            kinds = [_kinds(self.steady(each.whole.parts)) for each in (was, now)]
            has_parts = has_parts or kinds[0] >= kinds[1]
            is_same = may_lack(known.replace(GAP, SERVED), self._steadied(now.text))
            return has_parts and (is_same or self._is_result_without(was, now))
        if was.is_cut:
            pattern = _AROUND_GAPS.sub(lambda _: r"\s*", re.escape(known))
            return has_parts and re.fullmatch(pattern, self._steadied(now.text)) is not None
        texts = [list(map(self.steady, each.whole.texts)) for each in (was, now)]
        is_same = known == self._steadied(now.text) and texts[0] == texts[1]
        return has_parts and (is_same or self._is_result_without(was, now))

    def _has_parts_of(self, was: _Sent, now: _Sent) -> bool:
        """Returns True iff the contents of both messages have the same kinds of parts. A text that was
        cut is sent as one part."""
        known, parts = self.steady(was.whole.parts), self.steady(now.whole.parts)
        is_same = known == parts or (was.is_cut and parts == PLAIN_TEXT)
        return is_same or differ_in_caching(was.whole, now.whole)

    def _is_result_without(self, was: _Sent, now: _Sent) -> bool:
        """Returns True iff the second text is a result of a tool as the first one is, in the form that
        the application gave it, but without omitted sources."""
        omitted = list(map(self.steady, self.omitted))
        return was.role in _RESULTS and lacks_only(self.steady(was.text), self.steady(now.text), omitted)

    def _are_results(self, was: str, now: str) -> bool:
        """Returns True iff both texts are results of tools, in which different sources may be missing."""
        if not self.served:
            return False
        results = {self.steady(each).strip() for each in self.results()}
        return {self.steady(was).strip(), self.steady(now).strip()} <= results

    def _steadied(self, text: str) -> str:
        """Returns a message's text without its volatile parts, in which ``SERVED`` stands for each
        source that was served."""
        return self.steady(self._marked(text))

    def _marked(self, text: str) -> str:
        text = text.replace(SERVED, "")
        results = [each for each in self.results() if len(each) >= _LONG] if self.served else []
        for each in sorted({*results, *self.served}, key=len, reverse=True):
            for form in (each, json.dumps(each)[1:-1]) if each else ():
                text = text.replace(form, SERVED)
        return text


def _kinds(parts: str) -> set[str]:
    """Returns the kinds of parts of a content. ``parts``: its description."""
    described: Any = json.loads(parts) if parts else []
    listed = cast("list[Any]", described) if isinstance(described, list) else [described]
    return {json.dumps(each) for each in listed}


def _renamed(messages: Sequence[_Sent]) -> list[_Sent]:
    names = dict[str, str]()
    return [each._replace(whole=each.whole.renamed(names)) for each in messages]


def _left(
    messages: Sequence[PromptMessage], texts: Sequence[str | None], whole: Sequence[WholeMessage]
) -> list[_Sent]:
    """Returns the messages that are sent. ``whole``: see ``BesideTexts``."""
    several = zip(messages, texts, whole or [EMPTY_MESSAGE] * len(messages), strict=True)
    return [
        _Sent(each.role, text, all_of, text != each.text)
        for each, text, all_of in several
        if text is not None
    ]
