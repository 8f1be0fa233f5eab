"""This module finds the sources to which the numbers in an answer refer, if the output contains nodes.

LlamaIndex's CitationQueryEngine divides the retrieved sources into chunks, and numbers the chunks instead
of the sources. Its output contains the chunks, and each begins with its number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .citable_sources import CitableSources
from .citing_text import Citable
from .meaning import Meaning
from .of_annotations import part_of

_NUMBERED = re.compile(r"\s*Source (\d{1,4}):\s*\n")


@dataclass(frozen=True, slots=True)
class NumberedNodes(CitableSources):
    """A ``NumberedNodes`` finds sources by the numbers of the chunks that a model was shown."""

    numbered: tuple[tuple[int, str], ...] = ()

    def by_number(self, number: int) -> Meaning:
        """Returns the meaning of a number: the source of the chunk with this number."""
        return Meaning.one_of(source for chunk, source in self.numbered if chunk == number)


def numbered_nodes(nodes: Sequence[Any], shown: CitableSources) -> CitableSources | None:
    """Returns a ``NumberedNodes``, which finds the sources by the numbers with which the texts of these
    nodes begin; None if one of the texts begins without a number, or if there are no nodes."""
    numbered = list[tuple[int, str]]()
    texts = [_text_of(node) for node in nodes]
    begun = [_NUMBERED.match(text) for text in texts]
    if not nodes or not all(begun):
        return None
    for node, text, begin in zip(nodes, texts, begun, strict=True):
        if begin is not None:
            source = _source_of(node, text[begin.end() :].strip(), shown)
            if source is not None:
                numbered.append((int(begin[1]), source))
    return NumberedNodes(shown.shown, shown.held_out, shown.numbers_from, numbered=tuple(numbered))


def _text_of(node: Any) -> str:
    inner = part_of(node, "node") or node
    text = part_of(inner, "text")
    return text if isinstance(text, str) else ""


def _source_of(node: Any, chunk: str, shown: CitableSources) -> str | None:
    inner = part_of(node, "node") or node
    for name in ("node_id", "id_", "ref_doc_id"):
        found = shown.named(part_of(inner, name))
        if len(found) == 1:
            return found[0]
    metadata = part_of(inner, "metadata")
    alike = [source for source in shown.shown if _is_from(chunk, source)]
    if len(alike) > 1 and isinstance(metadata, dict):
        alike = [source for source in alike if dict(source.metadata) == metadata] or alike
    return alike[0].id if len(alike) == 1 else None


def _is_from(chunk: str, source: Citable) -> bool:
    """Returns True iff the chunk is a part of the source. A chunk may begin with the source's metadata,
    because the engine shows these to the model too."""
    text, words = " ".join(source.text.split()), " ".join(chunk.split())
    return bool(words) and (words in text or text in words)
