"""This module finds texts of one run in the requests of another run.

A run's texts are its replies, its answer and its tools' results. Eight of their words in a row, or a
whole shorter text, do not come into another run's request by chance. Exempt are texts with another
known origin: the baseline's input and requests, the sources that the run was served, and requests from
before the text was made. Two words may be there by chance: they are reported as unsure, and only if
the run itself says them as well. A single word is not looked for.
"""

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .exchanges import Exchange, moment
from .source_recognition import Reading, Stretch, reading_of, readings

_NUMBERS = re.compile(r"(?<= )[\d.,]+(?= )")
_FEWEST_WORDS = 2
"""The fewest words of a text that is searched for; a shorter text could have come from anywhere."""
_SURE_WORDS = 3
"""The fewest words that a text must have so that it does not occur in a request by chance."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A ``Carried`` is a text that one run made and that appears in a request of another run.

    ``maker``: the name of the run that made it. ``sure``: False if the text is so short that it may be
    there by chance.
    """

    maker: str
    text: str
    sure: bool = True


@dataclass(slots=True, eq=False)
class MadeTexts:
    """This class keeps the texts that runs made, and finds them in other runs' requests. Thread-safe."""

    # Keys: eight words in a row, or the words of a short text. Values: when a run first made it, and
    # which run.
    _long: dict[Stretch, tuple[int, str]] = field(default_factory=dict[Stretch, tuple[int, str]])
    _short: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    _noted: set[str] = field(default_factory=set[str])
    _known: set[Stretch] = field(default_factory=set[Stretch])
    _known_lines: list[str] = field(default_factory=list[str])
    _constants: set[str] = field(default_factory=set[str])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def allow(self, texts: Iterable[str]) -> None:
        """Allows these texts, such as the baseline's requests, in any request."""
        for text in texts:
            for each in map(reading_of, readings(text)):
                self._known |= each.stretches
                self._known_lines.append(each.line)

    def allow_parts(self, constants: Iterable[str]) -> None:
        """Allows, in any request, texts that consist only of these constants and of numbers."""
        for text in constants:
            words = reading_of(text).line.split()
            if len(words) >= _SURE_WORDS:
                self._constants.add(f" {' '.join(words)} ")

    def _is_constant(self, line: str) -> bool:
        parts = [part.strip() for part in _NUMBERS.split(f" {line.strip()} ")]
        return bool(self._constants) and all(
            any(f" {part} " in constant for constant in self._constants) for part in parts if part
        )

    def note(self, maker: str, texts: Iterable[str], sent: Sequence[str]) -> None:
        """Records texts that a run made, so that they are found in the requests of other runs.

        ``sent``: the run's own requests; their words do not count as made by the run.
        """
        with self._guard:
            news = [text for text in texts if text not in self._noted]
            self._noted.update(news)
        if not news:
            return
        at, requests = moment(), [reading_of(text) for text in sent]
        for text in news:
            read = reading_of(text)
            if read.stretches:
                own = read.stretches.difference(*(each.stretches for each in requests))
                with self._guard:
                    for stretch in own:
                        self._long.setdefault(stretch, (at, maker))
            elif _words_of(text) >= _FEWEST_WORDS and not any(
                read.line in each.line for each in requests
            ):
                with self._guard:
                    self._short.setdefault(read.line, (at, maker))

    def found_in(self, exchange: Exchange, served: Sequence[str], made: Sequence[str]) -> Carried | None:
        """Returns a text of another run that is in this request, preferably a sure one; None if there is
        none.

        ``served``: the texts of the sources and the results of tools that the run was served. ``made``:
        the texts that the run made itself.
        """
        if not (self._long or self._short):
            return None
        unsure: Carried | None = None
        for text in readings(exchange.request.text):
            read = reading_of(text)
            found = self._candidates(read, exchange.at)
            carried = self._not_exempt(found, exchange, served, made) if found else None
            if carried is not None and carried.sure:
                return carried
            unsure = unsure or carried
        return unsure

    def _candidates(self, read: Reading, at: int) -> list[tuple[Stretch | str, str]]:
        with self._guard:
            long = [each for each in self._long.keys() & read.stretches if each not in self._known]
            short = [
                each
                for each in self._short
                if each in read.line and not any(each in known for known in self._known_lines)
            ]
            found = [(each, *self._long[each]) for each in long]
            found += [(each, *self._short[each]) for each in short]
        return [
            (each, maker)
            for each, made_at, maker in found
            if made_at < at and not self._is_constant(each if isinstance(each, str) else " ".join(each))
        ]

    def _not_exempt(
        self,
        found: list[tuple[Stretch | str, str]],
        exchange: Exchange,
        served: Sequence[str],
        made: Sequence[str],
    ) -> Carried | None:
        facts, said = _read(served), _read(made)
        before = _read(exchange.request.written_before)
        unsure: Carried | None = None
        for text, maker in found:
            # A model may repeat in its reply a text that it was sent. So the reply alone does not explain
            # where that text came from.
            if not isinstance(text, str):
                if not any(text in each.stretches for each in (*facts, *before)):
                    return Carried(maker, " ".join(text))
            elif len(text.split()) >= _SURE_WORDS:
                if not any(text in each.line for each in (*facts, *before)):
                    return Carried(maker, text.strip())
            elif any(text in each.line for each in said) and not any(
                text in each.line for each in (*facts, *before)
            ):
                unsure = Carried(maker, text.strip(), sure=False)
        return unsure


def _read(texts: Iterable[str]) -> list[Reading]:
    return [each for text in texts for each in map(reading_of, readings(text))]


def is_too_short(text: str) -> bool:
    """Returns True if the text is so short that several runs may have made it independently."""
    return 0 < _words_of(text) < _SURE_WORDS


def _words_of(text: str) -> int:
    return len(reading_of(text).line.split())
