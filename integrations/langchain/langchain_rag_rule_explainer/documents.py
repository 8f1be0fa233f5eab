"""LangChain documents as sources: who is who, by id or content, never by position."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from langchain_core.documents import Document

from rag_rule_explainer import Source

_NAMING_METADATA = ("source", "title", "file_path", "url")


def sources_of(documents: Sequence[Document]) -> list[Source]:
    """The source of each document, in their order; equal documents give equal sources.

    A document is known by ``Document.id``, else by its content and metadata. Its source is named after
    its id, else after the metadata that names it (source, title, …) where that is unique, else by a
    hash of what it is known by.
    """
    identities = [_identity(document) for document in documents]
    names = dict(zip(identities, map(_name, documents), strict=True))
    used = Counter(names.values())
    return [
        Source(
            id=_unique(names[identity], identity, used),
            text=document.page_content,
            metadata=document.metadata,
        )
        for identity, document in zip(identities, documents, strict=True)
    ]


def _identity(document: Document) -> str:
    known_by = [document.id, document.page_content]
    if document.id is None:
        known_by.append(json.dumps(document.metadata, sort_keys=True, default=repr))
    return hashlib.sha256(json.dumps(known_by).encode()).hexdigest()


def _name(document: Document) -> str:
    named = (document.metadata.get(key) for key in _NAMING_METADATA)
    names = (name for name in (document.id, *named) if isinstance(name, str) and name.strip())
    return next(names, "")


def _unique(name: str, identity: str, used: Counter[str]) -> str:
    if not name:
        return f"doc-{identity[:8]}"
    return name if used[name] == 1 else f"{name}#{identity[:4]}"
