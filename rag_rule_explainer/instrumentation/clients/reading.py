"""This module finds the texts, ids and metadata in the dicts, rows and objects that clients return."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from ...sources.given import ID_KEYS, NAMING_METADATA, Given
from .fields import TEXT_KEYS, fields_of, has_usual_text, is_listed, mapping_in, text_of
from .several import fields_seen, holds_results, is_passage

_VECTOR = re.compile(r"\[[-+\d.eE,\s]*\]")


def read_fields(fields: Mapping[Any, Any], *, text: Any = None, identity: Any = None) -> Given:
    """Returns the text and the id in ``fields``, with the other simple fields as metadata.

    ``text``, ``identity``: the keys of the text and of the id. If ``text`` is None, ``text_key`` finds
    the text. If ``identity`` is None, the id is the value under one of ``ID_KEYS``.
    """
    key = text if text is not None else text_key(fields)
    named = fields.get(identity) if identity is not None else _first(fields.get, ID_KEYS)
    inside = mapping_in(fields.get("metadata"))
    hidden = {key, identity, *ID_KEYS, *(("metadata",) if inside else ())}
    beside = {str(name): each for name, each in fields.items() if name not in hidden and _is_plain(each)}
    return Given(fields.get(key), named, {**beside, **inside})


def text_key(fields: Mapping[Any, Any]) -> Any:
    """Returns the key of the text in ``fields``: a key in ``TEXT_KEYS``, or else the key of the only
    field whose value is a text. Returns None if there is no such field, or more than one."""
    usual = next((key for key in TEXT_KEYS if isinstance(fields.get(key), str)), None)
    if usual is not None:
        return usual
    naming = {*ID_KEYS, *NAMING_METADATA}
    texts = [key for key, each in fields.items() if key not in naming and _is_text(each)]
    return texts[0] if len(texts) == 1 else None


def read_any(item: Any) -> Given | None:
    """Returns the text, id and metadata of an item: a str, a dict, a database row, an object with a
    text, or a pair of one of these and its score. Returns None for a database row with several documents.
    The text is None if the item has none, or if the item is a list of results and not a single one."""
    if isinstance(item, str):
        return Given(item, None, {})
    inside = _documents_in_row(item)
    if inside:
        # For a row with several documents, or with a document and another long text, it is unknown which
        # of them is the source. So None is returned.
        return read_any(inside[0]) if len(inside) == 1 else None
    fields = fields_in(item)
    if fields is not None:
        given = read_fields(fields)
        # If the item lists results, its only text may be the query or the name of a namespace. It is then
        # not the text of a source.
        return given._replace(text=None) if holds_results(fields) else given
    text = _first(lambda name: text_of(item, name), TEXT_KEYS)
    if text is not None and holds_results(fields_seen(item) or {}):
        text = None
    identity = _first(lambda name: getattr(item, name, None), ID_KEYS)
    return Given(text, identity, mapping_in(getattr(item, "metadata", None)))


def _documents_in_row(item: Any) -> list[Any]:
    """Returns the documents in a row whose columns have no names, such as a pair of a document and its
    score, and then the long texts beside them. A document is a dict or an object that has its text under
    a usual name. Returns an empty list if the row contains no document."""
    if not is_listed(item):
        return []
    documents = [each for each in item if not is_listed(each) and has_usual_text(fields_of(each) or {})]
    passages = [each for each in item if isinstance(each, str) and is_passage(each)]
    return [*documents, *passages] if documents else []


def fields_in(row: Any) -> Mapping[Any, Any] | None:
    """Returns a dict or a database row as a mapping; None for other objects. The keys of a row are the
    names of its columns, or their positions if the columns have no names."""
    inside = getattr(row, "_mapping", row)
    if isinstance(inside, Mapping):
        return cast("Mapping[Any, Any]", inside)
    as_dict = getattr(row, "_asdict", None)
    if callable(as_dict):
        return cast("Mapping[Any, Any]", as_dict())
    keys = getattr(row, "keys", None)
    if callable(keys) and hasattr(row, "__getitem__"):
        return {name: row[name] for name in cast("Iterable[Any]", keys())}
    return dict(enumerate(cast("Sequence[Any]", row))) if is_listed(row) else None


def _first(get: Callable[[str], Any], names: Iterable[str]) -> Any:
    return next((each for each in map(get, names) if each is not None), None)


def _is_text(value: object) -> bool:
    # A database driver that does not know the vector type returns a vector as a text, such as
    # ``[0.1,0.2]``. Such a text is not the text of a source.
    return isinstance(value, str) and not _VECTOR.fullmatch(value.strip())


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return _is_text(value)
    return value is None or isinstance(value, (bool, int, float, Mapping)) or _is_list_of_texts(value)


def _is_list_of_texts(value: object) -> bool:
    return is_listed(value) and all(isinstance(each, str) for each in cast("Sequence[object]", value))
