"""This module decides to which sentence a citation between two sentences belongs.

Most answers cite after a sentence: "So it is. [1] That too. [2]". Some cite before it: "[1] So it is. [2]
That too." A segmenter, which splits the text into sentences, adds the text between two sentences to the
first one.
"""

import re
from collections import deque
from collections.abc import Sequence

from ..predicates.mark_places import Place

_LISTED = re.compile(r"\s*(?:(?:[-*•+]|\d{1,3}[.)])\s+)?")
ENDING = ".!?…。！？।॥۔؟"


def marks_before(text: str, marks: Sequence[Place]) -> dict[int, int]:
    """Returns the positions of the citations that stand before their sentence, as in "[1] So it is.": a
    dict from the end of each citation to its start. ``marks``: the positions of all citations, in order.
    """
    found, place = dict[int, int](), 0
    starts, ends = {start for start, _ in marks}, {end for _, end in marks}
    waiting = deque(marks)
    for line in text.splitlines(keepends=True):
        begin, place = place, place + len(line)
        listed = _LISTED.match(line)
        first = begin + (listed.end() if listed else 0)
        said = len(line.rstrip()), len(line.rstrip().rstrip(ENDING))
        is_before = first in starts and ends.isdisjoint(begin + each for each in said)
        last = max((at for at, letter in enumerate(line) if letter.isalnum()), default=-1)
        while waiting and waiting[0][0] < place:
            start, end = waiting.popleft()
            if end <= begin + last and (is_before or start == first):
                found[end] = start
    return found
