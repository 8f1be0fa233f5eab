"""This module reads the citations that models and frameworks attach to an answer, beside its text.

It knows those of Anthropic (``char_location``, ``page_location``, ``content_block_location``,
``search_result_location``, ``web_search_result_location``), of OpenAI (``file_citation``,
``container_file_citation``, ``url_citation``), the standard ones of LangChain (``citation``,
``non_standard_annotation``) and the blocks of LlamaIndex.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from .citable_sources import CitableSources
from .citing_text import ReadCitation
from .meaning import ALIKE, NO_SUCH, Meaning

_NAMES = (
    "source",
    "file_id",
    "url",
    "document_title",
    "title",
    "filename",
    "file_name",
    "document_id",
    "id",
)
"""The fields of an annotation that may name a source, the most exact ones first."""
_INNER = ("url_citation", "file_citation", "value", "extras")
"""The fields of an annotation that may contain an object with fields of its own."""
_PLACES = ("document_index", "search_result_index")
_NOT_CITING = frozenset({"file_path"})
"""The types of annotations that are not citations."""
_LONGEST_QUOTE = 60


def part_of(given: Any, name: str) -> Any:
    """Returns the entry of a mapping, or the attribute of an object; None if there is none."""
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given).get(name)
    try:
        return getattr(given, name, None)
    except Exception:  # a property of a framework's object may raise anything
        return None


def type_of_block(given: Any, name: str = "type") -> str | None:
    """Returns the type that a block, a message or an annotation names; None if it names none."""
    kind = part_of(given, name)
    return kind if isinstance(kind, str) else None


def read_annotation(annotation: Any, shown: CitableSources, text: str) -> Iterator[ReadCitation]:
    """Yields the citations of one annotation of ``text``; there are several if it refers to several
    sources. They have the positions that the annotation states, or no positions if it states none."""
    kind = type_of_block(annotation)
    if kind in _NOT_CITING:
        return
    holders = [annotation, *filter(None, (part_of(annotation, name) for name in _INNER))]
    nested = [part_of(each, "file_citation") for each in holders[1:]]
    holders += [each for each in nested if each is not None]
    quote = _first(holders, ("cited_text", "quote"), str) or ""
    start, end = _place(holders, text)
    yield from _meant(holders, shown, quote).citations(_written(holders, kind, quote), start, end, quote)


def _meant(holders: list[Any], shown: CitableSources, quote: str) -> Meaning:
    """Returns the meaning of an annotation.

    If the names in the annotation fit exactly one source, this source is meant. Otherwise, its index of a
    document or of blocks decides, unless the quotation or a name fits another source. If there is no
    index, the names and the quotation decide together. ``holders``: the annotation and the objects inside
    it that have fields of their own. ``quote``: the quoted words; empty if there are none.
    """
    named = _named(holders, shown)
    if len(named) == 1:
        return Meaning(named)
    blocks = _blocks(holders, shown, quote)
    place = _first(holders, _PLACES, int)
    at = None if place is None else shown.at(place)
    if at is not None and shown.says(at, quote) and (quote or not blocks) and (at in named or not named):
        is_sure = quote or not (shown.why_open or at in shown.unsure)
        return Meaning((at,)) if is_sure else Meaning(why=shown.why_open or ALIKE, is_open=True)
    if blocks:
        return Meaning(tuple(blocks))
    quoted = shown.quoted(quote)
    both = tuple(each for each in named if each in quoted)
    found = both or named or quoted
    return Meaning.one_of(found) if found else Meaning(why=_why_none(quote))


def _named(holders: list[Any], shown: CitableSources) -> tuple[str, ...]:
    """Returns the ids of the sources that the fields of an annotation name. Several sources may match,
    because each chunk of a document has the document's title. ``holders``: the annotation and the
    objects inside it that have fields of their own."""
    fits: tuple[str, ...] = ()
    for name in _NAMES:
        ids = shown.named(_first(holders, (name,), str))
        fits = tuple(each for each in fits if each in ids) or fits or ids
    return fits


def _blocks(holders: list[Any], shown: CitableSources, quote: str) -> list[str]:
    """Returns the ids of the shown sources at the positions from ``start_block_index`` up to, but
    without, ``end_block_index`` of the annotation.

    Returns none if the positions are not those of sources, or if one of these sources does not contain
    the quoted text: the blocks are then not the sources.
    """
    first, last = _first(holders, ("start_block_index",), int), _first(holders, ("end_block_index",), int)
    if first is None or last is None or not 0 <= first < last <= len(shown.shown):
        return []
    found = [shown.ids[place] for place in range(first, last)]
    return found if quote and all(shown.says(each, quote) for each in found) else []


def _place(holders: list[Any], text: str) -> tuple[int, int] | tuple[None, None]:
    start, end = _first(holders, ("start_index",), int), _first(holders, ("end_index",), int)
    if start is not None and end is not None and 0 <= start <= end <= len(text):
        return start, end
    index = _first(holders[:1], ("index",), int)
    is_file = part_of(holders[0], "type") == "file_citation"
    if is_file and index is not None and index >= 0:
        # According to OpenAI's documentation, the index is a position in a list of files. In fact, it is
        # a position in the text.
        return min(index, len(text)), min(index, len(text))
    return None, None


def _written(holders: list[Any], kind: Any, quote: str) -> str:
    named = _first(holders, ("text", "title", "document_title", "filename", "url", "file_id"), str)
    shown = quote if len(quote) <= _LONGEST_QUOTE else f"{quote[:_LONGEST_QUOTE]}…"
    return named or (f"“{shown}”" if shown else str(kind or "annotation"))


def _why_none(quote: str) -> str:
    return f"{NO_SUCH}, and none says what is quoted" if quote else NO_SUCH


def _first(holders: list[Any], names: tuple[str, ...], kind: type) -> Any:
    """Returns the first value of this type under one of the names in one of the holders. The names are
    tried in their order. Returns None if there is no such value."""
    for name in names:
        for holder in holders:
            found = part_of(holder, name)
            if type(found) is kind and found != "":
                return found
    return None
