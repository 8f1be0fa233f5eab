"""This module finds the texts, ids and metadata in the dicts, rows and objects that clients return."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import is_dataclass, replace
from typing import Any, cast

from ...given import ID_KEYS, NAMING_METADATA, Given

TEXT_KEYS = ("page_content", "text", "content", "snippet", "body", "document", "chunk", "passage")
"""The usual keys of a text. If several are present, the first in this order is used, so the most specific
keys come first."""
_VECTOR = re.compile(r"\[[-+\d.eE,\s]*\]")


def field_of(holder: Any, name: str) -> Any:
    """Returns the value of a dict's key or of an object's attribute; None if there is no such key or
    attribute."""
    if isinstance(holder, Mapping):
        return cast("Mapping[str, Any]", holder).get(name)
    return getattr(holder, name, None)


def mapping_in(value: object) -> Mapping[str, Any]:
    """Returns the value if it is a mapping, else an empty mapping."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def is_listed(value: object) -> bool:
    """Returns True iff the value is a list or a tuple."""
    return isinstance(value, (list, tuple))


def read_fields(fields: Mapping[Any, Any], *, text: Any = None, identity: Any = None) -> Given:
    """Returns the text and the id among fields, and the other simple fields as metadata.

    ``text``, ``identity``: the keys of the text and of the id. If ``text`` is None, the text is searched
    for as by ``text_key``; if ``identity`` is None, the id is searched for under ``ID_KEYS``.
    """
    key = text if text is not None else text_key(fields)
    named = fields.get(identity) if identity is not None else _first(fields.get, ID_KEYS)
    inside = mapping_in(fields.get("metadata"))
    hidden = {key, identity, *ID_KEYS, *(("metadata",) if inside else ())}
    beside = {str(name): each for name, each in fields.items() if name not in hidden and _is_plain(each)}
    return Given(fields.get(key), named, {**beside, **inside})


def text_key(fields: Mapping[Any, Any]) -> Any:
    """Returns the key of the text among fields: a key in ``TEXT_KEYS``, or else the key of the only field
    that holds a text. Returns None if there is no such field, or more than one."""
    usual = next((key for key in TEXT_KEYS if isinstance(fields.get(key), str)), None)
    if usual is not None:
        return usual
    naming = {*ID_KEYS, *NAMING_METADATA}
    texts = [key for key, each in fields.items() if key not in naming and _is_text(each)]
    return texts[0] if len(texts) == 1 else None


def _lists_results(fields: Mapping[Any, Any], depth: int = 3) -> bool:
    """Returns True iff a field, or a field of a dict inside, is a list with a dict in it: such fields are
    a response with several results, and not a document."""
    return any(
        (is_listed(each) and any(isinstance(inside, Mapping) for inside in each))
        or (isinstance(each, Mapping) and depth > 0 and _lists_results(cast("Any", each), depth - 1))
        for each in fields.values()
    )


def _has_usual(fields: Mapping[Any, Any]) -> bool:
    return any(isinstance(fields.get(key), str) for key in TEXT_KEYS)


def is_response(result: object) -> bool:
    """Returns True iff the whole result of a search is a response with a list of results, which may be
    empty, and not a single document."""
    fields = mapping_in(result)
    empty = any(is_listed(each) and not each for each in fields.values())
    return lists_several(fields) or (empty and not _has_usual(fields))


def lists_several(fields: Mapping[Any, Any]) -> bool:
    """Returns True iff the fields are a response with a list of results. The results are dicts. If no
    field has a usual name of a text, results of any type count, because the only text may then be the
    query."""
    return _lists_results(fields, 0) or (not _names_text(fields) and _lists_anything(fields))


def _names_text(fields: Mapping[Any, Any]) -> bool:
    """Returns True iff the name of a text field is, or contains, a usual name of a text, as
    ``passage_text`` does."""
    texts = (str(key) for key, each in fields.items() if isinstance(each, str))
    return any(part in TEXT_KEYS for key in texts for part in (key, *key.lower().split("_")))


def _lists_anything(fields: Mapping[Any, Any], depth: int = 3) -> bool:
    return any(
        (is_listed(each) and len(each) > 0)
        or (isinstance(each, Mapping) and depth > 0 and _lists_anything(cast("Any", each), depth - 1))
        for name, each in fields.items()
        if name != "metadata"
    )


def read_any(item: Any) -> Given | None:
    """Returns the text, id and metadata of an item: a str, a dict, a database row, or an object with a
    text."""
    if isinstance(item, str):
        return Given(item, None, {})
    fields = fields_in(item)
    if fields is not None:
        given = read_fields(fields)
        # If the item lists results, its only text may be the query or the name of a namespace.
        return given._replace(text=None) if not _has_usual(fields) and _lists_results(fields) else given
    text = _first(lambda name: _text_of(item, name), TEXT_KEYS)
    identity = _first(lambda name: getattr(item, name, None), ID_KEYS)
    return Given(text, identity, mapping_in(getattr(item, "metadata", None)))


def fields_in(row: Any) -> Mapping[Any, Any] | None:
    """Returns a dict or a database row as a mapping; None for other objects. The keys of a row are the
    names of its columns, or their positions if it has no names."""
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


def with_fields(holder: Any, **fields: Any) -> Any:
    """Returns a copy of a dict or an object, in which the given fields have new values."""
    if isinstance(holder, Mapping):
        own = copy(cast("dict[str, Any]", holder))
        own.update(fields)
        return own
    if hasattr(holder, "model_copy"):
        return holder.model_copy(update=fields)
    if is_dataclass(holder) and not isinstance(holder, type):
        return replace(cast("Any", holder), **fields)
    own = copy(holder)
    for name, value in fields.items():
        setattr(own, name, value)
    return own


def listed_like(values: Iterable[Any], like: Sequence[Any]) -> Any:
    """Returns the values as a list, or as a tuple if ``like`` is a tuple."""
    return tuple(values) if isinstance(like, tuple) else list(values)


def is_array(value: object) -> bool:
    """Returns True iff the value is an array of NumPy, or of a library with NumPy's interface."""
    return all(hasattr(value, name) for name in ("dtype", "shape", "ndim", "tolist"))


def _first(get: Callable[[str], Any], names: Iterable[str]) -> Any:
    return next((each for each in map(get, names) if each is not None), None)


def _text_of(item: object, name: str) -> str | None:
    value = getattr(item, name, None)
    return value if isinstance(value, str) else None


def _is_text(value: object) -> bool:
    # A database driver that does not know the vector type returns a vector as a text such as
    # ``[0.1,0.2]``, which is not the text of a source.
    return isinstance(value, str) and not _VECTOR.fullmatch(value.strip())


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return _is_text(value)
    return value is None or isinstance(value, (bool, int, float, Mapping)) or _is_list_of_texts(value)


def _is_list_of_texts(value: object) -> bool:
    return is_listed(value) and all(isinstance(each, str) for each in cast("Sequence[object]", value))
