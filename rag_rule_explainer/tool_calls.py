"""This module defines a tool call, as a model makes it in a reply."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from .errors import InvalidInput
from .printable import as_json, brief, encodable, json_object, shortened

_LONGEST = 80


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A ``ToolCall`` is one call of a tool, which a model asks for in a reply.

    ``name``: the name of the tool. ``arguments``: the arguments by name, as JSON data; or the text that
    the model wrote, if this text is no JSON object. ``step``: the number of the step that the call
    belongs to, counted from 1 over the run; the calls of one reply are one step. ``step`` is 0 if it is
    not known: the call is then a step of its own.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict[str, Any])
    step: int = 0

    # A dict cannot be hashed, so the hash leaves out the arguments.
    def __hash__(self) -> int:
        return hash((self.name, self.step))

    @classmethod
    def written(cls, name: object, arguments: object) -> "ToolCall":
        """Returns the call with this name and these arguments, as a provider writes them: a mapping, or
        its JSON. An argument that JSON cannot represent becomes the name of its type."""
        named = encodable(str(name))
        if isinstance(arguments, (str, bytes)):
            text = arguments if isinstance(arguments, str) else arguments.decode("utf-8", "replace")
            read = _object_in(text)
            return cls(named, encodable(text) if read is None else json_object(read))
        if isinstance(arguments, Mapping):
            return cls(named, json_object(cast("Mapping[Any, Any]", arguments)))
        return cls(named, {} if arguments is None else encodable(str(as_json(arguments))))

    def __str__(self) -> str:
        if isinstance(self.arguments, str):
            return f"{self.name}({shortened(self.arguments, _LONGEST)})"
        given = (
            f"{key}={shortened(json.dumps(value, ensure_ascii=False), _LONGEST)}"
            for key, value in self.arguments.items()
        )
        return f"{self.name}({', '.join(given)})"


def _object_in(text: str) -> Mapping[Any, Any] | None:
    if not text.strip():
        return {}  # some providers write an empty text for a tool without parameters
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[Any, Any]", read) if isinstance(read, dict) else None


def calls_said(calls: Iterable[ToolCall]) -> str:
    """Returns calls as a text, such as ``calls search(q="x"), then stop()``."""
    return f"calls {', then '.join(map(str, calls))}"


def calls_given(given: Any) -> tuple[ToolCall, ...] | None:
    """Returns the ``calls`` of a user's Answer as a tuple; None if they were not recorded. Raises
    InvalidInput for anything but a list of calls, each with a name and arguments."""
    if given is None:
        return None
    listed = tuple(cast("Iterable[object]", given)) if isinstance(given, (list, tuple)) else (None,)
    for each in listed:
        if not (isinstance(each, ToolCall) and _is_sound(each)):
            raise InvalidInput(
                f"calls of an Answer is {brief(cast('object', given))}; give a tuple of ToolCall(name, "
                "arguments), whose arguments are a dict or a text, or None if the calls are not known"
            )
    # Texts that a store or JSON could not keep are replaced, so that a call does not change when it is
    # stored.
    return tuple(
        ToolCall(encodable(each.name), _sound(each.arguments), each.step)
        for each in cast("tuple[ToolCall, ...]", listed)
    )


def _is_sound(call: Any) -> bool:
    is_step = type(call.step) is int and call.step >= 0
    return isinstance(call.name, str) and isinstance(call.arguments, (Mapping, str)) and is_step


def _sound(arguments: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
    return encodable(arguments) if isinstance(arguments, str) else json_object(arguments)
