"""This module compares the requests of two runs, such as the baseline and a replay on all sources.

The order of lines from sources is ignored, because parallel searches and equal scores change it. The
order of requests is ignored too, because parallel branches may send them in any order. A request is
compared only if all earlier replies were equal, because different replies lead to different requests.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import blake2b
from typing import NamedTuple

from .conversations import goes_on
from .exchanges import Exchange
from .source_recognition import reading_of

_MARK = "<source>"
_FEWEST_WORDS = 3
"""A line with fewer words counts as a part of a source only if it is a whole line of the source."""
_AROUND = 60
"""Messages quote this number of characters of each of two requests, from their first difference on."""


class Step(NamedTuple):
    """A ``Step`` holds digests of one request to a model and of its reply.

    ``request``: the digest of the request with the lines of sources sorted, so that their order does not
    matter. ``worded``: the digest of the unchanged request. ``framed``: the digest of the request with
    sorted lines and without texts of the run's earlier replies. ``reply``: the digest of the reply.
    ``after``: the indexes of the steps whose replies came before this request.
    """

    request: str
    worded: str
    framed: str
    reply: str
    after: tuple[int, ...]

    def is_request_of(self, other: "Step") -> bool:
        """Returns True iff both requests have the same text, apart from the order of lines of sources."""
        return self.request == other.request or self.worded == other.worded


@dataclass(frozen=True, slots=True)
class Course:
    """A ``Course`` is the sequence of one run's requests and replies, for comparison with a different
    run.

    ``texts``: the requests, in which the parts that change in every run are replaced; empty for a course
    that was loaded from a store, because a store holds only digests.
    """

    steps: tuple[Step, ...]
    texts: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        exchanges: Iterable[Exchange],
        steady: Callable[[str], str],
        sources: Sequence[str] = (),
        made: Sequence[str] = (),
    ) -> "Course":
        """Returns the course of a run, without requests that got no reply.

        ``steady``: replaces the parts of texts that change in every run. ``sources``: texts whose lines
        may be in any order. ``made``: results of tools in this run, whose lines may also be in any order.
        """
        answered = [each for each in exchanges if each.said is not None]
        places = {id(each): place for place, each in enumerate(answered)}
        texts = tuple(steady(each.sent) for each in answered)
        # Tools that run in parallel return their results in any order, so the order of results is ignored
        # too.
        moving = [steady(text) for text in (*sources, *made)]
        shown = _Shown(moving, [each.reply or "" for each in answered])
        sent = [shown.sorted_in(text) for text in texts]
        steps = tuple(
            Step(
                _digest(sent[place] + _kept_of(each, sent, places)),
                _digest(text),
                _digest(shown.sorted_in(_without_replies(text, each, made, steady))),
                _digest(steady(each.said or "")),
                tuple(sorted(places[id(earlier)] for earlier in each.after if id(earlier) in places)),
            )
            for place, (each, text) in enumerate(zip(answered, texts, strict=True))
        )
        return cls(steps, texts)

    def leads_to(self, other: "Course") -> bool:
        """Returns True iff this run sent a request like the last request of the run ``other``, so that
        both runs led to the same end. Texts of earlier replies inside the two requests may differ."""
        if not other.steps:
            return False
        last = other.steps[-1]
        return any(last.is_request_of(step) or last.framed == step.framed for step in self.steps)

    def same_order(self, other: "Course") -> bool:
        """Returns True iff both courses have the same requests, with the same order of lines inside each
        request. The order of the requests themselves may differ."""
        return sorted(step.worded for step in self.steps) == sorted(step.worded for step in other.steps)

    def same_replies(self, other: "Course") -> bool:
        """Returns True iff the models gave the same replies in both runs, in any order."""
        return sorted(step.reply for step in self.steps) == sorted(step.reply for step in other.steps)

    def answered_otherwise(self, other: "Course") -> bool:
        """Returns True iff both runs sent the same request, and the run ``other`` got a reply to it that
        this run did not get."""
        known: dict[str, set[str]] = {}
        for step in self.steps:
            known.setdefault(step.request, set()).add(step.reply)
        return any(step.reply not in known.get(step.request, {step.reply}) for step in other.steps)

    @property
    def beginning(self) -> str:
        """Returns a digest of the requests before the first reply; empty if there are none."""
        first = sorted(step.request for step in self.steps if not step.after)
        return _digest("\n".join(first)) if first else ""

    def fingerprint(self, ignored: Sequence[str]) -> str:
        """Returns the requests and replies of the run as JSON. The JSON holds digests and no texts, so
        that a store may keep it.

        ``ignored``: the user's patterns, whose matches were removed from the requests. They are stored
        too, because digests that were made with other patterns cannot be compared.
        """
        return json.dumps([list(ignored), self.steps])

    @classmethod
    def from_fingerprint(cls, fingerprint: str, ignored: Sequence[str]) -> "Course | None":
        """Returns the course that a fingerprint describes. Returns None if the text is no fingerprint, or
        if it was made with different ``ignored`` patterns, so that its digests cannot be compared."""
        try:
            patterns, steps = json.loads(fingerprint)
            if patterns != list(ignored):
                return None
            return cls(
                tuple(
                    Step(str(sent), str(worded), str(framed), str(said), tuple(map(int, after)))
                    for sent, worded, framed, said, after in steps
                )
            )
        except (TypeError, ValueError):
            return None


class Difference(NamedTuple):
    """A ``Difference`` holds a request of one run and the request of a second run that should be equal.

    ``number``: the position of the request, counted from 1. ``was``: the first run's request; ``came``:
    the second run's request. One of them is None if its run made no such request.
    """

    number: int
    was: str | None
    came: str | None

    @property
    def clause(self) -> str:
        """Returns a clause for messages that quotes both requests near their first difference. It calls
        the two runs the baseline and the replay."""
        return self.clause_of("the baseline", "the replay")

    def clause_of(self, first: str, other: str) -> str:
        """Returns a clause that quotes both requests. ``first``, ``other``: names of the two runs."""
        if self.was is None or self.came is None:
            return _whole(self.was, self.came, first, other)
        start = next(
            (at for at, (x, y) in enumerate(zip(self.was, self.came, strict=False)) if x != y),
            min(len(self.was), len(self.came)),
        )
        was, came = _part(self.was, start), _part(self.came, start)
        return f"{first}'s has {was!r}, {other}'s {came!r}"

    @property
    def added(self) -> tuple[str, ...]:
        """Returns the parts of the second run's request that are not in the first run's. Returns the
        whole request if the first run has none, and nothing if the second run has none."""
        if self.was is None or self.came is None:
            return () if self.came is None else (self.came,)
        was, came = self.was.split(), self.came.split()
        changes = SequenceMatcher(None, was, came, autojunk=False).get_opcodes()
        return tuple(
            " ".join(came[j1:j2]) for kind, _, _, j1, j2 in changes if kind in {"insert", "replace"}
        )


def difference(first: Course, other: Course) -> Difference | None:
    """Returns the first request in which two courses differ; None if they are equal. A difference does
    not count if an earlier reply also differed, because this reply explains it."""
    left = list(range(len(first.steps)))
    same: set[int] = set()
    alone = False
    for place, step in enumerate(other.steps):
        bound = same.issuperset(step.after)
        alike = [known for known in left if first.steps[known].is_request_of(step)]
        if not alike and not bound:
            alike = [known for known in left if first.steps[known].framed == step.framed]
        if alike:
            chosen = next((each for each in alike if first.steps[each].reply == step.reply), alike[0])
            left.remove(chosen)
            if first.steps[chosen].reply == step.reply:
                same.add(place)
                continue
        elif bound:
            return Difference(place + 1, _nearest(first, left, place), _text(other, place))
        alone = True
    if left and not alone:
        return Difference(left[0] + 1, _text(first, left[0]) or "", None)
    return None


class _Shown:
    """This class sorts the lines of a request that come from sources, results of tools or earlier
    replies, so that their order has no influence on a comparison."""

    def __init__(self, sources: Sequence[str], replies: Sequence[str]) -> None:
        self._every = {line.strip() for text in sources for line in text.split("\n")} - {""}
        self._lines = sorted((each for each in self._every if _is_long(each)), key=len, reverse=True)
        self._readings = [reading_of(text).line for text in sources]
        self._replies = {reading_of(text).line for text in replies}

    def sorted_in(self, text: str) -> str:
        """Returns the text with its movable lines (from sources, results of tools and replies) sorted at
        its end, so that their order does not matter. A long line of a source is replaced by a
        placeholder."""
        shown: list[str] = []
        for line in self._lines:
            shown += [line] * text.count(line)
            text = text.replace(line, _MARK)
        frame: list[str] = []
        for line in text.split("\n"):
            if line.replace(_MARK, "").strip():
                (shown if self._is_cut_out(line) else frame).append(line)
        return "\n".join([*frame, "", *sorted(shown)])

    def _is_cut_out(self, line: str) -> bool:
        read = reading_of(line).line
        if line.strip() in self._every or (read.strip() and read in self._replies):
            return True
        return _is_long(line) and any(read in each for each in self._readings)


def _is_long(line: str) -> bool:
    return len(reading_of(line).line.split()) >= _FEWEST_WORDS


def _without_replies(
    text: str, exchange: Exchange, made: Sequence[str], steady: Callable[[str], str]
) -> str:
    replies = [each.reply or "" for each in exchange.after] + [each.said or "" for each in exchange.after]
    for each in sorted({*replies, *made}, key=len, reverse=True):
        if len(each.strip()) > 1:
            text = text.replace(steady(each), "<reply>")
    return text


def _nearest(first: Course, left: Sequence[int], place: int) -> str | None:
    """Returns a request of the first run, for a message that compares it with an unexpected request of
    the other run.

    If the other run did not make the first run's request at the same position, returns that request;
    otherwise returns the first of those in ``left``. Returns None if there is none, and an empty text if
    the texts are unknown. ``left``: the positions of the first run's requests that the other run did not
    make. ``place``: the position of the unexpected request.
    """
    if not first.texts:
        return ""
    if place in left:
        return first.texts[place]
    return first.texts[left[0]] if left else None


def _text(course: Course, place: int) -> str | None:
    return course.texts[place] if course.texts else ""


def _kept_of(exchange: Exchange, sent: Sequence[str], places: Mapping[int, int]) -> str:
    """Returns the texts of the earlier requests of the conversation that this request continues, if the
    model's server keeps this conversation; empty if the request continues none."""
    if not goes_on(exchange):
        return ""
    return "\n".join(sent[places[id(each)]] for each in exchange.after if id(each) in places)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _part(text: str, start: int) -> str:
    begin, end = max(0, start - _AROUND // 2), start + _AROUND
    return ("…" if begin else "") + text[begin:end] + ("…" if end < len(text) else "")


def _whole(was: str | None, came: str | None, first: str, other: str) -> str:
    if came is None:
        return f"{first} sent {_part(was or '', 0)!r}, and {other} did not"
    return f"{other} sent {_part(came, 0)!r}, and {first} did not"
