"""This module checks that two runs on the same sources, with the same model replies, give the same
answer.

An earlier run may leave state that changes the answer after the model's reply. No request then shows the
influence, and even the state may be invisible, for example in a file descriptor. But a replay that is
repeated at the end then has another answer than the first replay on the same sources.
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
    """A ``Changed`` holds two different answers that runs on the same sources gave: the first answer and
    a later one. ``alike``: True iff the models' replies in both runs were equal."""

    was: str
    came: str
    alike: bool = True

    @property
    def clause(self) -> str:
        """Returns a clause for messages that quotes both answers."""
        return f"the answer was {shortened(self.came, 100)!r} instead of {shortened(self.was, 100)!r}"


@dataclass(slots=True, eq=False)
class Answers:
    """This class stores the first answer on each subset of sources, and compares later answers with it.
    Thread-safe."""

    steady: Steady
    """A function that replaces the parts of a text that change in every run, such as dates."""
    repeats: bool = False
    """True if a replay on all sources gave the baseline's answer; only then is a different answer a sign
    of state that an earlier run left."""
    departs: bool = False
    """True if a run seems to have executed other code than the baseline, such as another branch of an
    ``if``. There are two signs: the baseline's answer contains a model's reply, and the run's answer
    contains none; or a request of the run contains words of texts in the application's code that are in
    no request of the baseline."""
    _first: dict[Hashable, tuple[list[str], str]] = field(
        default_factory=dict[Hashable, "tuple[list[str], str]"]
    )
    _with_replies: bool = False
    _new_words: frozenset[str] = frozenset()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(
        self, key: Hashable, answer: Answer, exchanges: Sequence[Exchange], constants: Iterable[str]
    ) -> None:
        """Stores the baseline's answer, with which later answers are compared.

        ``key``: identifies the baseline's sources. ``constants``: texts in the application's code.
        """
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
        """Stores a replay's answer, and returns how it differs from the first answer on the same sources;
        None if it does not.

        ``key``: identifies these sources. ``beside``: texts whose words may be in the replay's requests,
        such as the retained sources. Other new words in the requests may set ``departs``. ``whatever``:
        if True, the answers are compared even if the models' replies differ.
        """
        text, replies = self.steady(answer.text), self._replies(exchanges)
        with self._lock:
            known = self._first.setdefault(key, (replies, text))
            self.departs = self.departs or self._goes_another_way(answer, exchanges, beside)
        replied, was = known
        alike = replies == replied
        return Changed(was, text, alike) if text != was and (whatever or alike) else None

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
    """Returns True iff the answer contains one of these replies, or one of them contains the answer."""
    line = reading_of(answer).line
    lines = (reading_of(reply).line for reply in replies)
    return any(each.strip() and (each in line or line in each) for each in lines)


def _said(exchanges: Iterable[Exchange]) -> list[str]:
    return [each.reply for each in exchanges if each.reply]


def _words(text: str) -> list[str]:
    return reading_of(text).line.split()
