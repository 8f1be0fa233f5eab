"""This module checks the settings about tools."""

from typing import Any, get_args

from ..allowed import brief, checked_function, checked_list, checked_text
from ..errors import InvalidInput
from .tool_replay import OnNewToolCall


def checked_on_new_tool_call(given: Any) -> OnNewToolCall | None:
    """Returns the setting ``on_new_tool_call``. Raises InvalidInput unless it is "unknown", "live", a
    function of a ToolCall, or None."""
    words = get_args(get_args(OnNewToolCall)[0])
    if given is None or given in words:
        return given
    if not callable(given):
        raise InvalidInput(
            f"on_new_tool_call is {brief(given)}; give one of {', '.join(map(repr, words))}, or a "
            "function of a ToolCall that returns the result"
        )
    return checked_function("on_new_tool_call", given, "a function of a ToolCall", 1)


def checked_tool_names(setting: str, given: Any) -> frozenset[str]:
    """Returns the names of tools in a setting. Raises InvalidInput for anything but a list of names."""
    names = checked_list(setting, given, "names of tools")
    return frozenset(checked_text(f"a tool in {setting}", each, "the name of a tool") for each in names)
