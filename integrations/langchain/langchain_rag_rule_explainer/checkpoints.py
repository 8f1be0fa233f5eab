"""LangGraph's checkpointers: runs on copies keep their checkpoints in savers of their own, in memory."""

import re
from collections.abc import Generator, Hashable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from rag_rule_explainer.wrapping.participation import participation
from rag_rule_explainer.wrapping.patching import Interception
from rag_rule_explainer.wrapping.state import State

_METHODS = re.compile(
    "list|a?(get_tuple|put|put_writes|delete_thread|delete_for_runs|get_delta_channel_history)"
)
_READS = re.compile("list|a?(get_tuple|get_delta_channel_history)")
_reading_real: ContextVar[bool] = ContextVar("rag_rule_reading_real", default=False)


def _saving(name: str, method: Any) -> Any:
    @wraps(method)
    def use(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = _state(self)
        if state is None:
            return method(self, *args, **kwargs)
        config = args[0] if args else kwargs.get("config")
        if config and _READS.fullmatch(name):
            found = state.read(checkpoint_key(self, config), lambda: real_checkpoint(self, config))
            _seed(self, state, config, found)
        return method(self, *args, **kwargs) if state.live else _call(self, state, name, args, kwargs)

    @wraps(method)
    async def ause(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = _state(self)
        if state is None:
            return await method(self, *args, **kwargs)
        config = args[0] if args else kwargs.get("config")
        if config and _READS.fullmatch(name):
            found = await state.aread(checkpoint_key(self, config), lambda: _areal(self, config))
            _seed(self, state, config, found)
        if state.live:
            return await method(self, *args, **kwargs)
        return await _call(self, state, name, args, kwargs)

    return ause if name.startswith("a") else use


def _listing(name: str, method: Any) -> Any:
    @wraps(method)
    async def alist(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = _state(self)
        copied = state is not None and not state.live
        own = _call(self, state, name, args, kwargs) if copied and state else None
        async for each in method(self, *args, **kwargs) if own is None else own:
            yield each

    return alist


def checkpoint_key(saver: object, config: Mapping[str, Any]) -> Hashable:
    """How one place in one checkpointer is recognised by every run."""
    configurable = config.get("configurable", {})
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    return "checkpoint", id(saver), tuple(str(configurable.get(name) or "") for name in names)


def real_checkpoint(saver: Any, config: Mapping[str, Any]) -> Any:
    """What the real saver holds at a place."""
    with _real():
        return saver.get_tuple(config)


async def _areal(saver: Any, config: Mapping[str, Any]) -> Any:
    with _real():
        return await saver.aget_tuple(config)


@contextmanager
def _real() -> Generator[None, None, None]:
    token = _reading_real.set(True)
    try:
        yield
    finally:
        _reading_real.reset(token)


def _state(saver: object) -> State | None:
    run = None if _reading_real.get() else participation()
    return None if run is None or run.state.owns(saver) else run.state


def _own(saver: Any, state: State) -> Any:
    from langgraph.checkpoint.memory import InMemorySaver  # there, as one of its kind was called

    return state.own(("saver", id(saver)), lambda: InMemorySaver(serde=saver.serde))


def _call(saver: Any, state: State, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return getattr(_own(saver, state), name)(*args, **kwargs)


def _seed(saver: Any, state: State, config: Mapping[str, Any], found: Any) -> None:
    """Puts what was there before into the run's own saver, once."""
    if found is not None and not state.live:
        own = _own(saver, state)
        state.own(("seeded", checkpoint_key(saver, config)), lambda: _put(own, found))


def _put(saver: Any, found: Any) -> bool:
    place = {**found.config["configurable"]}
    place.pop("checkpoint_id", None)
    parent = found.parent_config or {"configurable": place}
    put = saver.put(parent, found.checkpoint, found.metadata, found.checkpoint["channel_versions"])
    by_task: dict[str, list[tuple[str, Any]]] = {}
    for task, channel, value in found.pending_writes or ():
        by_task.setdefault(task, []).append((channel, value))
    for task, writes in by_task.items():
        saver.put_writes(put, writes, task)
    return True


_SAVER = ("langgraph.checkpoint.base", "BaseCheckpointSaver")
INTERCEPTIONS = (
    Interception(*_SAVER, _METHODS, _saving),
    Interception(*_SAVER, re.compile("alist"), _listing),
)
