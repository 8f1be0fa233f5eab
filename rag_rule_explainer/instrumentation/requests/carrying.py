"""This module finds texts that one run made in the requests of a different run.

These texts are a run's model replies, its answer and its tools' results. If eight of their words in a
row, or a whole shorter text, are in a different run's request, this cannot be chance.

A text is not reported if it has a harmless origin:

- it is in the baseline's input or requests, or in a source that the run got;
- it arises only where two texts that the run got stand next to each other;
- the request was sent before the text was made.

A text of two words may be in a request by chance. It is reported as unsure, and only if the run that sent
the request made the same text itself. Single words are not searched for.
"""

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .exchanges import Exchange, moment
from .source_recognition import Reading, Stretch, reading_of, readings

_NUMBERS = re.compile(r"(?<= )[\d.,]+(?= )")
_FEWEST_WORDS = 2
"""Texts with fewer words are not searched for, because they may come from anywhere."""
_SURE_WORDS = 3
"""A text with at least this many words is not in a request by chance."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A ``Carried`` is a text that one run made and that a request of a different run contains.

    ``maker``: the name of the run that made the text. ``sure``: False if the text is so short that it may
    be in the request by chance.
    """

    maker: str
    text: str
    sure: bool = True


@dataclass(slots=True, eq=False)
class MadeTexts:
    """This class stores the texts that runs made (replies of models, results of tools and answers), and
    finds them in the requests of other runs. Thread-safe."""

    # Each value is the moment at which a run first made the text in the key, and the name of this run. A
    # key of ``_long`` is eight words in a row; a key of ``_short`` is the words of a shorter text.
    _long: dict[Stretch, tuple[int, str]] = field(default_factory=dict[Stretch, tuple[int, str]])
    _short: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    _noted: set[str] = field(default_factory=set[str])
    _known: set[Stretch] = field(default_factory=set[Stretch])
    _known_lines: list[str] = field(default_factory=list[str])
    _constants: set[str] = field(default_factory=set[str])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def allow(self, texts: Iterable[str]) -> None:
        """Allows every request to contain these texts, such as those of the baseline's requests."""
        for text in texts:
            for each in map(reading_of, readings(text)):
                self._known |= each.stretches
                self._known_lines.append(each.line)

    def allow_parts(self, constants: Iterable[str]) -> None:
        """Allows every request to contain texts that consist only of numbers and of parts of these
        constants. ``constants``: texts in the application's code; those of fewer than three words are
        ignored."""
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
        """Records texts that a run made, such as replies of its models, so that they are found in the
        requests of other runs. ``maker``: the name of the run.

        ``sent``: the run's own requests. Words that are in these requests are not recorded, because the
        run did not make them itself.
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
        """Returns a text that this request contains and that a different run made; None if there is none.
        A text that cannot be there by chance is preferred.

        ``exchange``: the request. ``served``: the texts of the sources and the results of tools that the
        run got. ``made``: the texts that the run made itself.
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
        lines = [each.line for each in (*facts, *before)]
        unsure: Carried | None = None
        for text, maker in found:
            words = tuple(text.split()) if isinstance(text, str) else text
            line, is_sure = f" {' '.join(words)} ", len(words) >= _SURE_WORDS
            # A short text is reported only if this run made the same text itself (``said``). A long text
            # is reported even if this run made it too, because a model may repeat a text that it was
            # sent.
            if not is_sure and not any(line in each.line for each in said):
                continue
            if any(line in each for each in lines) or _is_across(words, lines):
                continue
            carried = Carried(maker, line.strip(), is_sure)
            if is_sure:
                return carried
            unsure = carried
        return unsure


def _is_across(words: Sequence[str], lines: Sequence[str]) -> bool:
    """Returns True iff these words are the end of one line, then any number of whole lines, and then the
    beginning of another line. A request contains such words if a text between two tool results is missing
    in it."""
    # ``read`` has each number n for which the first n words are the end of a line, followed by any number
    # of whole lines.
    pieces = [
        [f" {' '.join(words[start:end])} " for end in range(len(words) + 1)]
        for start in range(len(words))
    ]
    read = {end for end in range(1, len(words)) if any(line.endswith(pieces[0][end]) for line in lines)}
    whole = set(lines)
    for start in range(1, len(words)):
        if start in read:
            read |= {end for end in range(start + 1, len(words)) if pieces[start][end] in whole}
    return any(line.startswith(pieces[start][-1]) for start in read for line in lines)


def _read(texts: Iterable[str]) -> list[Reading]:
    return [each for text in texts for each in map(reading_of, readings(text))]


def is_too_short(text: str) -> bool:
    """Returns True if the text has one or two words, so that several runs may have made it
    independently."""
    return 0 < _words_of(text) < _SURE_WORDS


def _words_of(text: str) -> int:
    return len(reading_of(text).line.split())
