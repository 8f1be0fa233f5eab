"""LangChain documents as sources: who is who, by id or content, never by position."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from typing import Any

from langchain_core.documents import Document

from rag_rule_explainer import Source

_NAMING_METADATA = ("source", "title", "file_path", "url")
_DIGITS = (4, 8, 16, 64)
_VOLATILE = re.compile(
    r"score|distance|similarity|relevance|rank$|rerank|retrieved|timestamp|latency|^_?id$"
)
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def sources_of(batches: Sequence[Sequence[Document]]) -> list[list[Source]]:
    """The source of each document of each retrieval; equal documents give equal sources.

    A document is known by its content and its ``Document.id``, without an id by its content and what in
    its metadata does not change from call to call. Where another retrieval returned the same content
    under another id, as stores with random ids do, both are one source; within one retrieval they are
    two. A source is named after its id, else after the metadata that names it (source, title, …), with
    as much of a hash of what it is known by as tells apart documents of one name.
    """
    known = _identities(batches)
    first: dict[str, Document] = {}
    for identities, documents in zip(known, batches, strict=True):
        for identity, document in zip(identities, documents, strict=True):
            first.setdefault(identity, document)
    names = _distinct({identity: _name(document) for identity, document in first.items()})
    return [
        [Source(names[each], first[each].page_content, first[each].metadata) for each in identities]
        for identities in known
    ]


def _identities(batches: Sequence[Sequence[Document]]) -> list[list[str]]:
    alike: dict[str, list[str]] = {}
    """By content and lasting metadata: the identities of that content so far."""
    known: list[list[str]] = []
    for documents in batches:
        own = [_identity(document) for document in documents]
        taken = set(own)
        identities: list[str] = []
        for document, identity in zip(documents, own, strict=True):
            same = alike.setdefault(_content(document), [])
            others = (each for each in same if each not in taken)
            chosen = identity if identity in same or document.id is None else next(others, identity)
            taken.add(chosen)
            if chosen not in same:
                same.append(chosen)
            identities.append(chosen)
        known.append(identities)
    return known


def copies(documents: Iterable[Document]) -> list[Document]:
    """The documents in their present state: what the application does to its own does not reach them."""
    return [document.model_copy(update={"metadata": copied(document.metadata)}) for document in documents]


def copied(given: Any) -> Any:
    """A deep copy; a shallow one where something inside cannot be copied (a lock, a client)."""
    for copying in (deepcopy, copy):
        with suppress(Exception):  # whatever a __deepcopy__ or __copy__ of the user's raises
            return copying(given)
    return given


def _identity(document: Document) -> str:
    known_by = [document.id, document.page_content]
    return _hashed(_content(document) if document.id is None else json.dumps(known_by))


def _content(document: Document) -> str:
    lasting = {key: value for key, value in document.metadata.items() if not _is_volatile(key, value)}
    return json.dumps([document.page_content, described(lasting)])


def _is_volatile(key: str, value: object) -> bool:
    """True for what a search says of its own doing: scores, distances, times."""
    return isinstance(value, float) or _VOLATILE.search(str(key).casefold()) is not None


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def described(value: Any) -> str:
    """The same for equal values, also where JSON cannot say them."""
    try:
        return json.dumps(value, sort_keys=True, default=_shown)
    except (TypeError, ValueError):  # mixed keys, or a circle
        return _shown(value)


def _shown(value: object) -> str:
    return _ADDRESS.sub("", repr(value))


def _name(document: Document) -> str:
    named = (document.metadata.get(key) for key in _NAMING_METADATA)
    return next((name for name in (document.id, *named) if isinstance(name, str) and _names(name)), "")


def _names(text: str) -> bool:
    """False for blank text and for lone surrogates, which nothing can print."""
    return bool(text.strip()) and text == text.encode("utf-8", "ignore").decode("utf-8")


def _distinct(names: Mapping[str, str]) -> dict[str, str]:
    """A name of its own for each identity. Names and texts are untrusted, and may be made to clash."""
    used = Counter(names.values())
    for digits in _DIGITS:
        chosen = {identity: _told_apart(name, used, identity, digits) for identity, name in names.items()}
        if len(set(chosen.values())) == len(chosen):
            return chosen
    return {identity: identity for identity in names}


def _told_apart(name: str, used: Counter[str], identity: str, digits: int) -> str:
    if not name:
        return f"doc-{identity[: max(digits, 8)]}"
    return name if used[name] == 1 else f"{name}#{identity[:digits]}"
