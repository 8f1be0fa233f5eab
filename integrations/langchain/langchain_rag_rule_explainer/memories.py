"""This module isolates the memories of langchain_classic.

A replay loads the variables that the baseline loaded, and saves nothing. A memory that keeps its state
only in a message history needs none of this, because the history is isolated.
"""

import re
from collections.abc import Hashable
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.run_record import Participation

from . import histories


def _remembering(name: str, method: Any) -> Any:
    @wraps(method)
    def use(self: object, *args: Any, **kwargs: Any) -> Any:
        run = _run(self)
        if run is None:
            return method(self, *args, **kwargs)
        if name == "load_memory_variables":
            return run.state.read(memory_key(self), lambda: method(self, *args, **kwargs))
        return method(self, *args, **kwargs) if run.state.live else None

    @wraps(method)
    async def ause(self: object, *args: Any, **kwargs: Any) -> Any:
        run = _run(self)
        if run is None:
            return await method(self, *args, **kwargs)
        if name == "aload_memory_variables":
            return await run.state.aread(memory_key(self), lambda: method(self, *args, **kwargs))
        return await method(self, *args, **kwargs) if run.state.live else None

    return ause if name.startswith("a") else use


def _run(memory: object) -> Participation | None:
    return None if _is_its_history(memory) else participation()


def _is_its_history(memory: object) -> bool:
    kind = type(memory)
    return (kind.__module__, kind.__qualname__) in _HISTORIES


def keep_memory(state: State, memory: Any) -> None:
    """Stores the variables that a memory of langchain_classic loads now, so that replays load the same
    variables."""
    if _is_its_history(memory):
        histories.keep_history(state, memory.chat_memory)
    else:
        state.before[memory_key(memory)] = memory.load_memory_variables({})


def memory_key(memory: object) -> Hashable:
    """Returns a key for one memory object of langchain_classic. The key is the same in every run."""
    return "memory", id(memory)


_HISTORIES = {
    ("langchain_classic.memory.buffer", "ConversationBufferMemory"),
    ("langchain_classic.memory.buffer_window", "ConversationBufferWindowMemory"),
    ("langchain_classic.memory.token_buffer", "ConversationTokenBufferMemory"),
}
_USES = re.compile("a?(load_memory_variables|save_context|clear)")
INTERCEPTIONS = (Interception("langchain_classic.base_memory", "BaseMemory", _USES, _remembering),)
