"""This module describes messages of requests to models completely: every field, and how the content is
divided into parts. Recorded replies are given only to requests whose messages are equal in all of it."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..copies.copying import described

_CONTENTS = ("content", "output", "blocks")
"""Keys of messages under which their texts are, as OpenAI, LangChain and LlamaIndex name them."""
_IDS = frozenset({"tool_call_id", "call_id", "tool_use_id"})
"""Keys whose values are ids of calls, wherever they are."""
_CALLS = frozenset({"tool_call", "invalid_tool_call", "tool_use", "function", "function_call"})
"""Values of "type" that mappings have which are calls, so that their "id" is the id of a call."""
_CACHING = ("cache_control", "cachePoint", "cache_point")
"""Keys that tell a provider up to where it may keep a request. A model reads none of them."""
_KINDS = ("type", "block_type")
_MORE = "additional_kwargs"
_TEXT = "text"
_START, _END = "\2", "\3"
_MARKED = re.compile(r"\\u0002(.*?)\\u0003")
PLAIN_TEXT = described(_TEXT)
"""The description of a content that is one text."""


class WholeMessage(NamedTuple):
    """A ``WholeMessage`` has all that is in a message. ``frame``: the description of all fields but the
    content, in which the ids of calls are marked. ``parts``: the description of the content, without its
    texts; parts of the same kind that follow each other are described once. ``texts``: the texts of the
    content, one for each part. ``caching``: the descriptions of its marks for a provider's cache, which
    are in no other field."""

    frame: str = ""
    parts: str = ""
    texts: tuple[str, ...] = ()
    caching: tuple[str, ...] = ()

    @property
    def calls(self) -> list[str]:
        """Returns the ids of calls in the message, in order."""
        return _MARKED.findall(self.frame + self.parts)

    def renamed(self, names: dict[str, str]) -> "WholeMessage":
        """Returns the message with names in place of the ids of calls. ``names``: the names by id; ids
        without a name get the next number."""

        def name(found: re.Match[str]) -> str:
            return names.setdefault(found[1], f"<call {len(names) + 1}>")

        return self._replace(frame=_MARKED.sub(name, self.frame), parts=_MARKED.sub(name, self.parts))


EMPTY_MESSAGE = WholeMessage()
_ONE_PART = described([{"type": _TEXT, "text": _TEXT}])


def differ_in_caching(one: WholeMessage, other: WholeMessage) -> bool:
    """Returns True iff the content of one message is one text, and that of the other one is one part that
    has a text and a mark for a provider's cache."""
    is_marked = bool(one.caching) != bool(other.caching)
    return is_marked and {one.parts, other.parts} == {PLAIN_TEXT, _ONE_PART}


def are_cached_alike(
    expected: Sequence[WholeMessage], sent: Sequence[WholeMessage], known: Sequence[WholeMessage]
) -> bool:
    """Returns True iff the second request has the same marks for a provider's cache, at whatever
    messages: an application may mark the last ones, and none that is empty. ``known``: the first
    request's messages, with those that are omitted."""
    least = {
        one for was, now in zip(expected, sent, strict=False) if any(now.texts) for one in was.caching
    }
    own, most = ({one for each in some for one in each.caching} for some in (sent, known))
    return least <= own <= most


def other_fields(was: str, now: str, steady: Callable[[str], str]) -> set[str]:
    """Returns the names of the fields that differ between two descriptions of what requests have besides
    their messages. ``steady``: replaces parts that have no meaning."""
    known, sent = (
        {(key, steady(described(each))) for key, each in _fields_in(more).items()} for more in (was, now)
    )
    return {key for key, _ in known ^ sent}


def _fields_in(more: str) -> dict[str, Any]:
    return json.loads(more) if more.startswith("{") else {"": more}


def whole_of(message: Any, leaving_out: Collection[str] = ()) -> WholeMessage:
    """Returns all that is in a message. ``message``: the message as a mapping. ``leaving_out``: keys
    whose values no model is sent."""
    if not isinstance(message, Mapping):
        return WholeMessage(described(message))
    entries = cast("Mapping[str, Any]", message)
    fields = {
        key: each for key, each in entries.items() if key not in _CONTENTS and key not in leaving_out
    }
    caching, texts = list[str](), list[str]()
    fields = _without_caching(fields, caching)
    more = fields.get(_MORE)
    if isinstance(more, Mapping):
        fields[_MORE] = _without_caching(cast("Mapping[str, Any]", more), caching)
    contents = [_uncached(entries[key], caching) for key in _CONTENTS if key in entries]
    parts = [_without_texts(each, texts) for each in contents]
    is_one = len(parts) == 1
    return WholeMessage(
        described(_with_marks(fields)),
        described(_with_marks(parts[0] if is_one else parts)),
        tuple(texts),
        tuple(caching),
    )


def _without_caching(fields: Mapping[str, Any], caching: list[str]) -> dict[str, Any]:
    """Returns the fields without marks for a provider's cache, and adds these marks to ``caching``."""
    caching += [described(fields[key]) for key in _CACHING if fields.get(key) is not None]
    return {key: each for key, each in fields.items() if key not in _CACHING}


def _uncached(content: Any, caching: list[str]) -> Any:
    """Returns a content without such marks, and without parts that are nothing else."""
    if not isinstance(content, (list, tuple)):
        return content
    left = list[Any]()
    for each in cast("Sequence[Any]", content):
        if not isinstance(each, Mapping) or not any(key in each for key in _CACHING):
            left.append(each)
            continue
        part = _without_caching(cast("Mapping[str, Any]", each), caching)
        if not part.keys() <= set(_KINDS):
            left.append(part)
    return left


def _without_texts(content: Any, texts: list[str]) -> Any:
    """Returns a content with a placeholder in place of each text, and adds the texts to ``texts``."""
    if isinstance(content, str):
        texts.append(content)
        return _TEXT
    if not isinstance(content, (list, tuple)):
        return content
    left = list[Any]()
    for each in cast("Sequence[Any]", content):
        part = each
        if isinstance(each, str):
            texts.append(each)
            part = _TEXT
        elif isinstance(each, Mapping) and isinstance(cast("Any", each).get(_TEXT), str):
            texts.append(cast("Any", each)[_TEXT])
            part = {**cast("Mapping[str, Any]", each), _TEXT: _TEXT}
        if not left or part is each or left[-1] != part:
            left.append(part)
    return left


def _with_marks(value: Any) -> Any:
    """Returns a value in which the ids of calls are marked."""
    if callable(dump := getattr(value, "model_dump", None)):
        return _with_marks(dump())
    if isinstance(value, (list, tuple)):
        return [_with_marks(each) for each in cast("Sequence[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    entries = cast("Mapping[Any, Any]", value)
    is_call = entries.get("type") in _CALLS or {"name", "args"} <= entries.keys()
    return {
        key: f"{_START}{each}{_END}"
        if isinstance(each, str) and (key in _IDS or (is_call and key == "id"))
        else _with_marks(each)
        for key, each in entries.items()
    }
