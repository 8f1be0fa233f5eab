"""This module reads the attributes of spans of OpenTelemetry, in the forms that exporters write."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

_MOST_PARTS = 12
"""The maximum number of dots at which the name of an attribute, such as "a.b.c", is split into levels."""
_VALUES = ("stringValue", "intValue", "doubleValue", "boolValue", "string_value", "int_value")


def plain_value(value: Any) -> Any:
    """Returns the value of an attribute without the dict that OTLP puts around it to name its type, such
    as {"stringValue": "x"}. A value without such a dict is returned unchanged. Returns None for bytes."""
    if not isinstance(value, Mapping):
        return value
    fields = cast("Mapping[str, Any]", value)
    if len(fields) != 1:
        return fields
    ((kind, inside),) = fields.items()
    if kind in {"arrayValue", "array_value"} and isinstance(inside, Mapping):
        items = cast("Mapping[str, Any]", inside).get("values")
        return [plain_value(each) for each in cast("list[Any]", items)] if isinstance(items, list) else []
    if kind in {"kvlistValue", "kvlist_value"} and isinstance(inside, Mapping):
        return listed_attributes(cast("Mapping[str, Any]", inside).get("values"))
    if kind in {"bytesValue", "bytes_value"}:
        return None
    return inside if kind in _VALUES or kind in {"double_value", "bool_value"} else fields


def listed_attributes(given: Any) -> dict[str, Any]:
    """Returns OTLP's list of attributes as a dict from names to values. Items that are no attributes are
    left out."""
    found = dict[str, Any]()
    for each in cast("list[Any]", given) if isinstance(given, list) else []:
        if isinstance(each, Mapping):
            fields = cast("Mapping[str, Any]", each)
            if isinstance(fields.get("key"), str):
                found[fields["key"]] = plain_value(fields.get("value"))
    return found


class SpanAttributes:
    """A ``SpanAttributes`` holds the attributes of a span, by their names. ``get`` and ``under`` find
    them whether the exporter writes them flat ("a.b.c") or nested."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._flat = given
        self._tree = dict[str, Any]()
        for name, value in given.items():
            self._place(name.split(".", _MOST_PARTS), value)

    def _place(self, parts: list[str], value: Any) -> None:
        at = self._tree
        *before, last = parts
        for part in before:
            inside = at.get(part)
            if not isinstance(inside, dict):
                inside = at[part] = dict[str, Any]() if inside is None else {"": inside}
            at = cast("dict[str, Any]", inside)
        kept = at.get(last)
        if isinstance(kept, dict) and not isinstance(value, Mapping):
            kept[""] = value
        elif isinstance(kept, dict):
            cast("dict[str, Any]", kept).update(cast("Mapping[str, Any]", value))
        else:
            at[last] = value

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def get(self, name: str) -> Any:
        """Returns the value of the attribute; None if there is none."""
        if name in self._flat:
            return self._flat[name]
        at: Any = self._tree
        for part in name.split("."):
            if not isinstance(at, Mapping) or part not in at:
                return None
            at = cast("Mapping[str, Any]", at)[part]
        return at

    def text(self, name: str) -> str | None:
        """Returns the value of the attribute if it is a text that is not empty; else None."""
        value = self.get(name)
        return value if isinstance(value, str) and value else None

    def any_under(self, prefixes: Iterable[str]) -> bool:
        """Returns True iff any attribute has one of these names, or is below one of them."""
        return any(prefix in self for prefix in prefixes)

    def listed(self, name: str) -> list[Any] | None:
        """Returns the items of a list that is written as numbered attributes, such as "name.0.x"; None if
        there is none."""
        held = self.get(name)
        if isinstance(held, list):
            return cast("list[Any]", held)
        if not isinstance(held, Mapping):
            return None
        items = cast("Mapping[str, Any]", held)
        numbers = [each for each in items if each.isascii() and each.isdigit() and len(each) < 9]
        return [items[each] for each in sorted(numbers, key=int)] or None
