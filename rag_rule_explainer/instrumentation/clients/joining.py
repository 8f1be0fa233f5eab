"""This module splits a text in which several documents are joined, such as "From a.pdf: ... From b.pdf:
...". The words between the documents must be the same, except for each document's id and metadata."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...sources.given import Given


class Joined(NamedTuple):
    """A ``Joined`` holds the pieces of a text, one for each document. Joining the pieces with
    ``separator`` gives the original text."""

    pieces: tuple[str, ...]
    separator: str


def taken_apart(content: str, inside: Sequence[Given]) -> Joined | None:
    """Returns one piece of the text for each document; None if the text cannot be split.

    ``content``: the text. ``inside``: the documents that are joined in it, in their order in the text.
    The words around each document must be the same, except for its id and metadata. A text that numbers
    or counts the documents, or has an introduction, cannot be split.
    """
    if len(inside) == 1:
        return Joined((content,), "") if inside[0].text.strip() in content else None
    spans = _spans(content, [each.text.strip() for each in inside])
    if spans is None:
        return None
    (start, _), (_, end) = spans[0], spans[-1]
    before, after = _Template(content[:start], inside[0]), _Template(content[end:], inside[-1])
    separators: set[str] = set()
    for place, ((_, left), (right, _)) in enumerate(pairwise(spans)):
        suffix, prefix = after.of(inside[place]), before.of(inside[place + 1])
        gap = content[left:right]
        if len(gap) < len(suffix) + len(prefix) or not (gap.startswith(suffix) and gap.endswith(prefix)):
            return None
        separators.add(gap[len(suffix) : len(gap) - len(prefix)])
    if len(separators) != 1:
        return None
    pieces = tuple(
        before.of(each) + content[left:right] + after.of(each)
        for each, (left, right) in zip(inside, spans, strict=True)
    )
    return Joined(pieces, separators.pop())


def _spans(content: str, texts: Sequence[str]) -> list[tuple[int, int]] | None:
    """Returns the start and end of each text in ``content``; None if a text is missing. The texts must
    follow each other in the given order."""
    spans: list[tuple[int, int]] = []
    end = 0
    for text in texts:
        start = content.find(text, end) if text else -1
        if start < 0:
            return None
        end = start + len(text)
        spans.append((start, end))
    return spans


class _Template:
    """A ``_Template`` holds the words before or after each document, with placeholders for the document's
    id and metadata."""

    def __init__(self, words: str, document: Given) -> None:
        self._parts: list[tuple[str, bool]] = [(words, False)]
        said = sorted(_said_by(document).items(), key=lambda each: -len(each[1]))
        for key, value in said:
            whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")
            self._parts = [part for each in self._parts for part in _parted(each, key, whole)]

    def of(self, document: Given) -> str:
        """Returns the words with the id and metadata of ``document`` in place of the placeholders. If the
        document has no such field, the placeholder becomes empty."""
        said = _said_by(document)
        return "".join(said.get(part, "") if is_key else part for part, is_key in self._parts)


def _parted(part: tuple[str, bool], key: str, whole: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    text, is_key = part
    if is_key:
        yield part
        return
    for place, piece in enumerate(whole.split(text)):
        if place:
            yield key, True
        if piece:
            yield piece, False


def _said_by(document: Given) -> dict[str, str]:
    metadata: Mapping[str, Any] = document.metadata
    fields = {"/id": document.id, "/metadata": dict(metadata), **metadata}
    return {key: str(value) for key, value in fields.items() if value not in (None, "", {})}
