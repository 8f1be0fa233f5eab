"""This module reads the fields of dicts and objects, and copies dicts and objects with other values in
some fields."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

TEXT_KEYS = ("page_content", "text", "content", "snippet", "body", "document", "chunk", "passage")
"""The usual keys of a text, the most specific first. If a dict has several of them, the first in this
order is used."""
_WITHOUT_FIELDS = (str, bytes, bytearray, int, float, complex, list, set, frozenset, type)


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
    """Returns True iff the value is a list or a tuple, and not a tuple whose fields have names."""
    return isinstance(value, (list, tuple)) and not is_record(cast("object", value))


def is_record(value: object) -> bool:
    """Returns True iff the value is a tuple whose fields have names (a ``NamedTuple``)."""
    return isinstance(value, tuple) and hasattr(cast("object", value), "_fields")


def is_array(value: object) -> bool:
    """Returns True iff the value is an array of NumPy, or of a library with NumPy's interface."""
    return all(hasattr(value, name) for name in ("dtype", "shape", "ndim", "tolist"))


def fields_of(value: Any) -> Mapping[Any, Any] | None:
    """Returns the fields of a dict or an object. The fields of an object are those that its class
    declares, or else its public attributes, and its texts under usual names. Returns None for values
    without fields, such as texts and lists."""
    if isinstance(value, Mapping):
        return cast("Mapping[Any, Any]", value)
    if value is None or isinstance(value, _WITHOUT_FIELDS) or is_array(value):
        return None
    if isinstance(value, tuple):
        return cast("Any", value)._asdict() if is_record(cast("object", value)) else None
    usual = {key: text_of(value, key) for key in TEXT_KEYS}
    names = [name for name in _names_in(value) if not str(name).startswith("_")]
    held = {name: attribute(value, name) for name in names}
    return {**{key: each for key, each in usual.items() if each is not None}, **held}


def _names_in(value: Any) -> Iterable[str]:
    declared = getattr(cast("object", type(value)), "model_fields", None)
    if isinstance(declared, Mapping):
        return [*cast("Mapping[str, Any]", declared), *(getattr(value, "model_extra", None) or ())]
    if is_dataclass(cast("object", value)):
        return [each.name for each in fields(value)]
    inside: Any = getattr(cast("object", value), "__dict__", None)
    slots: Any = getattr(cast("object", type(value)), "__slots__", ())
    held: Iterable[str] = slots if inside is None else inside
    return [held] if isinstance(held, str) else list(held)


def attribute(value: object, name: str) -> Any:
    """Returns an attribute of an object; None if there is none, or if reading it raises an error."""
    try:
        return getattr(value, name, None)
    except Exception:  # a property of a user's class may raise any error
        return None


def text_of(item: object, name: str) -> str | None:
    """Returns the attribute with this name if it is a str, else None."""
    value = attribute(item, name)
    return value if isinstance(value, str) else None


def has_usual_text(fields: Mapping[Any, Any]) -> bool:
    """Returns True iff there is a text under one of the ``TEXT_KEYS``."""
    return any(isinstance(fields.get(key), str) for key in TEXT_KEYS)


def with_fields(holder: Any, **fields: Any) -> Any:
    """Returns a copy of a dict or an object, in which the given fields have new values."""
    if isinstance(holder, Mapping):
        own = copy(cast("dict[str, Any]", holder))
        own.update(fields)
        return own
    if is_record(holder):
        return holder._replace(**fields)
    if hasattr(holder, "model_copy"):
        return holder.model_copy(update=fields)
    if is_dataclass(holder) and not isinstance(holder, type):
        try:
            return replace(cast("Any", holder), **fields)
        except (TypeError, ValueError):  # the class's ``__init__`` does not take all of its fields
            pass
    own = copy(holder)
    for name, value in fields.items():
        try:
            setattr(own, name, value)
        except Exception:  # Changing a frozen object is safe here, because it is a new copy.
            object.__setattr__(own, name, value)
    return own


def listed_like(values: Iterable[Any], like: Sequence[Any]) -> Any:
    """Returns the values as a list or a tuple, of the same type as ``like``."""
    if isinstance(like, tuple):
        return tuple(values)
    if not isinstance(like, list) or type(cast("object", like)) is list:
        return list(values)
    own = copy(like)
    own[:] = values
    return own
