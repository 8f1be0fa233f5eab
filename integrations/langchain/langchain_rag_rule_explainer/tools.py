"""This module records which tools a run calls. It replaces the tools in the setting ``stub_tools`` by
stubs."""

import re
from collections.abc import Mapping
from functools import wraps
from typing import Any, cast

from langchain_core.tools import BaseTool
from typing_extensions import override

from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation, using_tool

from .reading import texts_in


class StubTool(BaseTool):
    """This tool returns a given result. It sends the events and makes the message of an ordinary tool."""

    result: Any

    @classmethod
    def standing_in_for(cls, tool: BaseTool, result: Any) -> "StubTool":
        """Returns a stub with the name, the description and the parameters of a tool."""
        return cls(
            name=tool.name, description=tool.description, args_schema=tool.args_schema, result=result
        )

    @override
    def _run(self, **_: Any) -> Any:
        return copied(self.result)


def _running(name: str, method: Any) -> Any:
    def stand_in(tool: BaseTool, given: Any) -> BaseTool | None:
        run = participation()
        if run is None or isinstance(tool, StubTool):
            return None
        run.use_tool(tool.name, arguments_in(given))
        return StubTool.standing_in_for(tool, run.stubs[tool.name]) if tool.name in run.stubs else None

    @wraps(method)
    def run(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        stub = stand_in(self, args[0] if args else kwargs.get("tool_input"))
        with using_tool(self.name):
            result = method(self, *args, **kwargs) if stub is None else stub.run(*args, **kwargs)
        return _noted(result)

    @wraps(method)
    async def arun(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        stub = stand_in(self, args[0] if args else kwargs.get("tool_input"))
        with using_tool(self.name):
            result = await (method(self, *args, **kwargs) if stub is None else stub.arun(*args, **kwargs))
        return _noted(result)

    return arun if name == "arun" else run


def arguments_in(given: Any) -> Any:
    """Returns the arguments in the input of a tool, which may be a whole tool call."""
    entries = cast("Mapping[str, Any]", given if isinstance(given, Mapping) else {})
    return cast("Any", entries["args"] if entries.get("type") == "tool_call" else given)


def _noted(result: Any) -> Any:
    """Returns the result of a tool. Records the texts in it, so that they are not taken for texts of
    sources."""
    run = participation()
    if run is not None:
        run.made.extend(texts_in(result))
    return result


INTERCEPTIONS = (Interception("langchain_core.tools.base", "BaseTool", re.compile("a?run"), _running),)
