"""This module reads the tool calls in parts of a model's reply that are no calls of functions: those of
tools that the provider of the model runs itself, and those of its built-in tools that the application
runs."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ...tool_calls import ToolCall

_BY_NAME = ("server_tool_use", "server_tool_call")
"""The types of calls of tools that a provider runs, for Anthropic and LangChain's standard content."""
_OVER_MCP = ("mcp_tool_use", "mcp_call")
_BUILT_IN = ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call")
"""The types of calls of built-in tools that OpenAI runs."""
_OF_THE_APPLICATION = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call")
"""The types of calls of OpenAI's built-in tools that the application runs."""
_CODE = "executable_code"
"""The type of code that Gemini runs."""
_CALL = "_call"
_TOLD = ("action", "operation", "query", "queries", "code")
"""The fields of a call of a built-in tool that say what it is to do."""


class BuiltInCall(NamedTuple):
    """A ``BuiltInCall`` is a tool call in a part of a reply. ``identity``: its id. ``by_provider``: True
    iff the provider has run the tool already; ``over_mcp``: True iff it did so on an MCP server, which
    may be anybody's."""

    identity: str
    call: ToolCall
    by_provider: bool = True
    over_mcp: bool = False


def built_in_call(part: Mapping[str, Any]) -> BuiltInCall | None:
    """Returns the tool call in a part of a reply, such as a content block of Anthropic or an item of
    OpenAI's responses; None if it is another part, or a call of a function."""
    kind = str(part.get("type"))
    identity = str(part.get("call_id") or part.get("id") or "")
    if kind in (*_BY_NAME, *_OVER_MCP):
        given = next((part[each] for each in ("input", "args", "arguments") if part.get(each)), None)
        call = ToolCall.written(part.get("name"), given)
        return BuiltInCall(identity, call, over_mcp=kind in _OVER_MCP)
    if kind == _CODE:
        code = part.get(_CODE) or part.get("code")
        return BuiltInCall(identity, ToolCall.written("code_execution", {"code": code}))
    if kind in (*_BUILT_IN, *_OF_THE_APPLICATION):
        call = ToolCall.written(kind.removesuffix(_CALL), _arguments(part))
        return BuiltInCall(identity, call, by_provider=kind in _BUILT_IN)
    return None


def _arguments(part: Mapping[str, Any]) -> dict[str, Any]:
    told = {key: part[key] for key in _TOLD if part.get(key) is not None}
    for key in ("action", "operation"):
        fields = told.pop(key, None)
        if isinstance(fields, Mapping):
            entries = cast("Mapping[str, Any]", fields).items()
            told |= {name: each for name, each in entries if each is not None and name != "sources"}
        elif fields is not None:
            told[key] = fields
    return told
