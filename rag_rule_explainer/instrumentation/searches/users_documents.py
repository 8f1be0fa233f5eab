"""This module reads the documents that the user passes in, for example as JSON objects from a log."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from ...errors import InvalidInput
from ...printable import type_said, with_article
from ...sources import Source
from ...sources.given import given_parts, without_score
from ..recording.retrievals import Identify
from .identity import RetrievedText

Item = TypeVar("Item")
_TEXT_KEYS = ("page_content", "text", "content")


def as_items(
    given: Iterable[Any], lift: Callable[[Any], Item | None], identify: Identify[Item], kind: str
) -> list[Item]:
    """Returns the user's documents in the form of items of a retrieval.

    ``given``: the documents. Each is a text, a ``Source``, the framework's own document, or a JSON object
    with ``id``, a text (``page_content``, ``text`` or ``content``), ``metadata`` and ``title``. ``lift``:
    a function that makes an item from the framework's own document or from a ``RetrievedText``, and
    returns None for other objects. ``identify``: a function that returns the sources of items. ``kind``:
    the framework's word for a document, for messages.

    Raises InvalidInput for other objects, for an empty list, and for a document that is given twice.
    """
    if isinstance(given, (str, Mapping)) or lift(given) is not None:
        name = type(cast("object", given)).__name__
        raise InvalidInput(f"the documents are one {name}; pass a list of documents or texts")
    items = [_item(each, place, lift, kind) for place, each in enumerate(given, start=1)]
    if not items:
        raise InvalidInput("documents is empty; pass at least one, or leave it out to retrieve")
    ids = [source.id for source in identify([items])[0]]
    twice = sorted({identity for identity in ids if ids.count(identity) > 1})
    if twice:
        raise InvalidInput(f"documents has {', '.join(map(repr, twice))} twice; give each one once")
    return items


def _item(given: Any, place: int, lift: Callable[[Any], Item | None], kind: str) -> Item:
    given = cast("Any", without_score(given))
    document: Any = given
    if isinstance(given, Source):
        document = RetrievedText(given.text, given.id, dict(given.metadata))
    elif isinstance(given, str):
        document = RetrievedText(given, f"D{place}")
    elif isinstance(given, Mapping):
        document = _from_json(cast("Mapping[str, Any]", given), place)
    item = lift(document)
    if (
        item is None
        and (read := given_parts(cast("object", given))) is not None
        and isinstance(read.text, str)
    ):
        # The document may be of another framework, so a new item is made of its text, id and metadata.
        named = None if read.id is None else str(read.id)
        item = lift(RetrievedText(read.text, named, dict(read.metadata)))
    if item is None:
        raise InvalidInput(
            f"document {place} is {type_said(cast('object', given))}; pass {with_article(kind)}, or its "
            "text"
        )
    return item


def _from_json(logged: Mapping[str, Any], place: int) -> RetrievedText:
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
    return RetrievedText(text, None if named is None else str(named), known)
