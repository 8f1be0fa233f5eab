"""Whether runs on the same sources, whose models replied the same, answer the same.

An application may leave something with which a later run answers otherwise after its model has replied,
so that no request shows it. Where it is left (in an object, a file descriptor, a module, the interpreter)
may be beyond every look; but the same sources, asked about once more at the end, answer otherwise.
"""

import threading
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...printable import shortened
from ...verdicts import Answer
from .exchanges import Exchange
from .source_recognition import reading_of
from .volatile import Steady


class Changed(NamedTuple):
    """What a run answered first, and what it answered later though models replied the same."""

    was: str
    came: str

    @property
    def told(self) -> str:
        """Tells both, in words."""
        return f"the answer was {shortened(self.came, 100)!r} instead of {shortened(self.was, 100)!r}"


@dataclass(slots=True, eq=False)
class Answers:
    """Keeps the first answer on each choice of sources. Thread-safe.

    ``repeats``: the baseline's answer came again in a replay on all sources, so that answers can be
    compared at all. ``departs``: a run went a way that the baseline did not go: it answered with nothing
    that its models replied, where the baseline did, or put words of the code before a model that the
    baseline had not.
    """

    steady: Steady
    repeats: bool = False
    departs: bool = False
    _first: dict[Hashable, tuple[list[str], str]] = field(
        default_factory=dict[Hashable, "tuple[list[str], str]"]
    )
    _with_replies: bool = False
    _new_words: frozenset[str] = frozenset()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(
        self, key: Hashable, answer: Answer, exchanges: Sequence[Exchange], constants: Iterable[str]
    ) -> None:
        """Takes the baseline's. ``constants``: texts of the application's code."""
        self._first[key] = self._replies(exchanges), self.steady(answer.text)
        self._with_replies = holds_one(answer.text, _said(exchanges))
        shown = {word for each in exchanges for word in _words(each.request.text)}
        self._new_words = frozenset(word for text in constants for word in _words(text)) - shown

    def take(
        self,
        key: Hashable,
        answer: Answer,
        exchanges: Sequence[Exchange],
        beside: Iterable[str],
        *,
        whatever: bool = False,
    ) -> Changed | None:
        """Takes a replay's answer; returns how it differs from the first one on the same sources.

        ``beside``: texts that its requests may hold for itself, such as what it was served. ``whatever``:
        also where its models replied otherwise.
        """
        text, replies = self.steady(answer.text), self._replies(exchanges)
        with self._lock:
            known = self._first.setdefault(key, (replies, text))
            self.departs = self.departs or self._goes_another_way(answer, exchanges, beside)
        replied, was = known
        return Changed(was, text) if text != was and (whatever or replies == replied) else None

    def _goes_another_way(
        self, answer: Answer, exchanges: Sequence[Exchange], beside: Iterable[str]
    ) -> bool:
        said = _said(exchanges)
        if said and self._with_replies and not holds_one(answer.text, said):
            return True
        new = {word for each in exchanges for word in _words(each.request.text)} & self._new_words
        return bool(new) and not new.issubset(word for text in (*said, *beside) for word in _words(text))

    def _replies(self, exchanges: Sequence[Exchange]) -> list[str]:
        return sorted(self.steady(each.said or "") for each in exchanges)


def holds_one(answer: str, replies: Iterable[str]) -> bool:
    """Returns True iff an answer holds one of these replies, or is part of one."""
    line = reading_of(answer).line
    lines = (reading_of(reply).line for reply in replies)
    return any(each.strip() and (each in line or line in each) for each in lines)


def _said(exchanges: Iterable[Exchange]) -> list[str]:
    return [each.reply for each in exchanges if each.reply]


def _words(text: str) -> list[str]:
    return reading_of(text).line.split()
