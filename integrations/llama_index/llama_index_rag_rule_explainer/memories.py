"""Memories: every run on copies reads what the baseline read, and keeps to itself what it puts.

A memory over a chat store works on a store of its own, with all it does otherwise. Of any other, whose
storage may be anywhere, what it gives is read once, and what a run puts is kept beside that; so no
long-term memory is told of replays either.
"""

import re
from collections.abc import Generator, Hashable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore

from rag_rule_explainer.wrapping.asking import adriven, driven
from rag_rule_explainer.wrapping.copying import copied, described
from rag_rule_explainer.wrapping.participation import (
    Participation,
    inside_retrieval,
    participation,
)
from rag_rule_explainer.wrapping.patching import Interception
from rag_rule_explainer.wrapping.state import Same


@dataclass(slots=True, eq=False)
class Beside:
    """What one run put into a memory. ``instead``: what it set, in the place of all there was."""

    instead: list[ChatMessage] | None = None
    put: list[ChatMessage] = field(default_factory=list[ChatMessage])

    def use(self, name: str, given: Any) -> None:
        """What ``put``, ``put_messages``, ``set`` or ``reset`` does to a memory."""
        if name == "put":
            self.put.append(given)
        elif name == "put_messages":
            self.put.extend(given)
        else:
            self.instead, self.put = list(given or ()), []


def _remembering(name: str, method: Any) -> Any:
    plain = name.removeprefix("a")

    def taking_part(memory: object) -> Participation | None:
        run = participation()
        # What a memory does to carry out one of its methods is a part of that.
        return None if run is None or inside_retrieval.get() or run.state.owns(memory) else run

    @wraps(method)
    def use(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = taking_part(self)
        if run is None:
            return method(self, *args, **kwargs)
        chosen: list[Any] = []
        using = _using(run, self, plain, args, kwargs, chosen)
        return driven(using, lambda: method(chosen[0], *args, **kwargs))

    @wraps(method)
    async def ause(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = taking_part(self)
        if run is None:
            return await method(self, *args, **kwargs)
        chosen: list[Any] = []
        using = _using(run, self, plain, args, kwargs, chosen)
        return await adriven(using, lambda: method(chosen[0], *args, **kwargs))

    return ause if name.startswith("a") else use


def _using(
    run: Participation,
    memory: Any,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    chosen: list[Any],
) -> Generator[None, Any, Any]:
    """What the caller gets. Yields where the method of the ``chosen`` memory is to be called."""
    if _has_chat_store(memory):
        messages = run.state.read(_key(memory), lambda: _messages(memory))
        chosen.append(memory if run.state.live else _copy(run, memory, messages))
        return (yield)
    chosen.append(memory)
    beside: Beside = run.state.own(_key(memory), Beside)
    # What a live baseline writes is really there from then on, and is no part of what was there before.
    wrote: list[ChatMessage] = run.state.before.setdefault(_key(memory, "wrote"), [])
    if not name.startswith("get"):
        given: Any = args[0] if args else next(iter(kwargs.values()), None)
        beside.use(name, given)
        if not run.state.live:
            return None
        wrote += [given] if name == "put" else list(given or ())
        return (yield)
    if beside.instead is not None:
        return (yield) if run.state.live else [*beside.instead, *beside.put]
    key = _key(memory, name, args, kwargs)
    if run.state.live or key not in run.state.before:
        found = yield
        run.state.before.setdefault(key, copied(_without(found, wrote)))
        if run.state.live:
            return found
    return [*copied(run.state.before[key]), *beside.put]


def _without(found: list[ChatMessage], wrote: list[ChatMessage]) -> list[ChatMessage]:
    """What was found but for what was written, each message once and from the end."""
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


def _has_chat_store(memory: Any) -> bool:
    return isinstance(getattr(memory, "chat_store", None), BaseChatStore)


def _messages(memory: Any) -> list[ChatMessage]:
    return list(memory.chat_store.get_messages(memory.chat_store_key))


def _copy(run: Participation, memory: Any, messages: list[ChatMessage]) -> Any:
    def making() -> Any:
        store = SimpleChatStore(store={memory.chat_store_key: messages})
        return memory.model_copy(update={"chat_store": store})

    return run.state.own(_key(memory), making)


_USES = re.compile("a?(get|get_all|put|put_messages|set|reset)")
MEMORY = ("llama_index.core.memory.types", "BaseMemory")
INTERCEPTIONS = (Interception(*MEMORY, _USES, _remembering),)
