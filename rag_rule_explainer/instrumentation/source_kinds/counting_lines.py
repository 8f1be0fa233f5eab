"""This module finds the numbers that count the items of a list, in the line before or after the list,
such as "Found 3 mails:".

A number is only taken as a count if the line says so. If it is equal to the number of items and the line
does not say what it means, it is doubtful.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...predicates.mark_places import Place

WORDS_OF_COUNTS = frozenset(
    {
        *("a", "all", "are", "at", "by", "count", "displayed", "documents", "emails", "entries"),
        *("events", "files", "found", "have", "hits", "in", "is", "items", "list", "listed"),
        *("mails", "matched", "matches", "matching", "messages", "most", "none", "of", "only"),
        *("out", "page", "pages", "records", "result", "results", "retrieved", "returned", "rows"),
        *("showing", "shown", "that", "the", "there", "these", "total", "were"),
    }
)
"""If the line after a list consists only of these words and numbers, as "3 results found" does, it only
says how many items the list has. Such a line is no source, because it says nothing about one item."""
_NUMBER_WORDS: tuple[str, ...] = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NUMBER = re.compile(
    rf"(?<![\w#$€£])(?<!\d[.,:/–-])(?:\d{{1,6}}|{'|'.join(_NUMBER_WORDS[2:])})(?![\w%]|[.,:/][\d]|-\w)",
    re.IGNORECASE,
)
"""Matches a number that stands alone: no part of an id, a date, a time, a price or a decimal number."""
_RANGE = re.compile(r"(?<![\w.,:/#-])(?P<first>\d{1,6})\s?(?:-|–|to)\s?(?P<last>\d{1,6})(?![\w.,:/-]*\d)")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)")
_INTRODUCED = re.compile(
    r"(?:^|\b(?:all|are|contains?|count|displaying|following|found|got|has|have|listed|listing|lists|"
    r"matched|received|retrieved|returned|returning|returns|showing|shows|these|total)(?:\s+the)?)"
    r"[\s:*_(\[=]*$",
    re.IGNORECASE,
)
"""Matches the text before a number that counts, such as "You have "."""
_TO_THE_END = re.compile(
    r"\s*[)\]]?[\s.:*_)\]]*(?:$|(?:found|in|for|from|match\w*|of|with|that|to)\b)", re.I
)
"""Matches what may follow the noun that a counting number belongs to."""
_TOTAL = re.compile(r"\b(?P<shown>\w+)\s+(?:out\s+)?of\s+(?:a\s+total\s+of\s+|the\s+)?$", re.IGNORECASE)
"""Matches the text before the second number of "3 of 17"."""
_OF_A_TOTAL = re.compile(r"\s+(?:out\s+)?of\s+(?:a\s+total\s+of\s+|the\s+)?\d", re.IGNORECASE)
"""Matches the text after the first number of "3 of 17"."""
_CLOSED = re.compile(r"(?:\s+(?:found|in total|matched|shown|total))?[\s.:*_)\]]*", re.IGNORECASE)
"""Matches the text after a number that ends a line."""
_NAMED = re.compile(
    r"\b(?:apartment|building|case|chapter|class|day|episode|figure|flight|floor|gate|grade|group|id|"
    r"invoice|lane|level|line|month|no|nr|number|order|page|part|phase|priority|room|season|section|"
    r"stage|step|table|team|ticket|tier|unit|version|volume|week|year|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?\s*$",
    re.IGNORECASE,
)
"""Matches the text before a number that names one thing, such as "Room "."""
_MEASURES = frozenset(
    {
        *("adult", "adults", "bedroom", "bedrooms", "block", "blocks", "cent", "cents", "child"),
        *("children", "cm", "day", "days", "degrees", "dollar", "dollars", "euro", "euros", "eur"),
        *("guest", "guests", "hour", "hours", "km", "kg", "meters", "metres", "mile", "miles"),
        *("min", "mins", "minute", "minutes", "month", "months", "night", "nights", "people"),
        *("percent", "person", "persons", "pound", "pounds", "seats", "second", "seconds", "star"),
        *("stars", "stop", "stops", "times", "usd", "week", "weeks", "year", "years"),
    }
)
"""Nouns whose number seldom counts the items of a list, as in "the last 3 days"."""
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_END_OF_A_RANGE = -1
"""The value of a number that ends a range, as 6 does in "4-6". It is no count, so its own value says
nothing."""


class CountingNumbers(NamedTuple):
    """A ``CountingNumbers`` holds the places of the numbers in a line that count the items of a list
    (``counts``). ``is_doubtful``: True if another number may count them too."""

    counts: tuple[Place, ...] = ()
    is_doubtful: bool = False


class _Found(NamedTuple):
    at: Place
    value: int
    counts: bool | None
    """True if the number counts, False if it does not, None if it is unknown."""


def counted_in(text: str, line: Place, total: int) -> CountingNumbers:
    """Returns the numbers in a line that count the items of a list. ``line``: the start and end of the
    line in the text; ``total``: the number of items."""
    found = list(_numbers(text[slice(*line)], total))
    sure = [each for each in found if each.counts and each.value == total]
    # The end of "4-6" is no count, but goes down with it.
    sure += [each for each in found if each.counts and each.value == _END_OF_A_RANGE]
    # "3 of 17": without one of the three, there are sixteen.
    sure += [each for each in found if sure and each.counts and each.value > total]
    places = sorted({(line[0] + each.at[0], line[0] + each.at[1]) for each in sure})
    doubtful = any(each.counts is None and each.value in {total, _END_OF_A_RANGE} for each in found)
    return CountingNumbers(tuple(places), doubtful)


def is_counting(text: str, line: Place, total: int) -> bool:
    """Returns True iff a line only says how many items a list has."""
    words = {each.lower() for each in re.findall(r"[^\W\d_]+", text[slice(*line)])}
    return bool(words) and words <= WORDS_OF_COUNTS and bool(counted_in(text, line, total).counts)


def lowered(number: str, less: int) -> str:
    """Returns a number, in digits or as a word, that is lower by ``less``, but at least 0."""
    if number.isdigit():
        return str(max(0, int(number) - less))
    word = _NUMBER_WORDS[max(0, _NUMBER_WORDS.index(number.lower()) - less)]
    return word.capitalize() if number[0].isupper() else word


def _numbers(line: str, total: int) -> Iterator[_Found]:
    # What is in quotation marks is a query or a title.
    line = _QUOTED.sub(lambda found: "_" * len(found[0]), line)
    for found in _RANGE.finditer(line):
        if int(found["last"]) - int(found["first"]) + 1 == total:
            is_sure = _INTRODUCED.search(line[: found.start()]) or _is_list_word(line[: found.start()])
            follows = re.match(r"\s+(?:out\s+)?of\b|[\s.:)\]]*$", line[found.end() :])
            yield _Found(found.span("last"), _END_OF_A_RANGE, True if is_sure and follows else None)
            line = line[: found.start()] + "_" * len(found[0]) + line[found.end() :]
    for found in _NUMBER.finditer(line):
        written = found[0].lower()
        value = int(written) if written.isdigit() else _NUMBER_WORDS.index(written)
        if value >= total:
            counts = _counts(line[: found.start()], line[found.end() :], is_one=value == 1)
            yield _Found(found.span(), value, counts)


def _is_list_word(before: str) -> bool:
    words = _WORD.findall(before)
    return bool(words) and words[-1].lower() in WORDS_OF_COUNTS - {"a", "at", "by", "in", "page", "pages"}


def _counts(before: str, after: str, *, is_one: bool) -> bool | None:
    """Returns True if a number counts, False if it does not, and None if that is unknown. ``before``,
    ``after``: the rest of its line. ``is_one``: True if the number is 1, which has no plural noun."""
    total = _TOTAL.search(before)
    is_total = total is not None and (total["shown"].isdigit() or total["shown"].startswith("_"))
    if _NAMED.search(before[: total.start()] if total is not None and is_total else before):
        return False
    is_introduced = _INTRODUCED.search(before) is not None
    noun = _WORD.match(after.lstrip(" *_"))
    if noun is not None and noun[0].lower() in _MEASURES:
        return None if is_introduced else False
    if _CLOSED.fullmatch(after) and not is_total:
        return _closes(before)
    is_first = _WORD.search(before) is None
    is_of = _OF_A_TOTAL.match(after) is not None or _is_of_a_noun(after, is_first=is_first, is_one=is_one)
    return True if is_total or (is_introduced and is_of) else None


def _is_of_a_noun(after: str, *, is_first: bool, is_one: bool) -> bool:
    """Returns True iff a plural noun follows a number, perhaps after other words, as in "3 new mails".
    ``is_first``: True if the number begins the line, which must then end after the noun, or go on as
    lines about a list do. ``is_one``: True if the number is 1, which any word may follow."""
    for number, found in enumerate(_WORD.finditer(after)):
        word = found[0].lower()
        if after[: found.start()].strip(" *_") and number == 0:
            return False
        if word in {"of", "in", "for", "to"} or word in _MEASURES or number > 3:
            return False
        is_plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
        if is_one or is_plural or word in WORDS_OF_COUNTS:
            if not is_first or _TO_THE_END.match(after[found.end() :]) is not None:
                return True
            if not is_one:
                return False
    return False


def _closes(before: str) -> bool | None:
    """Returns True if a number at the end of a line counts, as in "Total: 3" and "Orders (3):"; None if
    that is unknown."""
    words = [each.lower() for each in _WORD.findall(before)]
    if not words:
        return None
    if re.search(r"[(\[]\s*$", before):
        is_plural = words[-1].endswith("s") and not words[-1].endswith(("ss", "us", "is"))
        return True if is_plural and words[-1] not in _MEASURES else None
    nouns = WORDS_OF_COUNTS - {"a", "at", "by", "in", "is", "most", "page", "that", "the"}
    return True if words[-1] in nouns else None
