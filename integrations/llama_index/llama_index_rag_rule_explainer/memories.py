"""This module isolates memories: a run finds the messages from before the first run, and its own
messages.

LlamaIndex's own memories keep messages in stores or attributes, which other modules isolate. The messages
of any other memory are read once, and the messages that a replay adds are kept separately. A long-term
memory therefore never receives the messages of replays.
"""

import re
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import (
    ChatMemoryBuffer,
    ChatSummaryMemoryBuffer,
    Memory,
    SimpleComposableMemory,
    VectorMemory,
)

from rag_rule_explainer.instrumentation.copies.copying import copied, described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import Same, State
from rag_rule_explainer.instrumentation.isolation.isolating import (
    MADE,
    Real,
    Use,
    acarried_out,
    carried_out,
    current_state,
)
from rag_rule_explainer.instrumentation.run_context import out_of_sight

_OWN = (ChatMemoryBuffer, ChatSummaryMemoryBuffer, Memory, SimpleComposableMemory, VectorMemory)

_at_work: ContextVar[tuple[Same, ...]] = ContextVar("rag_rule_memories_at_work", default=())
"""The memories of which a method is running. If this method calls other methods of the same memory, these
calls go to the memory directly, because the first call is already isolated."""


@dataclass(slots=True, eq=False)
class Beside:
    """A ``Beside`` holds the messages that one run put into a memory.

    ``instead``: the messages with which the run replaced all earlier messages; None if it did not replace
    them. ``put``: the messages that the run added after that.
    """

    instead: list[ChatMessage] | None = None
    put: list[ChatMessage] = field(default_factory=list[ChatMessage])

    def use(self, name: str, given: Any) -> None:
        """Records a call of ``put``, ``put_messages``, ``set`` or ``reset``.

        ``given``: the argument of the call; None for ``reset``.
        """
        if name == "put":
            self.put.append(given)
        elif name == "put_messages":
            self.put.extend(given)
        else:
            self.instead, self.put = list(given or ()), []


def _remembering(name: str, method: Any) -> Any:
    plain = name.removeprefix("a")

    def seen(memory: object) -> State | None:
        state = None if Same(memory) in _at_work.get() else current_state()
        return None if state is None or state.bore(memory) else state

    @wraps(method)
    def use(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = seen(self)
        if state is None:
            return method(self, *args, **kwargs)

        def call(_: Real) -> Any:
            with out_of_sight():
                return method(self, *args, **kwargs)

        with _working(self):
            return carried_out(_using(state, self, plain, args, kwargs), call)

    @wraps(method)
    async def ause(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = seen(self)
        if state is None:
            return await method(self, *args, **kwargs)

        async def call(_: Real) -> Any:
            with out_of_sight():
                return await method(self, *args, **kwargs)

        with _working(self):
            return await acarried_out(_using(state, self, plain, args, kwargs), call)

    return ause if name.startswith("a") else use


@contextmanager
def _working(memory: object) -> Generator[None, None, None]:
    token = _at_work.set((*_at_work.get(), Same(memory)))
    try:
        yield
    finally:
        _at_work.reset(token)


def _using(state: State, memory: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Use:
    if isinstance(memory, _OWN):
        return (yield MADE)
    beside: Beside = state.own(_key(memory), Beside)
    # A run that the user made (no replay) writes its messages to the real memory. Replays must not find
    # these messages, so ``_without`` removes them from the messages that are read later.
    wrote: list[ChatMessage] = state.before.setdefault(_key(memory, "wrote"), [])
    if not name.startswith("get"):
        given: Any = args[0] if args else next(iter(kwargs.values()), None)
        beside.use(name, given)
        if not state.live:
            return None
        wrote += [given] if name == "put" else list(given or ())
        return (yield MADE)
    if beside.instead is not None:
        return (yield MADE) if state.live else [*beside.instead, *beside.put]
    key = _key(memory, name, args, kwargs)
    if state.live or key not in state.before:
        found = yield MADE
        state.before.setdefault(key, copied(_without(found, wrote)))
        if state.live:
            return found
    return [*state.known(key), *beside.put]


def _without(found: list[ChatMessage], wrote: list[ChatMessage]) -> list[ChatMessage]:
    """Returns the messages in ``found`` without those in ``wrote``.

    For each message in ``wrote``, the last equal message is removed.
    """
    left = list(found)
    for message in reversed(wrote):
        alike = (place for place in reversed(range(len(left))) if _same(left[place], message))
        place = next(alike, None)
        if place is not None:
            del left[place]
    return left


def _same(first: ChatMessage, second: ChatMessage) -> bool:
    return (first.role, first.content) == (second.role, second.content)


def _key(memory: object, *asked: Any) -> Hashable:
    return "memory", Same(memory), described(asked)


_USES = re.compile("a?(get|get_all|put|put_messages|set|reset)")
MEMORY = ("llama_index.core.memory.types", "BaseMemory")
INTERCEPTIONS = (Interception(*MEMORY, _USES, _remembering),)
