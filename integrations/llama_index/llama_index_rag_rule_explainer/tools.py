"""Notes which tools run, and lets stubs stand in for them."""

import re
from functools import wraps
from typing import Any

from llama_index.core.tools import ToolOutput

from rag_rule_explainer.wrapping.copying import copied
from rag_rule_explainer.wrapping.participation import participation, using_tool
from rag_rule_explainer.wrapping.patching import Interception


def _calling(name: str, method: Any) -> Any:
    def stand_in(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolOutput | None:
        run = participation()
        if run is None:
            return None
        called = str(tool.metadata.name)
        run.tools.add(called)
        if called not in run.stubs:
            return None
        result = copied(run.stubs[called])
        if isinstance(result, ToolOutput):
            return result
        given = {"args": args, "kwargs": kwargs}
        return ToolOutput(content=str(result), tool_name=called, raw_input=given, raw_output=result)

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        stub = stand_in(self, args, kwargs)
        with using_tool(str(self.metadata.name)):
            return method.__get__(self, type(self))(*args, **kwargs) if stub is None else stub

    @wraps(method)
    async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
        stub = stand_in(self, args, kwargs)
        with using_tool(str(self.metadata.name)):
            return await method.__get__(self, type(self))(*args, **kwargs) if stub is None else stub

    return acall if name == "acall" else call


TOOL = ("llama_index.core.tools.types", "BaseTool")
INTERCEPTIONS = (Interception(*TOOL, re.compile("call|acall|__call__"), _calling),)
