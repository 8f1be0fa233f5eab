"""This module distinguishes responses with several results from single documents."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from .fields import TEXT_KEYS, attribute, fields_of, has_usual_text, is_listed, mapping_in

LISTS_OF_TEXTS = frozenset(
    {
        *("chunks", "contexts", "docs", "documents", "hits", "matches", "paragraphs", "passages"),
        *("result", "results", "snippets", "texts"),
    }
)
"""Keys of lists of texts. A list of texts under another key may be tags or keywords of one document."""
_OF_A_DOCUMENT = frozenset(
    {
        *("affiliations", "aliases", "attributes", "authors", "breadcrumbs", "categories", "editors"),
        *("extra", "extra_info", "headings", "keywords", "links", "meta", "metadata", "properties"),
        *("tags", "titles", "topics", "urls"),
    }
)
"""Keys under which a document has data about itself. A list under such a key contains no results."""
_FEWEST_WORDS = 6
"""A text with at least this many words counts as a passage. Tags and names are shorter."""


def snake(name: object) -> str:
    """Returns a name in snake case: "pageContent" becomes "page_content"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name)).lower()


def fields_seen(value: Any) -> Mapping[Any, Any] | None:
    """Returns the fields of a dict or an object. Of an object's properties, only those with a name in
    ``LISTS_OF_TEXTS`` are read, because reading a property runs code. Returns None for any other
    value."""
    fields = fields_of(value)
    if fields is None or isinstance(value, Mapping):
        return fields
    seen = {
        name: attribute(value, name)
        for name in LISTS_OF_TEXTS
        if hasattr(cast("object", type(value)), name)
    }
    return {**seen, **fields}


def is_passage(text: str) -> bool:
    """Returns True iff a text is long enough for a passage (``_FEWEST_WORDS``)."""
    return len(text.split()) >= _FEWEST_WORDS or ("。" in text and " " not in text)


def are_messages(each: object) -> bool:
    """Returns True iff ``each`` is a chat message: a dict with a role. A message is part of one document
    and not a result."""
    return "role" in mapping_in(each)


def lists_results(value: Any, depth: int = 3) -> bool:
    """Returns True iff the value is, or contains, a list of results: dicts, objects with a text, or
    passages. ``depth``: the number of levels that are searched."""
    if is_listed(value):
        return _are_results("", value, depth)
    return any(
        (_are_results(name, each, depth) if is_listed(each) else _has_results(name, each, depth))
        for name, each in mapping_in(value).items()
    )


def is_response(result: object) -> bool:
    """Returns True iff a search's result is a response with a list of results (which may be empty), and
    not a single document."""
    fields = fields_seen(result)
    if fields is None or _is_its_own_part(fields):
        return False
    empty = any(is_listed(each) and not each for each in fields.values())
    return lists_several(fields) or (empty and not has_usual_text(fields))


def lists_several(fields: Mapping[Any, Any]) -> bool:
    """Returns True iff these fields belong to a response with a list of results. If no field has a usual
    name of a text, any list that is not empty counts as a list of results, because a text under another
    name is probably the query."""
    return (
        lists_results(fields)
        or any(_lists_dicts(name, each) for name, each in fields.items())
        or (not _names_text(fields) and _lists_anything(fields))
    )


def holds_results(fields: Mapping[Any, Any]) -> bool:
    """Returns True iff these are the fields of a whole response, and not of one result. This is so in two
    cases: there are results with texts in a list with a usual name; or there is a list of results, and no
    text with a usual name."""
    named = any(
        snake(name) in LISTS_OF_TEXTS
        and is_listed(each)
        and any(_has_text(one) or has_usual_text(mapping_in(one)) for one in each)
        for name, each in fields.items()
    )
    return named or (not has_usual_text(fields) and lists_results(fields))


def _has_results(name: object, each: Any, depth: int) -> bool:
    return depth > 0 and snake(name) not in _OF_A_DOCUMENT and lists_results(mapping_in(each), depth - 1)


def _are_results(name: object, values: Sequence[Any], depth: int) -> bool:
    if any(map(are_messages, values)):
        return False
    if any(isinstance(each, Mapping) or _has_text(each) for each in values):
        return True
    if any(is_listed(each) and depth > 0 and _are_results(name, each, depth - 1) for each in values):
        return True
    texts = [each for each in values if isinstance(each, str)]
    return snake(name) not in _OF_A_DOCUMENT and (
        (bool(texts) and snake(name) in LISTS_OF_TEXTS) or any(map(is_passage, texts))
    )


def _lists_dicts(name: object, each: Any) -> bool:
    """Returns True iff a field other than ``metadata`` is a list of dicts. A dict or an object with such
    a field does not count as a single document."""
    return name != "metadata" and is_listed(each) and any(isinstance(one, Mapping) for one in each)


def _has_text(each: object) -> bool:
    if isinstance(each, (str, Mapping)) or is_listed(each):
        return False
    return has_usual_text(fields_of(each) or {})


def _is_its_own_part(fields: Mapping[Any, Any]) -> bool:
    """Returns True iff an object has a text and a list whose only entry is a block with the same text, as
    the outputs of some tools have. Such a list does not count as a list of results."""
    own = next((fields[key] for key in TEXT_KEYS if isinstance(fields.get(key), str)), None)
    lists: list[Any] = [each for each in fields.values() if is_listed(each) and each]
    parts = lists[0] if len(lists) == 1 else ()
    inside = fields_of(parts[0]) if len(parts) == 1 else None
    return own is not None and own in [(inside or {}).get(key) for key in TEXT_KEYS]


def _names_text(fields: Mapping[Any, Any]) -> bool:
    """Returns True iff a field has a usual name of a text, or a name that contains one, such as
    ``passage_text``."""
    texts = (str(key) for key, each in fields.items() if isinstance(each, str))
    return any(part in TEXT_KEYS for key in texts for part in (key, *key.lower().split("_")))


def _lists_anything(fields: Mapping[Any, Any], depth: int = 3) -> bool:
    return any(
        (is_listed(each) and len(each) > 0)
        or (isinstance(each, Mapping) and depth > 0 and _lists_anything(cast("Any", each), depth - 1))
        for name, each in fields.items()
        if name != "metadata"
    )
