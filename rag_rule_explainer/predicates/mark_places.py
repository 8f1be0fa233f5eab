"""This module finds the positions of citations in a text, including the brackets, links and punctuation
that belong to them.

An application that cites two sources writes "[1], [2]" or "(see [1] and [2])", and may write a citation
as a link or in superscript. If only the numbers were removed, commas and brackets would stay. A text with
two citations would then differ from the same text with one citation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..late_patterns import compiled_late
from .citation_marks import citation_marks
from .footnotes import HEADINGS
from .joining_words import JOINT, WORDS
from .mark_contents import Citation
from .plain_signs import plain_signs

_LONGEST_SEARCH = 5
"""The maximum number of seconds for the search of a user's pattern in one answer. A longer search raises
TimeoutError."""
_LONGEST = 240
"""The maximum number of characters before or after a citation that are searched for brackets, tags and
commas that belong to it."""
_DEEPEST = 8
"""The maximum number of nested brackets, tags and emphasis marks around a citation that are regarded as a
part of it. Outer ones stay in the text."""
_TARGET = compiled_late(
    r"\((?=[^()\s]{0,200}[./#:])(?:[^()\s]|\([^()\s]{0,100}\)){1,300}(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
    r"|(?<=[\]】])\((?=\d{0,300}[^\d()\s])[^()\s]{1,300}\)|\[\]|\{[.#:][^{}\n]{0,100}\}"
)
"""Matches the address of a link, with or without a title, and the attributes that Pandoc writes after a
citation."""
_AFTER = compiled_late(
    r"[ ,:]{1,3}(?P<round>\()?"
    r"(?:pp?\.|pages?|S\.|Seiten?|§|[Ss]ections?|[Ss]ec\.|[Cc]hapter|[Aa]bschnitt|p[aá]gs?\.|p[aá]ginas?|"
    r"стр\.|с\.) ?\d[\d.–-]{0,8}(?<=\d)(?(round)\))(?=[ \t]*(?:[.,;:)\]。，]|\n|\Z))"
)
"""Matches a place in a source, such as "p. 3", after a citation."""
_NOTED = compiled_late(r"\[\^[\w-]{1,30}\]")
"""Matches the mark of a footnote, whose label may be a word."""
_OPENING = compiled_late(
    r"(?P<tag><(?P<name>a|sup|sub|b|i|em|strong|small|span|cite|mark|code)(?: [^<>]{0,200})?>)"
    r"|(?P<sign>\*\*|\*|__|_|`|\^|\"|[«“„]|\\\[|\[)"
    r"|(?P<round>[(（])[ \t]{0,2}(?:(?:see(?: also)?|cf\.|e\.g\.,?|from|refs?\.?|citing|based on|as in|"
    rf"as per|according to|{HEADINGS}|{WORDS}|also|vgl\.|siehe|voir|véase|ver|vedi|см\.)"
    r"[:： \t]{1,2}|(?:参见|參見|见|見|详见|詳見|参照|参考|根据|依据|出典|来源)[:： ]{0,2}){0,3}",
    re.IGNORECASE,
)
_NAMED = compiled_late(
    r"(?<![\w-])(?:source|document|doc|passage|quelle|dokument|fuente|documento)[ ]?\Z", re.IGNORECASE
)
"""Matches a word for sources before a number in brackets, as in "Document[3]"."""
_SYMBOL = compiled_late(r"[\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001faff][\ufe0f]?[ \t]?\Z")
"""Matches an arrow or an emoji, such as a book, before a citation."""
_EMPHASIS = ("*", "**", "_", "__", "`", "^", '"')
"""The characters that Markdown puts directly before and after an emphasised text."""
_CLOSING = {"[": "]", "\\[": "\\]", "(": ")", "（": "）", "«": "»", "“": "”", "„": "“"}
_LINKED = compiled_late(
    r"\(\[[^\[\]\n]{1,200}\]\(https?://[^()\s]{1,200}\)\)|【[^【】\n]{0,100}†[^【】\n]{0,100}】"
)
"""Matches the citations that services such as OpenAI insert into the text of an answer."""
_BRACKETS = "[【(\\@~"

Place = tuple[int, int]


def places_of_marks(text: str, known: Iterable[str], pattern: str | None = None) -> list[Place]:
    """Returns the start and the end of each citation in the text, in order, without the brackets and
    links around it.

    ``known``: the ids of all sources, in order. ``pattern``: a regular expression for further citations;
    None for none. A phrase such as "document 7" is taken as a citation only if there are as many sources
    as its number (here at least seven).
    """
    ids, plain = tuple(known), plain_signs(text)
    found = [
        (mark.start, mark.end)
        for mark in citation_marks(plain, ids, ids)
        if plain[mark.start] in _BRACKETS or any(_is_counted(each) for each in mark.citations)
    ]
    found += [each.span() for form in (_LINKED, _NOTED) for each in form.finditer(plain)]
    if pattern is not None:
        found += [each.span() for each in matches_of(pattern, text)]
    return sorted(found)


def _is_counted(citation: Citation) -> bool:
    """Returns True iff the number of this citation is, or may be, the position of a source. Zero counts
    too, because some applications number from 0."""
    return citation.id is not None or citation.written == "source 0" or bool(citation.doubt)


def widened(text: str, places: Iterable[Place]) -> list[Place]:
    """Returns the positions of the citations, extended by all text that belongs to the citations:
    brackets, tags and emphasis around a citation, the targets of links, and the punctuation and words
    between two citations."""
    text = plain_signs(text)
    found = _joined(text, sorted(places))
    for _ in range(_DEEPEST):
        wider = _joined(text, [_wider(text, start, end) for start, end in found])
        if wider == found:
            break
        found = wider
    return found


def _joined(text: str, places: Sequence[Place]) -> list[Place]:
    """Returns the positions in order. Two positions with only punctuation such as a comma between them
    are merged."""
    joined = list[Place]()
    for start, end in places:
        if joined and (start <= joined[-1][1] or _is_between(text, joined[-1][1], start)):
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def _is_between(text: str, start: int, end: int) -> bool:
    return end - start <= _LONGEST and JOINT.fullmatch(text, start, end) is not None


def _wider(text: str, start: int, end: int) -> Place:
    target = _TARGET.match(text, end)
    end = end if target is None else target.end()
    after = _AFTER.match(text, end)
    end = end if after is None else after.end()
    named = _NAMED.search(text, max(0, start - 20), start) if text[start : start + 1] == "[" else None
    start = start if named is None else named.start()
    symbol = _SYMBOL.search(text[max(0, start - 3) : start])
    if symbol is not None:
        start -= len(symbol[0])
    before = text[max(0, start - _LONGEST) : start]
    opening = _last_opening(before)
    if opening is None:
        return start, end
    closing = _closing_of(opening)
    after = text[end : end + _LONGEST]
    around = "" if closing in _EMPHASIS else " \t.,;" if closing in ")）" else " \t"
    inner = after.lstrip(around) if around else after.removeprefix(":")
    if not around and before != before.rstrip(" \t"):
        return start, end
    if not inner.lower().startswith(closing):
        return start, end
    return start - len(before) + opening.start(), end + len(after) - len(inner) + len(closing)


def _last_opening(before: str) -> re.Match[str] | None:
    """Returns the opening bracket, tag or sign of emphasis with which this text ends; None if it ends
    otherwise. ``before``: the text before a citation."""
    bare = before.rstrip(" \t")
    for place in range(len(bare) - 1, -1, -1):
        if bare[place] in '<*_`^"[(（\\«“„':
            found = _OPENING.match(before, place)
            if found is not None and not before[found.end() :].strip(" \t"):
                return _doubled(before, found)
            if bare[place] in "<(（":
                return None
    return None


def _doubled(before: str, found: re.Match[str]) -> re.Match[str]:
    """Returns the match of a whole double sign, such as "**", if ``found`` matches only its second
    character; otherwise returns ``found``."""
    longer = _OPENING.match(before, found.start() - 1) if found.start() else None
    return longer if longer is not None and longer.end() == found.end() else found


def _closing_of(opening: re.Match[str]) -> str:
    if opening["tag"]:
        return f"</{opening['name'].lower()}>"
    sign: str = opening["sign"] or opening["round"]
    return _CLOSING.get(sign, sign)


def matches_of(pattern: str, text: str) -> Iterator[Any]:
    """Returns the matches of a user's regular expression in the text, without those of an empty text.
    Raises TimeoutError if the search takes too long, as it may in a text that an adversary wrote."""
    import regex  # imported late, because most users have no patterns

    found = regex.finditer(pattern, text, timeout=_LONGEST_SEARCH, concurrent=True)
    return (match for match in found if match[0])
