"""The memories of langchain_classic: what was loaded before is loaded again, and nothing is saved."""

import re
from collections.abc import Hashable
from functools import wraps
from typing import Any

from rag_rule_explainer.wrapping.participation import participation
from rag_rule_explainer.wrapping.patching import Interception


def _remembering(name: str, method: Any) -> Any:
    @wraps(method)
    def use(self: object, *args: Any, **kwargs: Any) -> Any:
        run = participation()
        if run is None:
            return method(self, *args, **kwargs)
        if name == "load_memory_variables":
            return run.state.read(memory_key(self), lambda: method(self, *args, **kwargs))
        return method(self, *args, **kwargs) if run.state.live else None

    @wraps(method)
    async def ause(self: object, *args: Any, **kwargs: Any) -> Any:
        run = participation()
        if run is None:
            return await method(self, *args, **kwargs)
        if name == "aload_memory_variables":
            return await run.state.aread(memory_key(self), lambda: method(self, *args, **kwargs))
        return await method(self, *args, **kwargs) if run.state.live else None

    return ause if name.startswith("a") else use


def memory_key(memory: object) -> Hashable:
    """How one memory is recognised by every run."""
    return "memory", id(memory)


_USES = re.compile("a?(load_memory_variables|save_context|clear)")
INTERCEPTIONS = (Interception("langchain_classic.base_memory", "BaseMemory", _USES, _remembering),)
