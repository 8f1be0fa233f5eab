"""This module finds what gives the places of items in other forms than as a number: ordinals such as
"1st" and "Second:", letters such as "a)", and "2 of 3", which says how many items there are as well."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from .list_data import Columns

FIELD_OF_COUNTS = "of"
"""The name of the field that says in each item how many items there are."""
ORDINAL = "ordinal"
_WORDS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth"),
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
_ORDINAL = re.compile(
    r"\W*(?:the )?(?P<number>\d{1,4})(?:st|nd|rd|th)\b|\W*(?:the )?(?P<word>[a-z]+)\b", re.I
)
_MARK = re.compile(r"\W*(?P<mark>[a-z]{1,4})[).:](?=\s)", re.I)
_OF = re.compile(
    r"(?<![\w.,/-])(?:(?P<place>\d{1,4})\s?)?(?:/|\bout of\b|\bof\b)\s?(?P<all>\d{1,4})(?![\w/-]|[.,]\d)",
    re.I,
)
"""Matches "2 of 3", "2/3", and "of 3", if the number before it has been cut off."""


def places_in(items: Sequence[Any], columns: Columns) -> Iterator[str]:
    """Yields the names of what gives places in the list or says how many items there are. ``columns``:
    the fields of the items."""
    texts = [each for each in items if isinstance(each, str)]
    named = [("", texts)] if len(texts) == len(items) else []
    named += [
        (name, [str(each) for each in own])
        for name, own in columns.items()
        if all(isinstance(each, str) for each in own)
    ]
    for name, own in named:
        if _says_how_many(own):
            yield name or FIELD_OF_COUNTS
        # A number in a text has a name of its own.
        elif (name or not columns) and (
            _runs([_ordinal(each) for each in own]) or (not name and _has_marks(own))
        ):
            yield name or ORDINAL


def _says_how_many(texts: Sequence[str]) -> bool:
    found = [_OF.search(each) for each in texts]
    read = [(each["place"], each["all"]) for each in found if each is not None]
    totals = {every for _, every in read}
    if len(read) < len(texts) or len(totals) != 1 or int(totals.pop()) < len(texts):
        return False
    places = [int(place) for place, _ in read if place is not None]
    if not places:
        starts = (each.string[: each.start()] for each in found if each is not None)
        return not any(each.strip(" ([") for each in starts)
    return _runs(places) and len(places) == len(texts)


def _ordinal(text: str) -> int | None:
    found = _ORDINAL.match(text)
    if found is None or found["number"]:
        return None if found is None else int(found["number"])
    word = found["word"].lower()
    return _WORDS.index(word) + 1 if word in _WORDS else None


def _has_marks(texts: Sequence[str]) -> bool:
    found = [_MARK.match(each) for each in texts]
    marks = [each["mark"].lower() for each in found if each is not None]
    runs = (known[: len(texts)] for known in (_LETTERS, _ROMAN))
    return len(texts) > 1 and any(tuple(marks) == each for each in runs)


def _runs(places: Sequence[int | None]) -> bool:
    """Returns True iff numbers run up or down by 1."""
    numbers = [each for each in places if each is not None]
    steps = {later - one for one, later in pairwise(numbers)}
    return len(numbers) == len(places) and steps in ({1}, {-1})
