"""This module finds the text and the citations in the output of an application: texts, messages,
responses and dicts of LangChain, LlamaIndex, Haystack, Anthropic and OpenAI. It imports none of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ...late_patterns import compiled_late
from .citable_sources import CitableSources
from .citing_text import CitingText, ReadCitation
from .of_annotations import part_of, read_annotation, type_of_block
from .of_nodes import numbered_nodes
from .of_text import meanings_of, read_answer_text

_DEEPEST = 12
_INSIDE = ("message", "blocks", "content", "answer", "answers", "result", "response", "data", "output")
"""The parts of an output that may contain its text, in the order in which they are searched."""
_LISTED = ("citations", "cited", "source_ids", "cited_sources", "references")
"""The fields of a structured output that may list the cited sources."""
_NUMBER = compiled_late(r"\s*[\[(【]?\s*([0-9]{1,5})\s*[\])】]?\s*")
_OF_ENTRY = ("source_id", "source", "id", "number", "document_id")


@dataclass(slots=True)
class _Pieces:
    """A ``_Pieces`` joins the texts of an output to one text. Positions of citations in an output's text
    become positions in the joined text. ``begin``: the position at which the last text begins."""

    shown: CitableSources
    text: str = ""
    found: list[ReadCitation] = field(default_factory=list[ReadCitation])
    nodes: Sequence[Any] = ()
    begin: int = 0

    def add(self, text: str, annotations: Iterable[Any] = ()) -> None:
        """Adds a text with its annotations."""
        before = len(self.text)
        self.text += text
        self.begin = before if text else self.begin
        self.annotate(annotations, before)

    def annotate(self, annotations: Iterable[Any], before: int) -> None:
        """Adds the annotations of the text that begins at the position ``before``.

        An annotation without a position belongs to this whole text; later, it is not counted for
        statements that have citations of their own.
        """
        text, whole = self.text[before:], (before, len(self.text))
        for annotation in annotations:
            for each in read_annotation(annotation, self.shown, text):
                if each.start is None or each.end is None:
                    placed = replace(each, start=whole[0], end=whole[1], scope=whole)
                else:
                    placed = replace(each, start=before + each.start, end=before + each.end)
                self.found.append(placed)

    def cite(self, annotation: Any) -> None:
        """Adds an annotation that belongs to the text added last."""
        begin, end = self.begin, len(self.text)
        for each in read_annotation(annotation, self.shown, ""):
            self.found.append(replace(each, start=end, end=end, scope=(begin, end)))


def read_output(output: Any, shown: CitableSources, pattern: str | None = None) -> CitingText:
    """Returns the text of an output with its citations: those in the text, and those in other data of
    the output. ``pattern``: a regular expression for citations in another form; None for the usual
    forms.

    If the output contains nodes whose numbers occur in the text, as with LlamaIndex's
    CitationQueryEngine, these numbers refer to the sources of the nodes.
    """
    pieces = _Pieces(shown)
    _read(output, pieces, _DEEPEST)
    numbered = numbered_nodes(pieces.nodes, shown)
    written = read_answer_text(pieces.text, shown if numbered is None else numbered, pattern)
    found = [*written.citations, *pieces.found, *_listed(output, shown)]
    return CitingText(pieces.text, tuple(dict.fromkeys(found)), pattern)


def _read(given: Any, pieces: _Pieces, depth: int) -> None:
    """Adds the texts and the citations in ``given`` to the pieces. ``depth``: the number of levels of
    lists and objects that are still searched."""
    if isinstance(given, str):
        pieces.add(given)
    elif isinstance(given, (list, tuple)):
        for each in _answering(cast("Sequence[Any]", given)):
            _read(each, pieces, depth - 1) if depth else None
    elif given is not None and depth:
        _read_object(given, pieces, depth - 1)


def _answering(items: Sequence[Any]) -> Sequence[Any]:
    """Returns the items that contain the answer: all blocks, but only the last one of several messages or
    choices."""
    are_messages = [each for each in items if part_of(each, "role") or _is_message(each)]
    return are_messages[-1:] or items


def _is_message(item: Any) -> bool:
    return type_of_block(item) in {"ai", "AIMessageChunk", "message"}


def _read_object(given: Any, pieces: _Pieces, depth: int) -> None:
    nodes = part_of(given, "source_nodes")
    if isinstance(nodes, (list, tuple)) and nodes:
        pieces.nodes = cast("Sequence[Any]", nodes)
    if part_of(given, "block_type") == "citation":
        pieces.cite(_of_block(given))
        return
    text = part_of(given, "text")
    if _is_text(given, text):
        value = text if isinstance(text, str) else part_of(text, "value")
        pieces.add(str(value or ""), _annotations(given, text))
        return
    for name in ("messages", "choices"):
        listed = part_of(given, name)
        if isinstance(listed, (list, tuple)) and listed:
            _read(cast("Sequence[Any]", listed)[-1], pieces, depth)
            return
    for name in _INSIDE:
        inner = part_of(given, name)
        if inner is not None and not callable(inner):
            before = len(pieces.text)
            _read(inner, pieces, depth)
            if pieces.text[before:]:
                _add_annotations(given, pieces, before)
                return


def _is_text(given: Any, text: Any) -> bool:
    kind = type_of_block(given) or type_of_block(given, "block_type")
    if kind in {"text", "output_text", "input_text"}:
        return True
    return isinstance(text, str) and kind is None and not _has_inside(given)


def _has_inside(given: Any) -> bool:
    return any(part_of(given, name) is not None for name in ("content", "message", "blocks", "answer"))


def _annotations(given: Any, text: Any) -> Iterator[Any]:
    holders = (given, part_of(given, "additional_kwargs"), None if isinstance(text, str) else text)
    for holder in holders:
        for name in ("citations", "annotations"):
            listed = part_of(holder, name)
            if isinstance(listed, (list, tuple)):
                yield from cast("Sequence[Any]", listed)


def _add_annotations(given: Any, pieces: _Pieces, before: int) -> None:
    """Adds the annotations of a message that have a type. An annotation without a type is an entry of a
    structured output, and is read by ``_listed``. ``before``: the position at which the text of the
    message begins.
    """
    typed = (each for each in _annotations(given, None) if part_of(each, "type") is not None)
    pieces.annotate(typed, before)


def _of_block(block: Any) -> dict[str, Any]:
    """Returns a citation block of LlamaIndex as an annotation."""
    quoted = part_of(part_of(block, "cited_content"), "text")
    places = part_of(block, "additional_location_info")
    known: dict[str, Any] = {}
    if isinstance(places, Mapping):
        known.update(cast("Mapping[str, Any]", places))
    named = {"source": part_of(block, "source"), "title": part_of(block, "title")}
    return {**known, **named, "cited_text": quoted}


def _listed(output: Any, shown: CitableSources) -> Iterator[ReadCitation]:
    """Yields the citations that a structured output lists beside its answer, such as ``{"answer": "...",
    "citations": [1, 3]}``."""
    for name in _LISTED:
        listed = part_of(output, name)
        if isinstance(listed, (list, tuple)):
            entries = [(each, _named_by(each)) for each in cast("Sequence[Any]", listed)]
            numbers = (_number_of(named) for _, named in entries if named is not None)
            among = shown.counted_from_nought(each for each in numbers if each is not None)
            for entry, named in entries:
                if named is not None:
                    yield from _entry(entry, named, among)


def _number_of(named: int | str) -> int | None:
    # Models may also write such an entry in the form of a citation: "[1]" or "(1)".
    if isinstance(named, int):
        return named
    found = _NUMBER.fullmatch(named)
    return int(found[1]) if found else None


def _named_by(entry: Any) -> int | str | None:
    """Returns the number or the name of the source in an entry of a list of citations, such as 2,
    "guide.pdf" or ``{"id": 2}``; None if it has none."""
    named = entry
    if not isinstance(entry, (int, str)):
        if part_of(entry, "type") is not None:
            return None
        found = (part_of(entry, name) for name in _OF_ENTRY)
        named = next((each for each in found if isinstance(each, (int, str))), None)
    return None if isinstance(named, bool) or not isinstance(named, (int, str)) else named


def _entry(entry: Any, named: int | str, shown: CitableSources) -> Iterator[ReadCitation]:
    """Yields the citations that one entry of a list of citations stands for. ``named``: the number, the
    name or a text such as "Source 2, p. 3" in the entry."""
    number, quote = _number_of(named), part_of(entry, "quote")
    meanings = meanings_of(str(named), shown) if number is None else (shown.by_number(number),)
    for meant in meanings:
        yield from meant.citations(str(named), quote=quote if isinstance(quote, str) else "")
