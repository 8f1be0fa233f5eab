"""Histories, checkpoints and memories: every run reads what the baseline read, and writes to a copy.

``RunnableWithMessageHistory``, LangGraph's checkpointers and the memories of langchain_classic are
followed. The first read of each in the baseline is kept; a run on copies starts from that, and what it
writes is gone with it.
"""

import re
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage
from typing_extensions import override

from .documents import copied, described
from .patching import Interception, intercept


@dataclass(slots=True, eq=False)
class State:
    """The state that one run sees. ``live``: it writes to the real things, as an ordinary run does.

    ``before``: what each thing held when the baseline first read it.
    """

    live: bool = False
    before: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    copies: dict[Hashable, Any] = field(default_factory=dict[Hashable, Any])
    lock: threading.RLock = field(default_factory=threading.RLock)

    def of_a_replay(self) -> "State":
        """The state of a run on copies of what this one first read."""
        return State(before=self.before)

    def read(self, key: Hashable, reading: Callable[[], Any]) -> Any:
        """What was there before; ``reading`` is asked the first time."""
        with self.lock:
            if key not in self.before:
                self.before[key] = copied(reading())
            return copied(self.before[key])

    def own(self, key: Hashable, making: Callable[[], Any]) -> Any:
        """This run's own copy."""
        with self.lock:
            if key not in self.copies:
                self.copies[key] = making()
            return self.copies[key]


class HistoryCopy(BaseChatMessageHistory):
    """A message history that starts from another one's messages; ``live`` adds to the real one too."""

    def __init__(self, real: BaseChatMessageHistory, state: State, key: Hashable) -> None:
        self._real = real
        self._state = state
        self._key = key
        self._added: list[BaseMessage] = []

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride] -- a property, as in LangChain's own histories
        """What was there before, and what this run has added."""
        return [*self._state.read(self._key, lambda: list(self._real.messages)), *self._added]

    @override
    async def aget_messages(self) -> list[BaseMessage]:
        if self._key not in self._state.before:
            self._state.before[self._key] = copied(list(await self._real.aget_messages()))
        return self.messages

    @override
    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._added.extend(messages)
        if self._state.live:
            self._real.add_messages(messages)

    @override
    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._added.extend(messages)
        if self._state.live:
            await self._real.aadd_messages(messages)

    @override
    def clear(self) -> None:
        self._state.before[self._key] = []
        self._added.clear()
        if self._state.live:
            self._real.clear()


def _current() -> State | None:
    from .participation import participation  # participation knows State

    run = participation()
    return None if run is None else run.state


def _with_history(_name: str, method: Any) -> Any:
    @wraps(method)
    def merged(self: Any, *configs: Any) -> Any:
        config, state = method(self, *configs), _current()
        if state is not None:
            configurable = config["configurable"]
            said = {key: value for key, value in configurable.items() if key != "message_history"}
            key = "history", id(self.get_session_history), described(said)
            configurable["message_history"] = HistoryCopy(configurable["message_history"], state, key)
        return config

    return merged


def _memory(name: str, method: Any) -> Any:
    """``load_memory_variables`` reads what was there before; ``save_context`` and ``clear`` do nothing."""

    def key(memory: object) -> Hashable:
        return "memory", id(memory)

    @wraps(method)
    def use(self: object, *args: Any, **kwargs: Any) -> Any:
        state = _current()
        if state is None:
            return method(self, *args, **kwargs)
        if name == "load_memory_variables":
            return state.read(key(self), lambda: method(self, *args, **kwargs))
        return method(self, *args, **kwargs) if state.live else None

    @wraps(method)
    async def ause(self: object, *args: Any, **kwargs: Any) -> Any:
        state = _current()
        if state is None:
            return await method(self, *args, **kwargs)
        if name == "aload_memory_variables":
            if key(self) not in state.before:
                state.before[key(self)] = copied(await method(self, *args, **kwargs))
            return copied(state.before[key(self)])
        return await method(self, *args, **kwargs) if state.live else None

    return ause if name.startswith("a") else use


_reading_real: ContextVar[bool] = ContextVar("rag_rule_reading_real", default=False)


@contextmanager
def _real() -> Iterator[None]:
    """Inside, checkpointers are the real ones."""
    token = _reading_real.set(True)
    try:
        yield
    finally:
        _reading_real.reset(token)


def _place(config: Mapping[str, Any]) -> tuple[str, ...]:
    configurable = config.get("configurable", {})
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return tuple(str(configurable.get(name) or "") for name in names)


def _checkpointer(name: str, method: Any) -> Any:
    """Runs on copies keep their checkpoints in a saver of their own, in memory."""

    def own(saver: Any, state: State) -> Any:
        from langgraph.checkpoint.memory import InMemorySaver  # loaded: one of its kind was called

        return state.own(("saver", id(saver)), lambda: InMemorySaver(serde=saver.serde))

    def key(saver: Any, config: Any) -> Hashable:
        return "checkpoint", id(saver), _place(config)

    def seed(saver: Any, state: State, config: Any) -> None:
        def reading() -> Any:
            with _real():
                return saver.get_tuple(config)

        found = state.read(key(saver, config), reading)
        if found is not None and not state.live:
            state.own(("seeded", key(saver, config)), lambda: _put(own(saver, state), found))

    def to_be_copied(saver: Any) -> State | None:
        state = None if _reading_real.get() else _current()
        return None if state is None or _is_ours(saver, state) else state

    @wraps(method)
    def use(self: Any, *args: Any, **kwargs: Any) -> Any:
        state, config = to_be_copied(self), args[0] if args else kwargs.get("config")
        if state is None:
            return method(self, *args, **kwargs)
        if name in _READS and config:
            seed(self, state, config)
        if state.live:
            return method(self, *args, **kwargs)
        return getattr(own(self, state), name)(*args, **kwargs)

    @wraps(method)
    async def ause(self: Any, *args: Any, **kwargs: Any) -> Any:
        state, config = to_be_copied(self), args[0] if args else kwargs.get("config")
        if state is None:
            return await method(self, *args, **kwargs)
        if name in _READS and config:
            if key(self, config) not in state.before:
                with _real():
                    state.before[key(self, config)] = copied(await self.aget_tuple(config))
            seed(self, state, config)
        if state.live:
            return await method(self, *args, **kwargs)
        return await getattr(own(self, state), name)(*args, **kwargs)

    @wraps(method)
    async def alist(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = to_be_copied(self)
        copies = state is not None and not state.live
        listing = own(self, state).alist if copies and state else method.__get__(self)
        async for each in listing(*args, **kwargs):
            yield each

    if name == "alist":
        return alist
    return ause if name.startswith("a") else use


_READS = ("get_tuple", "aget_tuple", "list", "get_delta_channel_history", "aget_delta_channel_history")


def _is_ours(saver: object, state: State) -> bool:
    return any(saver is copy for copy in state.copies.values())


def _put(saver: Any, found: Any) -> bool:
    """Puts one checkpoint with its pending writes into a saver."""
    parent = found.parent_config or {
        "configurable": {
            key: value for key, value in found.config["configurable"].items() if key != "checkpoint_id"
        }
    }
    place = saver.put(parent, found.checkpoint, found.metadata, found.checkpoint["channel_versions"])
    by_task: dict[str, list[tuple[str, Any]]] = {}
    for task, channel, value in found.pending_writes or ():
        by_task.setdefault(task, []).append((channel, value))
    for task, writes in by_task.items():
        saver.put_writes(place, writes, task)
    return True


_CHECKPOINTING = re.compile(
    "a?(get_tuple|list|put|put_writes|delete_thread|get_delta_channel_history|delete_for_runs|prune)"
)
intercept(
    [
        Interception(
            "langchain_core.runnables.history",
            "RunnableWithMessageHistory",
            re.compile("_merge_configs"),
            _with_history,
        ),
        Interception(
            "langchain_classic.base_memory",
            "BaseMemory",
            re.compile("a?(load_memory_variables|save_context|clear)"),
            _memory,
        ),
        Interception("langgraph.checkpoint.base", "BaseCheckpointSaver", _CHECKPOINTING, _checkpointer),
    ]
)
