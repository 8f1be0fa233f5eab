"""This module imports the official SDK of the Model Context Protocol, of its first or second version."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...errors import MissingExtra

_SECOND, _FIRST = ("mcp.server.mcpserver", "MCPServer"), ("mcp.server.fastmcp", "FastMCP")


@dataclass(frozen=True, slots=True)
class McpSdk:
    """A ``McpSdk`` holds the classes of the installed SDK. ``server``: the class of servers. ``context``:
    the class of the object that tells a tool about the call to it. ``tool_error``: the error whose text a
    client gets."""

    server: Any
    context: Any
    tool_error: type[Exception]

    @classmethod
    def installed(cls) -> "McpSdk":
        """Returns the classes of the installed SDK. Raises MissingExtra if there is none."""
        for package, name in (_SECOND, _FIRST):
            try:
                module, errors = import_module(package), import_module(f"{package}.exceptions")
            except ImportError:
                continue
            return cls(getattr(module, name), module.Context, errors.ToolError)
        raise MissingExtra.naming("mcp", "rag-rules mcp")
