"""This module reads the text inside the brackets of a citation: "1, 3", "see D2, p. 4", "Source 1; Source
3".

Only this module defines what this text may contain. If its meaning is not certain, ``Citation.doubt``
gives the reason.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..late_patterns import compiled_late
from .joining_words import INNER_JOINT
from .naming_words import NAME_BEFORE, PLACE, RANGE

_LONGEST_RANGE = 30
_RANGE = compiled_late(rf"(\d{{1,3}})(?:{RANGE}(\d{{1,3}}))?", re.IGNORECASE)
_NUMBERS = compiled_late(rf"[\^#]?(\d{{1,3}})(?:{RANGE}[\^#]?(\d{{1,3}}))?", re.IGNORECASE)
_TO = compiled_late(rf"(?<=\d){RANGE}(?=[\^#]?\d)", re.IGNORECASE)
_LEAD = compiled_late(
    r"(?:(?:see|also|cf|e\.g|i\.e|from|in|per|based on|according to|citing|as in|both|from|"
    r"siehe|vgl|auch|laut|nach|aus|voir|d'après|selon|véase|ver|según|vedi|cfr?|secondo|см|по|"
    r"zob|patrz|zie|se|bkz|انظر|देखें)(?:[.:：,]{1,2}\s?|\s)|-?@(?=\w)"
    r"|(?:参见|參見|见|見|详见|詳見|参照|根据|根據|依据)[:： ]{0,2})",
    re.IGNORECASE,
)
_TITLED = compiled_late(r"(\S{1,60}?)\s?(?:[:|(–—]|-\s)\s?[^\W\d].*", re.DOTALL)
_PLACED = compiled_late(rf"(\S.*?)[ ,:–—-]{{1,4}}{PLACE.pattern}", re.IGNORECASE)
_OF_SERVICES = compiled_late(r"\d{1,3}:\d{1,3}†")
"""Matches a citation that a service such as OpenAI writes, for example "4:0†". Its meaning is given by
the annotations of the message, not by the text."""
_INSIDE = compiled_late(r"\d{1,3}(?::\s?\d|\()[\w:.,() –-]*")
_FROM_TO = compiled_late(
    r"(?P<stem>\D{1,40})(?P<first>\d{1,3})\s?[-–—~]\s?(?P<again>\D{0,40})(?P<last>\d{1,3})"
)
_LETTERED = compiled_late(r"(?:[SDRC]|ref|src|doc|cit)[-_]?\d{1,3}", re.IGNORECASE)
"""Matches a text such as "S2" or "ref-2", which means the number 2 if no source id has this form."""
_PLACE_OR_SOURCE = "it is not known whether {} is a source or a place in a source"
_WHICH = "it is not known which source {} means"


class Citation(NamedTuple):
    """A ``Citation`` is one citation in an answer. ``written``: its text in the answer, such as "[2]".
    ``id``: the id of the cited source; None if there is no such source. ``doubt``: the reason why it is
    not certain which source is cited, or whether this is a citation at all; empty if it is certain.
    ``is_said``: True if the text may be no citation but words of the answer, such as the index in
    "list[1]"; ``doubt`` then says why."""

    written: str
    id: str | None
    doubt: str = ""
    is_said: bool = False


class MarkContents(NamedTuple):
    """A ``MarkContents`` finds the citations in parts of an answer, such as the text between two
    brackets.

    ``kept``: the ids of the sources that were shown, in order: the number 2 cites the second of them.
    ``ids``: the ids of all sources.
    """

    kept: tuple[str, ...]
    ids: frozenset[str]

    def in_brackets(self, content: str, *, square: bool) -> Iterator[Citation]:
        """Yields the citations in the text between two brackets. ``square``: False for round brackets. In
        these, numbers are citations only after a word such as "source"."""
        if content in self.ids and (square or not content.isdecimal()):
            yield self._by_id(content, square=square)
            return
        if _OF_SERVICES.match(content):
            return
        is_named = False
        for entry in content.split(";"):
            is_placed = False
            for part in INNER_JOINT.split(_TO.sub("-", entry)):
                if PLACE.fullmatch(part.strip()):
                    is_placed = True
                    continue
                token, has_word = self._bare(part)
                is_placed, is_named = is_placed and not has_word, is_named or has_word
                found = self._cited(token, square=square, is_named=is_named)
                if found and not square and token not in self.ids and self._has_others(content):
                    return
                yield from (_after_place(each) for each in found) if is_placed else found

    def _bare(self, part: str) -> tuple[str, bool]:
        """Returns two values for the text of a citation: the number or id in it, and True iff a word
        before the number or id means a source. For "see source 2", these are "2" and True."""
        token, has_word = part.partition("†")[0].strip(), False
        for _ in range(3):
            if token in self.ids:
                break
            lead = _LEAD.match(token)
            token = token if lead is None else token[lead.end() :].strip()
            named = NAME_BEFORE.match(token)
            if named is not None and named.end() < len(token) and _is_apart(token, named.end()):
                after = token[named.end() :].strip()
                if after[0].isdecimal() or after[0] in "^#@" or after.split()[0].rstrip(":,") in self.ids:
                    token, has_word = after, True
        return token, has_word

    def _cited(self, token: str, *, square: bool, is_named: bool) -> tuple[Citation, ...]:
        """Returns the citations in ``token``, a part of the text between two brackets; an empty tuple if
        there are none.

        ``square``: False for round brackets. ``is_named``: True if a word such as "source" comes before
        the token. In round brackets, a number without such a word is no citation.
        """
        is_number_taken = square or is_named
        if token in self.ids and (is_number_taken or not token.isdecimal()):
            return (self._by_id(token, square=square),)
        numbers = _NUMBERS.fullmatch(token)
        if numbers is not None:
            form = "[{}]" if square else "source {}"
            return tuple(self.by_numbers(form, numbers[1], numbers[2])) if is_number_taken else ()
        range_of_ids = self._from_to(token)
        head = _PLACED.fullmatch(token) or _TITLED.fullmatch(token)
        if range_of_ids:
            return range_of_ids
        if head is not None and (head[1] in self.ids or _NUMBERS.fullmatch(head[1])):
            return self._cited(head[1], square=square, is_named=is_named)
        return self._unknown(token) if square else ()

    def _from_to(self, token: str) -> tuple[Citation, ...]:
        """Returns the citations of a range of ids, such as "D2-D4"; an empty tuple if the text is no
        such range."""
        ends = _FROM_TO.fullmatch(token)
        if ends is None or ends["stem"].casefold() != ends["again"].casefold():
            return ()
        named = [f"{ends['stem']}{each}" for each in spelt_out(int(ends["first"]), int(ends["last"]))]
        if named[0] not in self.ids:
            return ()
        return tuple(Citation(f"[{each}]", each if each in self.ids else None) for each in named)

    def _unknown(self, token: str) -> tuple[Citation, ...]:
        """Returns the citation for a text that looks like a source id but names no known source; an
        empty tuple if the text does not look like an id."""
        written = f"[{token}]"
        if re.search(r"\d", token) and _shape(token) in map(_shape, self.ids):
            return (Citation(written, None),)
        if _INSIDE.fullmatch(token) or (_LETTERED.fullmatch(token) and len(token) > 1):
            return (Citation(written, None, _WHICH.format(written)),)
        return ()

    def _has_others(self, content: str) -> bool:
        """Returns True iff the brackets contain text other than numbers of sources."""
        parts = INNER_JOINT.split(_TO.sub("-", content))
        return not all(
            PLACE.fullmatch(part.strip()) or self._cited(self._bare(part)[0], square=True, is_named=True)
            for part in parts
            if part.strip()
        )

    def alone(self, text: str, *, is_headed: bool) -> tuple[Citation, ...]:
        """Returns the citations in a text that consists only of source ids; an empty tuple if it
        contains other words. Numbers are citations too if ``is_headed`` is True: the text then follows a
        word for sources."""
        if self._has_others(text) or not (is_headed or self._names_ids(text)):
            return ()
        return tuple(self.in_brackets(text, square=True))

    def _names_ids(self, text: str) -> bool:
        parts = (part.strip() for part in INNER_JOINT.split(text) if part.strip())
        return all(not part.isdecimal() for part in parts)

    def worded(self, written: str) -> Iterator[Citation]:
        """Yields the citations in a phrase such as "sources 1 and 3"."""
        if written in self.ids:
            yield Citation(written, written)
            return
        for numbers in _RANGE.finditer(written):
            yield from self.by_numbers("source {}", numbers[1], numbers[2])

    def by_numbers(self, form: str, first: str, last: str | None = None) -> Iterator[Citation]:
        """Yields the citations for the numbers from ``first`` to ``last``; for only ``first`` if ``last``
        is None. ``form``: the text of such a citation in the answer, with a placeholder for the number,
        such as "[{}]"."""
        are_ids = bool(self.ids) and all(each.isdecimal() for each in self.ids)
        for number in spelt_out(int(first), int(last or first)):
            place = number - 1 if 1 <= number <= len(self.kept) else None
            by_place = None if place is None else self.kept[place]
            is_id = are_ids or str(number) in self.ids
            yield Citation(form.format(number), str(number) if is_id else by_place)

    def _by_id(self, identity: str, *, square: bool) -> Citation:
        return Citation(f"[{identity}]" if square else f"({identity})", identity)


def spelt_out(first: int, last: int) -> Iterable[int]:
    """Returns the numbers from ``first`` to ``last``. If the range runs backwards or is too long to be a
    real citation, returns only these two numbers."""
    return range(first, last + 1) if first <= last < first + _LONGEST_RANGE else {first, last}


def _after_place(citation: Citation) -> Citation:
    """Returns a citation that follows a place in a source, such as the 4 in "[1, pp. 3, 4]". If the text
    of the citation is a number, the ``doubt`` of the returned citation says that this number may be a
    second place and not a source."""
    number = citation.written.strip("[]").rpartition(" ")[2]
    is_open = number.isdecimal() and not citation.doubt
    return citation._replace(doubt=_PLACE_OR_SOURCE.format(number)) if is_open else citation


def _is_apart(token: str, end: int) -> bool:
    return not token[end - 1].isalnum() or not token[end].isalpha()


def _shape(identity: str) -> str:
    """Returns the pattern of an id, which shows whether an unknown text looks like an id. In the pattern,
    "#" stands for a number, so D2 and D17 have the same pattern. An id that is a number has one "#" for
    each digit instead."""
    return "#" * len(identity) if identity.isdecimal() else re.sub(r"\d+", "#", identity)
