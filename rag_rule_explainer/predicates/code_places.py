"""This module finds the code and the formulas in a text. Brackets in them are not citations."""

import re
from collections.abc import Iterator

from ..late_patterns import compiled_late

_BLOCK = compiled_late(
    r"^[ \t>]{0,12}(?P<fence>`{3,}|~{3,})(?:.*?^[ \t>]{0,12}(?P=fence)[`~]*[ \t]*$|.*)",
    re.MULTILINE | re.DOTALL,
)
_SPAN = compiled_late(r"(?<!`)`(?!`)([^`\n]{1,300})`(?!`)|(?<!`)``(?!`)([^\n]{1,300}?)``(?!`)")
_FORMULA = compiled_late(
    r"(?<![\\$\w])\$(?![\s$^])([^$\n]{1,300})(?<![\s\\])\$(?![\d$])|\$\$.{1,1000}?\$\$", re.DOTALL
)
_INDENTED = compiled_late(r"(?:\A|(?<=\n)[ \t]*\n)((?:(?: {4}|\t)[^\n]*\S[^\n]*(?:\n|\Z))+)")
_COMMENT = compiled_late(r"<!--.{0,1000}?-->", re.DOTALL)
_POINT = compiled_late(r"\s*(?:[-*•+>|]|\(?\w{1,3}[.)]\s|\[\^?\w{1,30}\]:)")
_OF_CODE = compiled_late(r"[=(){};]|\b(?:def|return|import|for|print|var|let|const)\b")
_MARKS_ALONE = compiled_late(
    r"[\s,;&]*(?:[\[【(][^\[\]【】()\n]{1,60}[\]】)][\s,;&]*)+|\w+[.:# ]{0,3}\d{1,3}\s*"
)

_Span = tuple[int, int]


def code_places(text: str) -> list[_Span]:
    """Returns the start and the end of each piece of code and of each formula in the text, in order. A
    citation in backticks, such as "`[1]`", is not regarded as code."""
    blocks = [found.span() for found in _BLOCK.finditer(text)] if "```" in text or "~~~" in text else []
    if "<!--" in text:
        blocks += [found.span() for found in _COMMENT.finditer(text)]
    return sorted([*blocks, *_spans(text), *_formulas(text), *_indented(text)])


def _spans(text: str) -> Iterator[_Span]:
    for found in _SPAN.finditer(text) if "`" in text else ():
        if not _MARKS_ALONE.fullmatch(found[1] or found[2] or ""):
            yield found.span()


def _formulas(text: str) -> Iterator[_Span]:
    for found in _FORMULA.finditer(text) if "$" in text else ():
        yield found.span()


def _indented(text: str) -> Iterator[_Span]:
    """Yields the start and the end of each block that is indented as code. A list or prose may be
    indented too, so a block is taken as code only if it contains characters that are typical of code."""
    for found in _INDENTED.finditer(text) if "    " in text or "\t" in text else ():
        lines = found[1].splitlines()
        if not any(_POINT.match(line) for line in lines) and all(map(_OF_CODE.search, lines)):
            yield found.span(1)
