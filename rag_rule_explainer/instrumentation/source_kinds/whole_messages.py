"""This module describes messages of requests to models completely: every field, and how the content is
divided into parts. Recorded replies are given only to requests whose messages are equal in all of it."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ..copies.copying import described

_CONTENTS = ("content", "output", "blocks")
"""Keys of messages under which their texts are, as OpenAI, LangChain and LlamaIndex name them."""
_IDS = frozenset({"tool_call_id", "call_id", "tool_use_id"})
"""Keys whose values are ids of calls, wherever they are."""
_CALLS = frozenset({"tool_call", "invalid_tool_call", "tool_use", "function", "function_call"})
"""Values of "type" that mappings have which are calls, so that their "id" is the id of a call."""
_TEXT = "text"
_START, _END = "\2", "\3"
_MARKED = re.compile(r"\\u0002(.*?)\\u0003")
PLAIN = described(_TEXT)
"""The description of a content that is one text."""


class WholeMessage(NamedTuple):
    """A ``WholeMessage`` has all that is in a message. ``frame``: the description of all fields but the
    content, in which the ids of calls are marked. ``parts``: the description of the content, without its
    texts; parts of the same kind that follow each other are described once. ``texts``: the texts of the
    content, one for each part."""

    frame: str = ""
    parts: str = ""
    texts: tuple[str, ...] = ()

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


NOTHING = WholeMessage()


def whole_of(message: Any, leaving_out: Collection[str] = ()) -> WholeMessage:
    """Returns all that is in a message. ``message``: the message as a mapping. ``leaving_out``: keys
    whose values no model is sent."""
    if not isinstance(message, Mapping):
        return WholeMessage(described(message))
    entries = cast("Mapping[str, Any]", message)
    fields = {
        key: each for key, each in entries.items() if key not in _CONTENTS and key not in leaving_out
    }
    contents = [entries[key] for key in _CONTENTS if key in entries]
    texts = list[str]()
    parts = [_without_texts(each, texts) for each in contents]
    is_one = len(parts) == 1
    return WholeMessage(
        described(_with_marks(fields)),
        described(_with_marks(parts[0] if is_one else parts)),
        tuple(texts),
    )


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
