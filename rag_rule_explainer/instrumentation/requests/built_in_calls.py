"""This module reads calls of a provider's built-in tools, such as web search, in a model's reply. In a
reply, these calls look different from calls of functions. The provider runs some of these tools itself;
the application runs the others."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ...tool_calls import ToolCall

_ARGUMENTS = ("input", "args", "arguments")
_CALL = "_call"


class BuiltInCall(NamedTuple):
    """A ``BuiltInCall`` is the call of a provider's built-in tool in a reply. ``identity``: the id of the
    call. ``by_provider``: True iff the provider has run the tool already; ``over_mcp``: True iff the
    provider did so on an MCP server, which may belong to anybody."""

    identity: str
    call: ToolCall
    by_provider: bool = True
    over_mcp: bool = False


class BuiltInTypes(NamedTuple):
    """The ``BuiltInTypes`` of a provider say which parts of its replies are calls of its built-in tools.
    They are recognised by the type of a part, such as "web_search_call".

    ``named``: types of parts with the tool's name in a field, for tools that the provider runs.
    ``over_mcp``: such types for tools on an MCP server. ``by_provider`` and ``by_application``: types
    that consist of the tool's name and "_call", for tools that the provider runs and for tools that the
    application runs. ``told``: the fields of a part that hold the arguments of the call. ``untold``:
    fields inside ``told`` that hold results instead.
    """

    named: frozenset[str] = frozenset()
    over_mcp: frozenset[str] = frozenset()
    by_provider: frozenset[str] = frozenset()
    by_application: frozenset[str] = frozenset()
    told: tuple[str, ...] = ()
    untold: frozenset[str] = frozenset()

    def call_in(self, part: Mapping[str, Any]) -> BuiltInCall | None:
        """Returns the call of a built-in tool in a part of a reply, such as a block of its content; None
        for the call of a function, and for any other part."""
        kind = str(part.get("type"))
        identity = str(part.get("call_id") or part.get("id") or "")
        if kind in self.named or kind in self.over_mcp:
            given = next((part[each] for each in _ARGUMENTS if part.get(each)), None)
            call = ToolCall.written(part.get("name"), given)
            return BuiltInCall(identity, call, over_mcp=kind in self.over_mcp)
        if kind in self.by_provider or kind in self.by_application:
            call = ToolCall.written(kind.removesuffix(_CALL), self._arguments(part))
            return BuiltInCall(identity, call, by_provider=kind in self.by_provider)
        return None

    def _arguments(self, part: Mapping[str, Any]) -> dict[str, Any]:
        told = {key: part[key] for key in self.told if part.get(key) is not None}
        nested = [told.pop(key) for key in list(told) if isinstance(told[key], Mapping)]
        for fields in cast("list[Mapping[str, Any]]", nested):
            told |= {k: each for k, each in fields.items() if each is not None and k not in self.untold}
        return told
