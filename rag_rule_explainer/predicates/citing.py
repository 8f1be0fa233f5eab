"""This module contains predicates on the sources that an answer cites or mentions.

It recognises citations in any of these forms, also if an answer mixes them:

    [1]  [2, 3]  [1-3]  [^1]  【1】     by position among the sources shown, or by ids that are numbers
    [D2]  [D2; D4]  (D2)  [source D2]   by id
    Source 2  sources 1 and 3           by position; also document, doc, passage
    [D99]                               an unknown source, with an id of the same pattern as known ids

Numbers in round brackets, and numbers of more than three digits, are no citations: (1889) is a year. A
citation is valid iff its source was shown, because the model cannot have read an omitted source.
"""

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..allowed import called_as, did_you_mean
from ..errors import InvalidInput
from ..printable import shortened
from ..sources import Source
from ..verdicts import Case, Judgement, Verdict
from .combine import both, either, no_truth, opposite
from .protocol import answer_key
from .text import text_given

_GROUP = re.compile(
    r"\[(?P<square>[^\[\]\n]{1,200})\]|【(?P<corner>[^【】\n]{1,200})】|\((?P<round>[^()\[\]\n]{1,200})\)"
)
_APART = re.compile(r"[,;&|]|\band\b")
_NAMING = re.compile(
    r"(?:see|cf\.?|sources?|documents?|docs?\.?|passages?|(?:doc_?|source_?)?id)[ :#=]{1,3}",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"[\^#]?(\d{1,3})(?: ?[-–] ?(\d{1,3}))?")
_WORDED = re.compile(
    r"(?<![\w-])(?:(?:source|document|doc|passage)\.?[\s:#]{0,3}\d{1,3}"
    r"|(?:sources|documents|docs|passages)[\s:#]{0,3}\d{1,3}"
    r"(?:(?: ?[,;&] ?| ?[-–] ?| and |, and )\d{1,3}){0,50})(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
_LONGEST_RANGE = 30
_LISTED = 8
"""The maximum number of ids that an error lists."""
_RANGE = re.compile(r"(\d+)(?: ?[-–] ?(\d+))?")


class Citation(NamedTuple):
    """A ``Citation`` holds the citation as it was written, and the id of the cited source. ``id``:
    None if the citation is of no source."""

    written: str
    id: str | None


def citations(text: str, kept: Iterable[str], known: Iterable[str]) -> Iterator[Citation]:
    """Yields every citation in the text, in the forms that the docstring of this module lists.
    ``kept``: the ids of the sources that were shown, in order. ``known``: the ids of all sources."""
    places = tuple(kept)
    reading = _Reading(places, frozenset((*places, *known)))
    for group in _GROUP.finditer(text):
        square = group["round"] is None
        content = (group["square"] or group["corner"] or group["round"]).strip()
        yield from reading.group(content, square=square)
    for worded in _WORDED.finditer(text):
        yield from reading.worded(worded[0])


class _Reading(NamedTuple):
    """This class interprets citations. ``kept``: the ids of the sources that were shown, in order.
    ``ids``: all known ids."""

    kept: tuple[str, ...]
    ids: frozenset[str]

    def group(self, content: str, *, square: bool) -> Iterator[Citation]:
        """Yields the citations in the text between two brackets. ``square``: False for round brackets."""
        if content in self.ids and (square or not content.isdecimal()):
            yield self._by_id(content, square=square)
            return
        for part in _APART.split(content):
            token = _NAMING.sub("", part.partition("†")[0].strip(), count=1)
            if token in self.ids and (square or not token.isdecimal()):
                yield self._by_id(token, square=square)
            elif square:
                yield from self._unknown(token)

    def _unknown(self, token: str) -> Iterator[Citation]:
        numbers = _NUMBERS.fullmatch(token)
        if numbers is not None:
            yield from self._by_numbers("[{}]", numbers)
        elif re.search(r"\d", token) and _shape(token) in map(_shape, self.ids):
            yield Citation(f"[{token}]", None)

    def worded(self, written: str) -> Iterator[Citation]:
        """Yields the citations in a phrase such as "sources 1 and 3"."""
        if written in self.ids:
            yield Citation(written, written)
            return
        for numbers in _RANGE.finditer(written):
            yield from self._by_numbers("source {}", numbers)

    def _by_id(self, identity: str, *, square: bool) -> Citation:
        return Citation(f"[{identity}]" if square else f"({identity})", identity)

    def _by_numbers(self, form: str, numbers: re.Match[str]) -> Iterator[Citation]:
        are_ids = any(each.isdecimal() for each in self.ids)
        for number in _spelt_out(int(numbers[1]), int(numbers[2] or numbers[1])):
            place = number - 1 if 1 <= number <= len(self.kept) else None
            by_place = None if place is None else self.kept[place]
            yield Citation(form.format(number), str(number) if are_ids else by_place)


def _spelt_out(first: int, last: int) -> Iterable[int]:
    """Returns the numbers from ``first`` to ``last``. If the range is reversed or too long, returns
    only these two numbers."""
    return range(first, last + 1) if first <= last < first + _LONGEST_RANGE else {first, last}


def _shape(identity: str) -> str:
    """Returns the pattern of an id, in which "#" stands for a number: D2 and D17 have the same
    pattern. The pattern of an id that is a number has one "#" for each digit."""
    return "#" * len(identity) if identity.isdecimal() else re.sub(r"\d+", "#", identity)


def _ids(sources: tuple[Source, ...]) -> tuple[str, ...]:
    return tuple([source.id for source in sources])


@dataclass(frozen=True, slots=True)
class Cites:
    """This predicate holds iff the answer cites ``source``, and ``source`` was shown.

    If ``source`` is None, it holds iff the answer cites at least one source, and only sources that were
    shown.
    """

    source: str | None = None

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS, or BREAKS with the reason: the invalid citation, or that a citation is
        missing."""
        kept, known = _ids(case.kept), _ids(case.sources)
        if self.source is None:
            outcome = Judgement(Verdict.BREAKS, "nothing is cited")
            for each in citations(case.answer.text, kept, known):
                if each.id not in kept:
                    return Judgement(Verdict.BREAKS, _fault(each, known, len(kept)))
                outcome = Judgement(Verdict.HOLDS)
            return outcome
        found = citations(case.answer.text, kept, (*known, self.source))
        if not any(each.id == self.source for each in found):
            return Judgement(Verdict.BREAKS, _not_there(self.source, kept, known) or "it is not cited")
        if self.source in kept:
            return Judgement(Verdict.HOLDS)
        return Judgement(Verdict.BREAKS, f"{self.source!r} is cited but was not shown")

    def memo_key(self, case: Case) -> Hashable:
        """Returns the question, both answers, the ids of the shown sources, and the ids of all
        sources."""
        return (*answer_key(self, case), _ids(case.kept), _ids(case.sources))

    def __str__(self) -> str:
        if self.source is None:
            return "the answer's citations are valid"
        return f"the answer validly cites {self.source!r}"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        if self.source is None:
            return "the answer's citations are missing or invalid"
        return f"the answer does not validly cite {self.source!r}"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


def _fault(wrong: Citation, known: tuple[str, ...], shown: int) -> str:
    if wrong.id in known:
        return f"{wrong.written} was not shown"
    return f"{wrong.written} is none of the {shown} sources shown"


def _not_there(source: str, kept: tuple[str, ...], known: tuple[str, ...]) -> str:
    if not known or source in {*kept, *known}:
        return ""
    more = f", and {len(known) - _LISTED:,} more" if len(known) > _LISTED else ""
    listed = ", ".join(repr(shortened(each, 100)) for each in known[:_LISTED])
    return f"no source is named {source!r}; {did_you_mean(source, known)}the sources are {listed}{more}"


@dataclass(frozen=True, slots=True)
class MentionsSource:
    """This predicate holds iff the id or the title of ``source`` occurs in the answer as whole words.
    Upper and lower case of the title are not distinguished. The source need not have been shown."""

    source: str

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS or BREAKS."""
        if _occurs(self.source, case.answer.text):
            return Judgement(Verdict.HOLDS)
        title = self._title(case)
        if title and _occurs(title, " ".join(case.answer.text.casefold().split())):
            return Judgement(Verdict.HOLDS)
        return Judgement(Verdict.BREAKS, _not_there(self.source, _ids(case.kept), _ids(case.sources)))

    def _title(self, case: Case) -> str:
        titles = [
            source.metadata.get("title")
            for source in (*case.sources, *case.kept)
            if source.id == self.source
        ]
        return next((" ".join(each.casefold().split()) for each in titles if isinstance(each, str)), "")

    def memo_key(self, case: Case) -> Hashable:
        """Returns the question, both answers, and the id and title of the source."""
        named = _not_there(self.source, _ids(case.kept), _ids(case.sources))
        return (*answer_key(self, case), self._title(case), named)

    def __str__(self) -> str:
        return f"the answer mentions {self.source!r}"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        return f"the answer does not mention {self.source!r}"

    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


def _occurs(words: str, text: str) -> bool:
    if words not in text:
        return False
    return re.search(rf"(?<!\w)(?<!\w-){re.escape(words)}(?!-?\w)", text) is not None


def _id_given(given: str, where: str) -> str:
    if not text_given(given).strip():
        raise InvalidInput(f"{where} was given an empty id; give the id of a source, e.g. 'D2'")
    return given


@called_as("cites")
def cites(source: str | None = None) -> Cites:
    """Returns a predicate that holds iff the answer cites the source with the id ``source``, and this
    source was shown.

    Without ``source``, it holds iff the answer cites at least one source and only sources that were
    shown. In-text citations such as [1], [2, 3], [D2], (D2) and "Source 2" are recognised. A number is
    the position among the shown sources, unless ids are numbers themselves. Raises InvalidInput for an
    empty id.
    """
    return Cites(None if source is None else _id_given(source, "cites"))


@called_as("mentions_source")
def mentions_source(source: str) -> MentionsSource:
    """Returns a predicate that holds iff the id or the title of ``source`` occurs in the answer. The
    source need not have been shown. Raises InvalidInput for an empty id."""
    return MentionsSource(_id_given(source, "mentions_source"))
