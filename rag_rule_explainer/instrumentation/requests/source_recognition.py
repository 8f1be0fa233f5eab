"""This module recognises sources in requests to a model.

A short source is recognised by its whole text, a longer one by eight words in a row that no other source
has. So a source is recognised even if it is cut, or embedded in JSON. Texts that a model wrote earlier in
the same run are ignored, because a model may quote a source.
"""

import html
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ...late_patterns import compiled_late
from ...sources import Source

STRETCH = 8
"""A sequence of this many words is never in two texts by chance."""
SHORTEST = (3, 12)
"""A text with at least this many words and this many characters is not in a different text by chance."""

Stretch = tuple[str, ...]
_OtherTexts = Mapping[str, Sequence[str]]

# In scripts without spaces between words, such as Chinese, each character counts as a word.
_WORD = compiled_late(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_ESCAPE = compiled_late(r'\\(?:u([0-9a-fA-F]{4})|(["\\/])|[nrtbf])')


@dataclass(frozen=True, slots=True)
class Request:
    """A ``Request`` holds the text of a request, and the replies of models that came before it in the
    same run."""

    text: str
    written_before: tuple[str, ...] = ()


class Reading(NamedTuple):
    """A ``Reading`` is a text in the form in which it is compared: its words in one line, and all its
    sequences of eight words (*stretches*).

    ``is_distinctive``: True if the text is so long that it does not occur in a request by chance.
    """

    line: str
    stretches: frozenset[Stretch]
    is_distinctive: bool


@lru_cache(maxsize=16)
def reading_of(text: str) -> Reading:
    """Returns the text in the form in which it is compared. Recent results are cached, because several
    checks read the same request."""
    words = _words(text)
    return Reading(_line(words), frozenset(_stretches(words)), _is_distinctive(words))


class Sight:
    """A ``Sight`` recognises sources in requests to a model.

    ``constant``: texts that every request may contain, such as a prompt. Words in these texts identify no
    source. ``others``: by the id of a source, other texts that requests may have in its place.
    """

    def __init__(
        self, sources: Sequence[Source], constant: Iterable[str] = (), others: _OtherTexts | None = None
    ) -> None:
        always = self._always = [_all_words(text) for text in constant]
        everywhere = {stretch for each in always for words in each for stretch in _stretches(words)}
        words = {source.id: _words(source.text) for source in sources}
        # A request is also read with its escapes replaced, as by "é" for "\u00e9". So a stretch of words
        # identifies a source only if no other source has it, in either form of its text.
        self._read = {source.id: _all_words(source.text) for source in sources}
        stretches = {identity: _stretches(of) for identity, of in words.items()}
        shown = {
            identity: set[Stretch]().union(*map(_stretches, each))
            for identity, each in self._read.items()
        }
        owners = Counter(stretch for each in shown.values() for stretch in each)
        self._own = {
            identity: frozenset(
                stretch for stretch in each if owners[stretch] == 1 and stretch not in everywhere
            )
            for identity, each in stretches.items()
            if len(words[identity]) >= STRETCH
        }
        self._inside = {
            identity: (frozenset(each), containers)
            for identity, each in stretches.items()
            if len(each) > 1
            and not self._own.get(identity)
            and (containers := _containing(identity, each, shown))
        }
        self._owner = {stretch: identity for identity, each in self._own.items() for stretch in each}
        self._read_whole_texts(words, others or {})

    def _read_whole_texts(self, words: Mapping[str, Sequence[str]], others: _OtherTexts) -> None:
        spoken = [list(map(_line, each)) for each in (*self._read.values(), *self._always)]
        self._short = {
            identity: _line(of)
            for identity, of in words.items()
            if len(of) < STRETCH and _is_distinctive(of) and _is_in_one(_line(of), spoken)
        }
        self._other = {
            identity: [line for each in several if _is_new(line := _line(_words(each)), spoken)]
            for identity, several in others.items()
            if identity in self.recognisable
        }
        run = {identity: _run_together(line) for identity, line in self._short.items()}
        together = [list(map(_run_together, lines)) for lines in spoken]
        self._glued = {identity: text for identity, text in run.items() if _is_in_one(text, together)}

    def glued_in(self, requests: Iterable[Request]) -> frozenset[str]:
        """Returns the ids of the short sources whose text is in a request. The text is also found if no
        space separates it from the words around it."""
        found: set[str] = set()
        for request in requests if self._glued else ():
            before = [_run_together(reading_of(text).line) for text in request.written_before]
            for text in readings(request.text):
                line = _run_together(reading_of(text).line)
                found.update(
                    identity
                    for identity, own in self._glued.items()
                    if line.count(own) > sum(said.count(own) for said in before)
                )
        return frozenset(found)

    @property
    def recognisable(self) -> frozenset[str]:
        """Returns the ids of the sources that can be recognised in requests, because their text is long
        and unique enough."""
        return frozenset(self._short) | frozenset(each for each, own in self._own.items() if own)

    def leaked_in(
        self, requests: Iterable[Request], kept: Collection[str], seen: frozenset[str] | None = None
    ) -> frozenset[str]:
        """Returns the ids of omitted sources whose text is in one of the requests.

        ``kept``: the ids of the retained sources. ``seen``: the result of ``seen_in`` for these requests,
        if it is known. In two cases, an omitted source is not returned: it is a part of a retained
        source; or its words are found only where one other text ends and the next begins. These other
        texts are retained sources, constants and earlier replies.
        """
        requests = tuple(requests)
        leaked = set((self.seen_in(requests) if seen is None else seen).difference(kept))
        if leaked:
            said = frozenset(text for request in requests for text in request.written_before)
            leaked = set(self.seen_in(requests, self._between(kept, said)).difference(kept))
        hidden = {
            identity: stretches
            for identity, (stretches, containers) in self._inside.items()
            if identity not in kept and containers.isdisjoint(kept)
        }
        for request in requests if hidden else ():
            written = frozenset[Stretch]().union(
                *(reading_of(text).stretches for text in request.written_before)
            )
            for text in readings(request.text):
                shown = reading_of(text).stretches
                leaked.update(each for each, own in hidden.items() if own <= shown and not own <= written)
        return frozenset(leaked)

    def _between(self, kept: Iterable[str], said: Iterable[str]) -> frozenset[Stretch]:
        """Returns the sequences of eight words that arise where one text ends and another begins. The
        texts are the sources with the ids in ``kept``, the replies in ``said``, and the constants."""
        texts = [*(self._read.get(each, []) for each in kept), *self._always, *map(_all_words, said)]
        read = [words for each in texts for words in each]
        ends = {tuple(each[1 - STRETCH :]) for each in read}
        starts = {tuple(each[: STRETCH - 1]) for each in read}
        return frozenset[Stretch]().union(*(_stretches([*x, *y]) for x in ends for y in starts))

    def seen_in(
        self, requests: Iterable[Request], but: frozenset[Stretch] = frozenset()
    ) -> frozenset[str]:
        """Returns the ids of the recognisable sources whose text, or a part of it, is in a request.

        ``but``: sequences of eight words that are ignored.
        """
        seen: set[str] = set()
        for request in requests:
            before = [reading_of(text) for text in request.written_before]
            written = {stretch for each in before for stretch in each.stretches}
            spoken = [each.line for each in before]
            for text in readings(request.text):
                read = reading_of(text)
                shown, line = read.stretches - written - but, read.line
                seen.update(identity for identity, own in self._own.items() if not own.isdisjoint(shown))
                lines = [*self._short.items()]
                lines += [(identity, other) for identity, each in self._other.items() for other in each]
                seen.update(
                    identity
                    for identity, own in lines
                    if line.count(own) > sum(said.count(own) for said in spoken)
                )
        return frozenset(seen)

    def orders_in(self, requests: Iterable[Request]) -> list[tuple[str, ...]]:
        """Returns the orders in which the requests show the recognisable sources.

        Each form of a request (with and without escapes) gives two orders: by the first and by the last
        place of each source. At the end, one more order is returned: by the first place of each source
        over all requests.
        """
        orders, overall = list[tuple[str, ...]](), dict[str, None]()
        for request in requests:
            before = [reading_of(text) for text in request.written_before]
            for text in readings(request.text):
                first, last = self.places_in(text, before)
                by_first = sorted(first, key=first.__getitem__)
                orders += [tuple(by_first), tuple(sorted(last, key=last.__getitem__))]
                overall |= dict.fromkeys(by_first)
        return [*orders, tuple(overall)]

    def places_in(self, text: str, before: Sequence[Reading]) -> tuple[dict[str, int], dict[str, int]]:
        """Returns the first and the last position of each recognised source in a text, as two dicts from
        the source's id to the number of a word. ``before``: earlier replies of models, whose words do not
        count."""
        words, first, last = _words(text), dict[str, int](), dict[str, int]()
        for place, stretch in enumerate(zip(*(words[n:] for n in range(STRETCH)), strict=False)):
            owner = self._owner.get(stretch)
            if owner is not None and not any(stretch in each.stretches for each in before):
                first.setdefault(owner, place)
                last[owner] = place
        line = _line(words)
        for identity, short in self._short.items():
            if short in line and not any(short in each.line for each in before):
                first[identity] = line[: line.index(short)].count(" ")
                last[identity] = line[: line.rindex(short)].count(" ")
        return first, last


def _containing(
    identity: str, stretches: set[Stretch], of_all: Mapping[str, set[Stretch]]
) -> frozenset[str]:
    return frozenset(other for other, each in of_all.items() if other != identity and stretches <= each)


def _is_in_one(line: str, spoken: Iterable[Iterable[str]]) -> bool:
    """Returns True iff the line is in exactly one of the texts. ``spoken``: for each text, its forms,
    such as the text with and without escapes."""
    return sum(any(line in each for each in readings_of_one) for readings_of_one in spoken) == 1


def _is_new(line: str, spoken: Iterable[Iterable[str]]) -> bool:
    """Returns True iff the line has words and is in none of the texts; ``spoken``: as above."""
    return bool(line.strip()) and not any(line in each for of_one in spoken for each in of_one)


def _all_words(text: str) -> list[list[str]]:
    return list(map(_words, readings(text)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _stretches(words: Sequence[str]) -> set[Stretch]:
    return set(zip(*(words[place:] for place in range(STRETCH)), strict=False))


def _line(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _run_together(line: str) -> str:
    return line.replace(" ", "")


def _is_distinctive(words: Sequence[str]) -> bool:
    fewest, shortest = SHORTEST
    return len(words) >= fewest and sum(map(len, words)) >= shortest


def words_of(text: str) -> tuple[str, ...]:
    """Returns the words of a text in the form in which they are compared."""
    return tuple(_words(text))


def readings(text: str) -> Iterable[str]:
    """Yields the text unchanged, and the text with the escapes of JSON or HTML replaced by their
    characters."""
    yield text
    if "\\" in text:
        yield _ESCAPE.sub(_unescaped, text)
    if "&" in text:
        yield html.unescape(text)


def _unescaped(found: re.Match[str]) -> str:
    code, mark = found.groups()
    if code:
        return chr(int(code, 16))
    return mark or " "
