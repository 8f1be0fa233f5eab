"""Documents that the caller brings, in whatever form they were logged."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

from langchain_core.documents import Document

from rag_rule_explainer import InvalidInput, Source

from .documents import sources_of

DocumentLike: TypeAlias = "Document | Source | Mapping[str, Any] | str"
"""A document, a source, a JSON object as documents are logged, or just the text."""

_TEXT_KEYS = ("page_content", "text", "content")


def as_documents(given: Iterable[DocumentLike]) -> list[Document]:
    """As documents. Of a JSON object, ``id``, the text (``page_content``, ``text`` or ``content``),
    ``metadata`` and ``title`` are read.

    Raises InvalidInput for anything else, for none at all, and for the same document twice.
    """
    if isinstance(given, (str, Mapping, Document)):
        name = type(cast("object", given)).__name__
        raise InvalidInput(f"documents is one {name}; pass a list")
    documents = [_document(each, place) for place, each in enumerate(given, start=1)]
    if not documents:
        raise InvalidInput("documents is empty; pass at least one, or leave it out to retrieve")
    ids = [source.id for source in sources_of([documents])[0]]
    twice = sorted({identity for identity in ids if ids.count(identity) > 1})
    if twice:
        raise InvalidInput(f"documents has {', '.join(map(repr, twice))} twice; give each one once")
    return documents


def _document(given: DocumentLike, place: int) -> Document:
    if isinstance(given, Document):
        return given
    if isinstance(given, Source):
        return Document(id=given.id, page_content=given.text, metadata=dict(given.metadata))
    if isinstance(given, str):
        return Document(id=f"D{place}", page_content=given)
    if isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        return _from_json(given, place)
    raise InvalidInput(f"document {place} is a {type(given).__name__}; pass a Document, or its text")


def _from_json(logged: Mapping[str, Any], place: int) -> Document:
    text = next((logged[key] for key in _TEXT_KEYS if isinstance(logged.get(key), str)), None)
    if text is None:
        raise InvalidInput(f"document {place} has no text; give it one of {', '.join(_TEXT_KEYS)}")
    identity, metadata = logged.get("id"), logged.get("metadata")
    if not isinstance(identity, (str, int, type(None))):
        raise InvalidInput(f"the id of document {place} is {identity!r}; give a str")
    known: dict[str, Any] = (
        dict(cast("Mapping[str, Any]", metadata)) if isinstance(metadata, Mapping) else {}
    )
    if isinstance(logged.get("title"), str):
        known.setdefault("title", logged["title"])
    named = identity if identity is not None else (None if known else f"D{place}")
    return Document(id=None if named is None else str(named), page_content=text, metadata=known)
