"""This module finds the footnotes and the lists of references of an answer.

A footnote is a line such as "[^1]: guideline.pdf" or "[1]: guideline.pdf". A list of references begins
with a line that is a heading, such as "Sources:". Each of its lines begins with a number or a bullet,
such as "[1] guideline.pdf", "2. blog" or "- mail". A list of references may also be one line, such as
"Source: guideline.pdf". Or it may be lines such as "[1] guideline.pdf" in a separate paragraph, if the
text above cites their numbers. If an answer consists only of such lines, these lines are the answer and
not a list of references.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..late_patterns import compiled_late
from .plain_signs import plain_signs
from .superscripts import HIGH, superscripts

_LINE = compiled_late(r"[^\n]*(?:\n|\Z)")
_NOTE = compiled_late(r"[ \t]{0,3}(?:[-*•][ \t]+)?\[(?:\^([\w-]{1,30})|(\d{1,3}))\]:[ \t]*(\S[^\n]*)?")
_ENTRY = compiled_late(r"[ \t]{0,3}(?:[-*•][ \t]+)?[\[【](\d{1,3})[\]】][ \t]+([\"“„«*_]{0,3}\w[^\n]*)")
_MARKED = compiled_late(r"[\[【]\^?([^\[\]【】\n]{1,60})[\]】]")
_NUMBERS = compiled_late(r"(\d{1,3})(?: ?[-–] ?(\d{1,3}))?")
HEADINGS = (
    "sources?|references?|citations?|footnotes?|bibliograph(?:y|ie)|works cited|fußnoten?|脚注|注释|"
    "cited (?:sources|works|documents)|sources? (?:used|cited|consulted)|"
    "quellen?(?:angaben?)?|quellenverzeichnis|literatur(?:verzeichnis)?|belege|nachweise|"
    "références?|sources citées|fuentes?|referencias?|bibliografía|fonti|fonte|riferimenti|"
    "bibliografia|fontes?|referências?|bronn?en|bron|kilder?|källor|källa|lähteet|lähde|"
    "źródł[ao]|zdroje?|források|forrás|surse|sursă|источники?|ссылки|литература|джерел[ао]|"
    "kaynaklar|kaynak|来源|來源|出典|参考(?:文献|资料|資料)?|參考(?:文獻|資料)?|引用|출처|"
    "참고(?:문헌| 자료)?|المصادر|المراجع|स्रोत"
)
"""The words that are used as headings of lists of references, as a part of a regular expression."""
_HEADING = compiled_late(rf"[ \t#*_]{{0,8}}(?:{HEADINGS})[ \t:：*_]{{0,8}}\s*\Z", re.IGNORECASE)
_IN_LINE = compiled_late(
    rf"[ \t#*_>(-]{{0,8}}(?:{HEADINGS})[ \t*_]{{0,4}}[:：][ \t*_]{{0,4}}(?P<rest>\S[^\n]*)", re.IGNORECASE
)
_OF_LINE = compiled_late(r"[\[【]\^?(\d{1,3})[\]】]:?[ \t]*([^\[\]【】]{2,})")
_MARKS_ALONE = compiled_late(
    r"[\[【(][^\[\]【】()]{0,60}[\]】)]|\b(?:sources?|documents?|docs?|passages?)\b\.?|\d{1,3}|"
    r"\b(?:and|und|et|y|e|or|oder|и|و|to)\b|[和与と및]",
    re.IGNORECASE,
)
_RULE = compiled_late(r"[ \t]*[-=_*]{3,}[ \t]*\n?\Z")
_LISTED = compiled_late(
    r"[ \t]{0,3}(?:(?:[-*•][ \t]+)?(?:[\[【]\^?(\d{1,3})[\]】]:?|\(?(\d{1,3})[.):]?)|[-*•])"
    r"[ \t]+(\S[^\n]*)"
)
_RAISED = compiled_late(
    r"[ \t]{0,3}(?:<sup[^<>\n]{0,60}>\s?(\d{1,3})\s?</sup>|([⁰¹²³⁴-⁹]{1,3})|(\d{1,3})[.):](?=[ \t]))"
    r"[ \t.:)]*(?=\w|<|\[|“|\")"
)
_ANY_HEADING = compiled_late(r"[ \t]*(?:#{1,6} |\*\*)?[^\n.!?\[\]【】。]{1,60}\Z")
_LONGEST_LINE = 2000
_Line = tuple[int, int, str]


class Footnote(NamedTuple):
    """A ``Footnote`` is one line of an answer that gives the meaning of a number. ``start`` and ``end``:
    the place of the line in the text. ``label``: the number as text; empty for a line without one, such
    as a heading. ``text``: the rest of the line. ``is_sure``: False if the line may also be a part of the
    answer itself."""

    start: int
    end: int
    label: str
    text: str
    is_sure: bool = True


def footnotes(text: str) -> tuple[Footnote, ...]:
    """Returns the footnotes of the text and the lines of its lists of references, with the headings, in
    order."""
    text = plain_signs(text)
    raised = _raised_labels(text)
    lines = [
        (found.start(), found.end(), _with_label(found[0], raised))
        for found in _LINE.finditer(text)
        if found[0]
    ]
    found = list(_references(lines))
    taken = {note.start for note in found}
    others = [line for line in lines if line[0] not in taken]
    found += _in_line(others)
    taken = {note.start for note in found}
    found += _notes([line for line in others if line[0] not in taken])
    return tuple(sorted(found))


def marked_labels(text: str) -> frozenset[str]:
    """Returns the numbers of sources that the text has in brackets, as texts: "2" for "[2]". For a range
    such as "[1-3]", returns all numbers of the range."""
    found = set[str]()
    for label in dict.fromkeys(_MARKED.findall(text)):
        found.add(label.strip())
        for first, last in _NUMBERS.findall(label):
            found.update(map(str, range(int(first), min(int(last or first), int(first) + 99) + 1)))
    return frozenset(found)


def _raised_labels(text: str) -> frozenset[str]:
    """Returns the numbers of all citations in superscript in the text, as plain digits."""
    return frozenset(first for _, _, numbers, _ in superscripts(text) for first, _ in numbers)


def _with_label(line: str, raised: frozenset[str]) -> str:
    """Returns a line with the number at its beginning in brackets. This is done if the number is in
    superscript, or if it is in ``raised``, the numbers that the text cites in superscript. Otherwise
    returns the line unchanged."""
    found = _RAISED.match(line[:_LONGEST_LINE])
    if found is None:
        return line
    label = (found[1] or found[2] or "").translate(HIGH)
    if label:
        return f"[^{label}]: {line[found.end() :]}"
    return f"[{found[3]}] {line[found.end() :]}" if found[3] in raised else line


def _notes(lines: Sequence[_Line]) -> Iterator[Footnote]:
    """Yields the lines that are footnotes. Lines such as "[1]: The dose is five." are footnotes only if
    the rest of the answer cites one of their numbers; otherwise these lines are a part of the answer. If
    the answer consists only of footnotes, no line is yielded."""
    found = [(line, _NOTE.match(line[2][:_LONGEST_LINE])) for line in lines]
    entries = _entries([line for line, note in found if note is None])
    places = {line[0] for line, _ in entries}
    others = "".join(line[2] for line, note in found if note is None and line[0] not in places)
    marked = marked_labels(others) | _raised_labels(others)
    is_cited = any(note is not None and note[2] in marked for _, note in found)
    for (start, end, _), note in found if others.strip() else ():
        if note is not None and (note[1] or is_cited):
            yield Footnote(start, end, note[1] or note[2], (note[3] or "").strip())
    for (start, end, _), entry in entries:
        if entry[1] in marked:
            yield Footnote(start, end, entry[1], entry[2].strip(), is_sure=False)


def _entries(lines: Sequence[_Line]) -> list[tuple[_Line, re.Match[str]]]:
    """Returns the lines that begin with a number in brackets, from paragraphs in which every line begins
    in this way, except perhaps a heading."""
    found, block = list[tuple[_Line, re.Match[str]]](), list[tuple[_Line, re.Match[str] | None]]()
    for line in (*lines, (0, 0, "")):
        if line[2].strip():
            block.append((line, _ENTRY.match(line[2][:_LONGEST_LINE])))
            continue
        if len(block) > 1 and block[0][1] is None and _ANY_HEADING.match(block[0][0][2].rstrip()):
            block = block[1:]
        entries = [(each, entry) for each, entry in block if entry is not None]
        found += entries if len(entries) == len(block) else []
        block = []
    return found


def _in_line(lines: Sequence[_Line]) -> Iterator[Footnote]:
    """Yields each line that alone is a list of references, such as "Source: guideline.pdf". A line that
    contains only the numbers of sources is not such a list."""
    matched = [(line, _IN_LINE.match(line[2][:_LONGEST_LINE])) for line in lines]
    is_all = all(found is not None for line, found in matched if line[2].strip())
    for (start, end, _), found in matched:
        if is_all or found is None or not any(map(str.isalnum, _MARKS_ALONE.sub("", found["rest"]))):
            continue
        entries = list(_OF_LINE.finditer(found["rest"]))
        if not entries:
            yield Footnote(start, end, "", found["rest"].strip())
        for entry in entries:
            yield Footnote(start, end, entry[1], entry[2].strip(" \t;,."))


def _references(lines: Sequence[_Line]) -> Iterator[Footnote]:
    """Yields the heading and the lines of the list of references. If several headings have a list below
    them, only the last of these lists is yielded."""
    headings = [place for place, line in enumerate(lines) if _HEADING.match(line[2][:_LONGEST_LINE])]
    first = next((place for place, line in enumerate(lines) if line[2].strip()), len(lines))
    for place in reversed(headings[bisect_right(headings, first) :]):
        listed = list(_below(lines, place + 1))
        if listed:
            yield Footnote(lines[place][0], listed[0].start, "", "")
            yield from listed
            return


def _below(lines: Sequence[_Line], place: int) -> Iterator[Footnote]:
    """Yields the lines of the list of references that begins at this line. ``place``: the index of its
    first line."""
    for at, (start, end, line) in enumerate(lines[place:]):
        found = _LISTED.match(line[:_LONGEST_LINE])
        if found is not None:
            yield Footnote(start, end, found[1] or found[2] or "", found[3].strip())
        elif line.strip() and not (at == 0 and _RULE.match(line[:_LONGEST_LINE])):
            return
