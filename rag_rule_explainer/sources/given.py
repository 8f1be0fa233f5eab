"""This module reads what a caller gives as a source: a text, a dict, or a document of a framework.

No framework is imported. A LangChain document is recognised by ``page_content``, a LlamaIndex node by
``get_content``, and a node with a score by its attribute ``node``.
"""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from numbers import Real
from typing import Any, NamedTuple, Protocol, cast

from ..errors import InvalidInput
from ..late_patterns import compiled_late
from ..printable import as_json, brief, nearest, type_said, with_article

KEYS_OF_TEXTS = ("text", "page_content", "content")
"""Keys of dicts that hold the text of a source. The first one that is found is used."""
_MOST_ENTRIES, _DEEPEST = 10_000, 8
_ADDRESS = compiled_late(r" at 0x[0-9a-fA-F]+")
_OF_SCORES = frozenset(
    {
        *("score", "_score", "@search.score", "@search.reranker_score", "relevance_score"),
        *("rerank_score", "reranker_score", "retrieval_score", "search_score", "similarity_score"),
        *("query_similarity_score", "vector_score", "bm25_score", "similarity", "cosine_similarity"),
        *("distance", "_distance"),
    }
)
"""Names of metadata under which retrievers store how well a document fits a query. Such values may differ
slightly in each run, so they are not part of a source's fingerprint."""
ID_KEYS = ("id", "id_", "node_id", "doc_id")
"""Keys of dicts and names of attributes that hold an id. The first one that is found is used."""
NAMING_METADATA = ("source", "title", "file_name", "file_path", "url")
"""Keys of metadata whose values name a document. The first one that is found is used."""
_MARKED = compiled_late(r"(.+)#(?:[0-9a-f]{4}|[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{64})", re.DOTALL)
"""Matches an id that an explanation has made of a name that several documents have: the name, "#" and a
hash, such as "a.pdf#59215921"."""
_MADE_UP = compiled_late(r"(?:lc_)?[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


class FrameworkDocument(Protocol):
    """This protocol matches a LangChain document, and a LlamaIndex node with or without a score."""

    @property
    def metadata(self) -> Any:
        """Returns the metadata of the document."""
        ...


class Given(NamedTuple):
    """A ``Given`` holds the text, id and metadata of one source as the caller gave it. ``id``: None if
    the source has no id, or only a generated one."""

    text: Any
    id: Any
    metadata: Mapping[str, Any]


def given_parts(given: object) -> Given | None:
    """Returns the text, id and metadata of a text, a dict or a document; None for any other object."""
    if isinstance(given, str):
        return Given(given, None, {})
    if isinstance(given, Mapping):
        return _of_mapping(cast("Mapping[str, Any]", given))
    inside: object = getattr(without_score(given), "node", without_score(given))
    text = _text_of(inside)
    if text is None:
        return None
    held: object = getattr(inside, "metadata", None)
    metadata = dict(cast("Mapping[str, Any]", held)) if isinstance(held, Mapping) else {}
    return Given(text, _first(lambda key: getattr(inside, key, None), ID_KEYS), metadata)


def without_score(given: object) -> object:
    """Returns the document of a pair (document, score), the form in which searches with scores return
    documents. Returns any other object unchanged."""
    pair: tuple[Any, ...] = cast("tuple[Any, ...]", given) if isinstance(given, tuple) else ()
    if len(pair) != 2 or not isinstance(pair[1], Real):
        return cast("object", given)
    first: object = pair[0]
    return cast("object", given) if isinstance(first, (str, Mapping)) else first


def names(given: Sequence[Given]) -> list[Any]:
    """Returns a unique name for each source. The name is the source's id. A source without an id is named
    by its metadata, if no other source has this name. Otherwise the name is "D" and its position; if
    another source has that as its id, a further number is added."""
    metadata_names = [name_in(each.metadata) if each.id is None else None for each in given]
    used = Counter([*metadata_names, *(each.id for each in given if isinstance(each.id, str))])
    return [
        each.id if each.id is not None else name if name and used[name] == 1 else _free(f"D{place}", used)
        for place, (each, name) in enumerate(zip(given, metadata_names, strict=True), start=1)
    ]


def _free(name: str, used: Mapping[Any, int]) -> str:
    numbered = (f"{name}.{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in used)


def _of_mapping(given: Mapping[str, Any]) -> Given | None:
    key = next((key for key in KEYS_OF_TEXTS if key in given), None)
    if key is None:
        return None
    held = given.get("metadata")
    inside: Mapping[str, Any] = cast("Mapping[str, Any]", held) if isinstance(held, Mapping) else {}
    beside = {name: value for name, value in given.items() if name not in {key, "metadata", *ID_KEYS}}
    return Given(given[key], _first(given.get, ID_KEYS), {**beside, **inside})


def _text_of(document: object) -> Any:
    content = getattr(document, "page_content", None)
    if content is not None:
        return content
    get_content: object = getattr(document, "get_content", None)
    return get_content() if callable(get_content) else getattr(document, "text", None)


def _first(get: Callable[[str], Any], keys: Iterable[str]) -> Any:
    found = (get(key) for key in keys)
    return next((each for each in found if each is not None and not is_made_up(each)), None)


def without_mark(identity: str) -> str:
    """Returns an id without the hash that is added to a name that several retrieved documents have.
    Another "#", as in the address of a section, is part of the name."""
    marked = _MARKED.fullmatch(identity)
    return marked[1] if marked else identity


def is_made_up(identity: object) -> bool:
    """Returns True iff an id is a generated UUID, with or without LangChain's prefix "lc_"."""
    return isinstance(identity, str) and _MADE_UP.fullmatch(identity) is not None


def name_in(metadata: Mapping[str, Any]) -> str | None:
    """Returns the name that metadata give to a document; None if they give none."""
    values = (metadata.get(key) for key in NAMING_METADATA)
    return next((each for each in values if isinstance(each, str) and each.strip()), None)


def no_source(names: Sequence[str], ids: Sequence[str]) -> str:
    """Returns a sentence that says that ``names`` are no ids of sources. The sentence suggests the
    nearest id and lists up to 20 ids."""
    shown = ", ".join(map(repr, ids[:20])) + ", …" * (len(ids) > 20)
    named = ", ".join(map(repr, names))
    return f"{named}, which is no source; {nearest(names[0], ids)}the sources are {shown}"


def check_list_of_sources(given: object) -> None:
    """Raises InvalidInput unless ``given`` is an ordered collection of sources, such as a list."""
    kind = type(given).__name__
    if isinstance(given, (str, bytes)):
        raise InvalidInput("sources is one string; pass a list with a Source for each document")
    if any(hasattr(given, name) for name in ("page_content", "get_content", "fingerprint")):
        raise InvalidInput(f"sources is one {kind}; pass a list of documents")
    if not isinstance(given, Iterable):
        raise InvalidInput(f"sources is {brief(given)}; pass a list with a Source for each document")
    if isinstance(given, (Mapping, set, frozenset)):
        # Iterating over a mapping would give only its keys. A set has no order by which its sources could
        # be named.
        raise InvalidInput(
            f"sources is {with_article(kind)}; pass a list with a source for each document, such as "
            '[{"id": "D1", "text": "..."}]'
        )


def no_text(given: object, place: int) -> InvalidInput:
    """Returns the error for a source from which no text can be read. ``place``: its position, from 1."""
    if isinstance(given, Mapping):
        return InvalidInput(
            f"source {place} is a dict without a text; give one under {', '.join(KEYS_OF_TEXTS)}, in a "
            'dict such as {"id": "D1", "text": "..."}'
        )
    return InvalidInput(
        f"source {place} is {type_said(given)}; pass Source(id, text), a plain string, a "
        'dict such as {"id": "D1", "text": "..."}, or a document of LangChain or LlamaIndex'
    )


def named_ids(given: Iterable[str]) -> tuple[str, ...]:
    """Returns the ids that a rule names, as a tuple. Raises InvalidInput unless ``given`` is a
    collection of str."""
    if not isinstance(given, str) and isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        listed = tuple(given)
        if all(isinstance(each, str) for each in listed):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            return listed
    raise InvalidInput(f"a rule names its sources by a set of ids, such as {{'D2'}}; got {brief(given)}")


def pinned_ids(given: Iterable[str], ids: tuple[str, ...]) -> frozenset[str]:
    """Returns the ids of the pinned sources. Raises InvalidInput for an id that is not in ``ids``, and
    if all sources are pinned."""
    if isinstance(given, str):
        raise InvalidInput(f"pinned is the string {brief(given)}; pass a list of ids")
    if not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"pinned is {brief(given)}; pass a list of ids")
    listed = tuple(given)
    for each in listed:
        if not isinstance(each, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(f"pinned names {each!r}, {type_said(each)}; pass a list of ids")
    pinned = frozenset(listed)
    unknown = sorted(map(str, pinned.difference(ids)))
    if unknown:
        raise InvalidInput(f"pinned names {no_source(unknown, ids)}")
    if len(pinned) == len(ids):
        raise InvalidInput("every source is pinned, so there is nothing to explain by; pin fewer")
    return pinned


def _plain(value: Any, depth: int = 0) -> Any:
    """Returns the value in the types of JSON. Any other object, as a key or an entry, becomes its
    ``repr`` without memory addresses, which differ in each process. A container that is nested more than
    ``_DEEPEST`` levels deep becomes the name of its type."""
    if isinstance(value, (Mapping, list, tuple)) and depth == _DEEPEST:  # a container may contain itself
        return type(cast("object", value)).__name__
    if isinstance(value, Mapping):
        held = islice(cast("Mapping[Any, Any]", value).items(), _MOST_ENTRIES)
        return {str(_plain(key, depth + 1)): _plain(entry, depth + 1) for key, entry in held}
    if isinstance(value, (list, tuple)):
        entries = islice(cast("Iterable[Any]", value), _MOST_ENTRIES)
        return [_plain(entry, depth + 1) for entry in entries]
    if value is None or type(value) in {str, bool, int, float}:
        return value
    try:
        return f"{type(value).__name__} {_ADDRESS.sub('', repr(value))}"
    except Exception:  # an object of a user's own class may fail to describe itself
        return type(value).__name__


def _is_score(name: object, value: object) -> bool:
    return isinstance(value, float) and name in _OF_SCORES


def fingerprint_of(identity: str, text: str, metadata: Mapping[str, Any]) -> str:
    """Returns a hash of the id, the text and the metadata of a source, without scores."""
    # The length comes first, so that ("ab", "c") and ("a", "bc") have different digests.
    content = f"{len(identity)}:{identity}{text}"
    # The metadata are included, because an application may show the title to its model or use any other
    # entry. Scores are left out, because a retriever may return slightly different scores each time;
    # stored answers would then never be found again.
    shown = {name: value for name, value in metadata.items() if not _is_score(name, value)}
    if shown:
        content = f"{content}\0{json.dumps(as_json(_plain(shown)), sort_keys=True)}"
    import hashlib  # imported late: it loads a library for cryptography, which only a search needs

    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]


_TEXT_NAMES = ("content", "text", "response", "answer", "output", "result")
"""The names under which frameworks and applications keep the text of an answer."""


def where_the_text_is(given: Any) -> str:
    """Returns a hint for an error message about a value that is no answer. The hint names the attribute
    or key in which the text of the answer may be found. It is empty if there is no such attribute or
    key."""
    if given is None:
        return ": there is a branch without a return"
    if isinstance(given, (Iterator, AsyncIterator)):
        return ": its pieces, joined"
    if isinstance(given, Mapping):
        keys = cast("Mapping[object, object]", given)
        return next((f": what is in it under {name!r}" for name in _TEXT_NAMES if name in keys), "")
    named = (name for name in _TEXT_NAMES if isinstance(getattr(given, name, None), str))
    return next((f": its .{name}" for name in named), "")
