"""This module notes which services and which other programs the tools of the baseline use. What they hold
cannot be compared, so it matters which calls may have changed it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..rewinding.values import DICT
from ..services.calls import ServiceCall
from .store_writes import StorePlace

_SERVICE = "the service"
PROGRAMS: StorePlace = ("other programs",)
"""The place of all that other programs may read and write, such as files."""
_MCP: StorePlace = ("an MCP server",)
_OF_MCP = ("langchain_mcp_adapters", "llama_index.tools.mcp")
"""The modules with the functions by which frameworks call the tools of MCP servers."""
_FUNCTIONS = ("coroutine", "func", "async_fn", "fn")


@dataclass(slots=True, eq=False)
class CallsOutside:
    """A ``CallsOutside`` holds what one call of a tool uses outside of this process. ``programs``: for
    each program that it starts, whether this may change something."""

    programs: list[bool] = field(default_factory=list[bool])
    _services: dict[int, ServiceCall] = field(default_factory=dict[int, ServiceCall])

    def note_service(self, call: ServiceCall) -> None:
        """Records a request to a service, to which more bytes may still be added."""
        self._services[id(call)] = call

    def places(self, tool: object) -> Iterator[tuple[StorePlace, bool]]:
        """Yields what the tool uses, as places of a store, each with whether it may have changed
        something there."""
        for each in self._services.values():
            if not each.is_encrypted:
                yield place_of_service(each), bool(each.act)
        for writes in self.programs:
            yield PROGRAMS, writes
        if _is_of_mcp(tool):
            yield _MCP, not _only_reads(tool)


def place_of_service(call: ServiceCall) -> StorePlace:
    """Returns the place that stands for a service."""
    return _SERVICE, call.service


def is_outside(place: StorePlace) -> bool:
    """Returns True iff a place is outside of this process."""
    return place[0] in {_SERVICE, *PROGRAMS, *_MCP}


def outside_said(place: tuple[Any, ...]) -> str:
    """Returns such a place in words."""
    return f"{_SERVICE} {place[1]}" if place[0] == _SERVICE else f"what {place[0]} hold"


def _is_of_mcp(tool: Any) -> bool:
    functions = (tool, *(getattr(tool, each, None) for each in _FUNCTIONS))
    return any(str(getattr(each, "__module__", "")).startswith(_OF_MCP) for each in functions)


def _only_reads(tool: Any) -> bool:
    """Returns True iff the server says that the tool changes nothing."""
    said: Any = getattr(tool, "metadata", None)
    return isinstance(said, DICT) and said.get("readOnlyHint") is True
