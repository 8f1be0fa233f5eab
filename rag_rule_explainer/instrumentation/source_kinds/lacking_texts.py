"""This module compares texts of requests in which omitted sources may be missing."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

SERVED = "\0"
"""This character replaces the text of a source that a search or a tool returned."""
_LABEL = re.compile(r"[^\w]*(?:\b\d{1,3})?[^\w]*$")
"""Matches the signs before the text of a source, with its number in a list."""
_SIGNS = re.compile(r"[^\w]*")
_NUMBER = re.compile(r"\d{1,3}")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


def may_lack(known: str, now: str) -> bool:
    """Returns True iff two texts are equal up to their parts from the first to the last source that was
    served, and the second has no word in this part that the first does not have there, except for the
    number of a source."""
    head, _, rest = known.partition(SERVED)
    between, _, tail = rest.rpartition(SERVED)
    start, end = _LABEL.sub("", head), _SIGNS.sub("", tail, count=1)
    if len(now) < len(start) + len(end) or not (now.startswith(start) and now.endswith(end)):
        return False
    left = now[len(start) : len(now) - len(end)]
    words = Counter(_WORD.findall(f"{head[len(start) :]} {between}"))
    new = Counter(_WORD.findall(left)) - words
    is_numbered = any(map(_NUMBER.fullmatch, words))
    return all(is_numbered and _NUMBER.fullmatch(each) for each in new)


def lacks_only(known: str, now: str, omitted: Sequence[str]) -> bool:
    """Returns True iff the second text is the first one without parts that have only words of omitted
    sources, and not more of them, so that it is the same result in the application's own form. Numbers of
    sources in a list may differ; the white space and signs that are left may not. ``omitted``: the texts
    of the omitted sources."""
    was, left = _TOKEN.findall(known), _TOKEN.findall(now)
    allowed = Counter(word for each in omitted for word in _WORD.findall(each))
    runs = 0
    for how, start, end, new_start, new_end in SequenceMatcher(None, was, left, False).get_opcodes():
        gone, new = was[start:end], left[new_start:new_end]
        if how == "equal" or (len(gone) == len(new) and all(map(_NUMBER.fullmatch, [*gone, *new]))):
            continue
        words = [each for each in gone if _WORD.fullmatch(each) and not _NUMBER.fullmatch(each)]
        if new or not words:
            return False
        runs += 1
        allowed.subtract(words)
        if any(allowed[each] < 0 for each in words):
            return False
    return 0 < runs <= len(omitted)
