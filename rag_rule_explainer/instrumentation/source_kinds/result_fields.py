"""This module makes what the result of a tool has beside its content, such as an artifact or a value for
the state of a graph, without the omitted items of the content."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..clients.fields import is_listed, listed_like
from ..clients.written import literal_in
from ..result_field import ResultField
from .kinds import Omit
from .part_values import PLAIN, blanked, read_json, text_of_part
from .result_parts import ResultParts

_DEEPEST = 16
_UNKNOWN = object()


class FieldsLeft(NamedTuple):
    """A ``FieldsLeft`` holds the fields that a result has without the omitted items. ``doubtful``: the
    fields of which it is not known what they are without these items."""

    fields: Sequence[ResultField]
    doubtful: Sequence[ResultField]


def fields_left(
    fields: Sequence[ResultField], parts: ResultParts, omitted: Collection[int], omit: Omit
) -> FieldsLeft:
    """Returns the fields of a result without the omitted parts of its content.

    If the whole content is omitted, its fields are gone too, or are blanked. If items of a list are
    omitted, a list in a field with one element for each item loses the same elements. Any other field is
    doubtful; a doubtful value of a state stays, and a doubtful attribute is gone. A field that ``stays``
    is never changed.
    """
    first = int(parts.has_heading)
    items = parts.texts[first:] if parts.is_list else ()
    places = frozenset(place - first for place in omitted if place >= first)
    if not omitted or (items and not places):
        return FieldsLeft(fields, ())
    is_whole = len(set(omitted)) == len(parts.texts)
    left, doubtful = list[ResultField](), list[ResultField]()
    for each in fields:
        value = _thinned(each.value, items, places, omit, 0) if items else _UNKNOWN
        if each.stays:
            left.append(each)
        elif value is not _UNKNOWN:
            left.append(each._replace(value=value))
        elif is_whole:
            left += _blanked(each) if omit == "blank" else ()
        else:
            doubtful.append(each)
            left += [each] if each.is_state else []
    return FieldsLeft(left, doubtful)


def _blanked(field: ResultField) -> Iterator[ResultField]:
    """Yields a field of a state with empty texts. A number has no empty form, so it is gone."""
    if field.is_state and not isinstance(field.value, PLAIN):
        yield field._replace(value=blanked(field.value))


def _thinned(value: Any, items: Sequence[str], omitted: Collection[int], omit: Omit, depth: int) -> Any:
    """Returns the value without the elements that belong to omitted items; ``_UNKNOWN`` if it is neither
    a list nor a dict with one element for each item, nor a dict of such values."""
    if depth > _DEEPEST:
        return _UNKNOWN
    if is_listed(value):
        elements = cast("Sequence[Any]", value)
        return (
            listed_like(_without(elements, omitted, omit), value)
            if _is_along(elements, items)
            else _UNKNOWN
        )
    if type(value) is not dict or not value:
        return _UNKNOWN
    entries = cast("dict[Any, Any]", value)
    if _is_along(list(entries.values()), items):
        kept = [place for place in range(len(items)) if omit == "blank" or place not in omitted]
        names, own = list(entries), _without(list(entries.values()), omitted, omit)
        return {names[place]: each for place, each in zip(kept, own, strict=True)}
    inside = {name: _thinned(each, items, omitted, omit, depth + 1) for name, each in entries.items()}
    return _UNKNOWN if any(each is _UNKNOWN for each in inside.values()) else inside


def _without(elements: Sequence[Any], omitted: Collection[int], omit: Omit) -> list[Any]:
    return [
        blanked(each) if place in omitted else each
        for place, each in enumerate(elements)
        if omit == "blank" or place not in omitted
    ]


def _is_along(elements: Sequence[Any], items: Sequence[str]) -> bool:
    """Returns True iff there is one element for each item, in the same order, which is the item or has
    its text. An element that has the text of another item too may be made of several."""
    if len(elements) != len(items):
        return False
    known = {each for each in items if each.strip()}
    for element, item in zip(elements, items, strict=True):
        if _is_same(element, item):
            continue
        texts = list(_texts_in(element, 0))
        others = (each for each in known if each not in item)
        if not item.strip() or not any(item in text for text in texts):
            return False
        if any(other in text for other in others for text in texts):
            return False
    return True


def _is_same(element: Any, item: str) -> bool:
    """Returns True iff the element is what the text of an item says, as it is, as JSON or as Python
    prints it."""
    text = text_of_part(element)
    if text == item or str(element) == item:
        return True
    plain, read = read_json(text), read_json(item)
    read = literal_in(item, None) if read is None else read
    return read is not None and plain == read


def _texts_in(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth <= _DEEPEST and isinstance(value, Mapping):
        for each in cast("Mapping[Any, Any]", value).values():
            yield from _texts_in(each, depth + 1)
    elif depth <= _DEEPEST and is_listed(value):
        for each in cast("Sequence[Any]", value):
            yield from _texts_in(each, depth + 1)
    elif not isinstance(value, PLAIN):
        yield text_of_part(value)
