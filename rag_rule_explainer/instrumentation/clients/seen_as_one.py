"""This module warns of texts that are treated as one source, although they seem to contain several
results."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .of_text import reads_several

_WAY_OUT = (
    "so rules cannot tell them apart. Have the search return a list, or pass gate(search, "
    "items_of=ItemsOf(take_apart, put_together)) from rag_rule_explainer.instrumentation.clients"
)
_ONE_TEXT = (
    "a search returned one text in which several results can be seen ({sign}), and all of it is one "
    f"source, {_WAY_OUT}, such as ItemsOf(lambda text: text.split(SEPARATOR), lambda text, kept: "
    "SEPARATOR.join(kept)). If it is one document, gate(search, text_of=str) says so"
)
_JSON_INSIDE = (
    "a search returned an item whose text is JSON that lists several results, and the item is one "
    f"source, {_WAY_OUT}. If it is one document, gate(search, text_of=...), a function from an item to "
    "its text, says so"
)
_NOUNS = (
    "chunk|context|doc|document|excerpt|fragment|hit|match|node|page_content|passage|result|snippet|source"
    "|dokument|ergebnis|quelle|treffer|documento|fuente|resultado|fonte|risultato|résultat|文档|来源|结果"
)
_NUMBERED = re.compile(
    r"^[ \t]{0,3}(?:[#>*-]{1,6}[ \t]{0,8})?\*{0,3}(?:(?:search[ \t]+)?(?:"
    + _NOUNS
    + r")[ \t]{0,8}(?:no\.?|number|#|:)?[ \t]{0,8}[\[(]?(\d{1,3})[\])]?(?![\d.,]{0,9}\d)"
    r"|\[(\d{1,3})\](?!\(|[ \t]{0,8}=)|【(\d{1,3})】)",
    re.IGNORECASE | re.MULTILINE,
)
"""Matches the number at the start of a result, such as "Result 1:", "## Document 2" or "[3]"."""
_KEYED = re.compile(
    r"^[ \t]{0,3}(?:[-*]|\d{1,3}[.)])?[ \t]{0,8}\*{0,3}[\[({'\"]?([^\W\d][\w ]{0,20})[\])'\"]?\*{0,3}"
    r"[ \t]{0,8}[:=]",
    re.MULTILINE,
)
"""Matches a key at the start of a line, such as "Title:" or "- **url**:"."""
_INLINE = re.compile(r"(?:\A\[?|, )(content|link|snippet|source|text|title|url): ")
"""Matches a key inside a line, such as ", title: "."""
_TEXT_KEYS = {
    "content",
    "excerpt",
    "link",
    "page_content",
    "passage",
    "snippet",
    "summary",
    "text",
    "url",
}
_TAG = re.compile(
    r"<(chunk|context|doc|document|excerpt|hit|passage|result|search_result|snippet|source)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
"""Matches an opening tag around a result, such as ``<document id="1">``."""
_FOUND = re.compile(
    r"\b(?:found|matching|relevant|retrieved|search|top)\b[^\n]*\b(?:document|hit|match|passage|result|"
    r"snippet|source)(?:e?s)\b|\b\d+ (?:documents|hits|matches|passages|results|snippets|sources)\b",
    re.IGNORECASE,
)
"""Matches words that announce results, such as "the most relevant passages" or "3 results"."""
_POINT = re.compile(r"(?:[-*•]|\d{1,3}[.)])[ \t]+\S")
_ATTRIBUTION = r"[\[(](?:doc|document|file|id|source)[ \t]{0,3}[:=][ \t]{0,3}[^\])\n]{1,100}[\])]"
"""The pattern of a source's name in brackets, such as "[source: a.pdf]" or "(id=7)"."""
_AT_START = re.compile(_ATTRIBUTION, re.IGNORECASE)
_AT_END = re.compile(_ATTRIBUTION + r"\W{0,3}\Z", re.IGNORECASE)
_PLURAL = re.compile(r"\s{0,9}<(\w{1,30}?)(?:e?s)>\s{0,9}<\1\b")
"""Matches the start of a list of tags, such as ``<results><result>``."""
_ADDRESS = re.compile(r"\w+://\S+")
_FEWEST_WORDS = 3
_WRAPPED = re.compile(r"(?:[^\n<]{0,100}:)?\s{0,9}(?:<\w{1,30}>\s{0,9})?(?=<)")
"""Matches the text that may precede the first tag: words that end in a colon, and an outer tag."""
_SHOWN = re.compile(r"\[?(\w+)\(\w+=")
"""Matches the start of the ``repr`` of objects, such as ``[Document(id=``."""
_INTRODUCTION = re.compile(r"\s{0,9}[^\n]{1,150}:[ \t]{0,8}\n{1,3}")
"""Matches a first line that ends in a colon, such as "Search results:"."""


def doubt_about(item: Any, text: str, *, alone: bool) -> str:
    """Returns a warning if the text of an item seems to contain several results; otherwise an empty text.

    ``alone``: True if the response consists only of this item. Words such as "Result 1:" are then signs
    of several results. In other items, such words may belong to a list of references.
    """
    if reads_several(text):
        return _ONE_TEXT.format(sign="JSON") if item is text else _JSON_INSIDE
    sign = _sign_in(text) if alone else ""
    return _ONE_TEXT.format(sign=sign) if sign else ""


def _sign_in(text: str) -> str:
    """Returns the words that show that a text contains several results, such as "Result 1:"; empty if
    there are none. The first of these words must be at the start of the text, or below one line that ends
    in a colon. Otherwise they may belong to a list of references."""
    introduction = _INTRODUCTION.match(text)
    starts = {0, len(text) - len(text.lstrip()), introduction.end() if introduction else 0}
    return next((sign for find in _SIGNS for sign in find(text, starts)), "")


def _numbered(text: str, starts: set[int]) -> Iterator[str]:
    marks = list(_NUMBERED.finditer(text))
    numbers = [int(next(filter(None, mark.groups()))) for mark in marks]
    if len(marks) < 2 or marks[0].start() not in starts or numbers[0] not in {0, 1}:
        return
    between = [text[one.end() : two.start()] for one, two in pairwise(marks)]
    said = all(len(_ADDRESS.sub("", each).split()) >= _FEWEST_WORDS for each in between)
    if said and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        yield f"{marks[0][0].strip()!r}, {marks[1][0].strip()!r}"


def _keyed(text: str, starts: set[int]) -> Iterator[str]:
    marks = list(_KEYED.finditer(text))
    keys = [mark[1].strip().lower() for mark in marks]
    if not marks or marks[0].start() not in starts:
        return
    # All results are written in the same way, so each mark consists of the key and the sign after it. In
    # code, for example, "role: str" and "role = …" have different signs, so they are not two results.
    written = [(key, mark[0][-1]) for key, mark in zip(keys, marks, strict=True)]
    blocks = [place for place, each in enumerate(written) if each == written[0]]
    if len(blocks) > 1 and all(
        set(keys[one + 1 : two]) & _TEXT_KEYS or (keys[0] in _TEXT_KEYS and _apart(text, marks[two]))
        for one, two in pairwise([*blocks, len(keys)])
        if two < len(keys)
    ):
        yield f"twice {marks[0][0].strip()!r}"


def _apart(text: str, mark: re.Match[str]) -> bool:
    return text[: mark.start()].endswith("\n\n")


def _inline(text: str, starts: set[int]) -> Iterator[str]:
    keys = [mark[1] for mark in _INLINE.finditer(text)]
    if 0 in starts and len(set(keys)) > 1 and keys.count(keys[0]) > 1 and _INLINE.match(text):
        yield f"twice '{keys[0]}:'"


def _listed(text: str, starts: set[int]) -> Iterator[str]:
    """Yields the marks of the items of a list, such as "1." or "-", if the line above the list says that
    these are results. ``starts``: the indexes of the characters at which the list may begin."""
    introduction = _INTRODUCTION.match(text)
    if introduction is None or not _FOUND.search(introduction[0]) or introduction.end() not in starts:
        return
    points = re.findall(r"^(?:[-*•]|\d{1,3}[.)])[ \t]+\S", text[introduction.end() :], re.MULTILINE)
    if len(points) > 1 and _POINT.match(text, introduction.end()):
        yield f"a list below {introduction[0].strip()!r}"


def _attributed(text: str, starts: set[int]) -> Iterator[str]:  # noqa: ARG001 -- all functions in _SIGNS have this parameter
    """Yields the names of sources at the end, or at the start, of each paragraph or line. ``starts`` is
    not used."""
    parts = [each.strip() for each in re.split(r"\n[ \t]*\n", text.strip())]
    parts = parts if len(parts) > 1 else text.strip().splitlines()
    for marks in ([_AT_END.search(each[-200:]) for each in parts], [*map(_AT_START.match, parts)]):
        said = [mark[0] for mark in marks if mark is not None]
        if len(said) == len(parts) > 1 and len(set(said)) > 1:
            yield f"{said[0]!r}, {said[1]!r}"


def _tagged(text: str, starts: set[int]) -> Iterator[str]:
    plural = _PLURAL.match(text)
    if plural is not None and len(re.findall(rf"</{plural[1]}\s*>", text)) > 1:
        yield f"twice '<{plural[1]}>'"
    if not any(
        (match := _WRAPPED.match(text, start)) and _TAG.match(text, match.end()) for start in starts
    ):
        return
    tags = [tag[1].lower() for tag in _TAG.finditer(text)]
    for tag in dict.fromkeys(tags):
        if tags.count(tag) > 1 and len(re.findall(rf"</{tag}\s*>", text, re.IGNORECASE)) > 1:
            yield f"twice '<{tag}>'"


def _shown(text: str, starts: set[int]) -> Iterator[str]:
    match = next(filter(None, (_SHOWN.match(text, start) for start in starts)), None)
    if match is None or not text.rstrip().endswith((")", ")]")):
        return
    again = re.compile(rf"(?:^|,[ ]|\n){re.escape(match[1])}\(\w+=", re.MULTILINE)
    if len(again.findall(text)) + text.lstrip().startswith("[") > 1:
        yield f"twice '{match[1]}('"


_SIGNS = (_numbered, _keyed, _inline, _listed, _attributed, _tagged, _shown)
