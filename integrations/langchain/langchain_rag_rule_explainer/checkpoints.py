"""This module isolates LangGraph's checkpointers. Each replay gets a checkpointer of its own in memory.

It starts with the checkpoints that the real checkpointer had before the baseline.
"""

import re
from collections.abc import Generator, Hashable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import births, known_as, shared_state
from rag_rule_explainer.instrumentation.run_context import participation

from .ordinary import state_of_current_run

_METHODS = re.compile(
    "list|a?(get_tuple|put|put_writes|delete_thread|delete_for_runs|get_delta_channel_history|"
    "copy_thread|prune)"
)
_WHOLE = re.compile("list|delete_thread|delete_for_runs|get_delta_channel_history")
"""The methods that read or change all checkpoints of a thread, or of all threads. Before such a call, all
these checkpoints are copied to the run's own checkpointer."""

_SEVERAL = re.compile("a?(copy_thread|prune)")
"""The methods that change several threads. A replay that calls one of them raises StateShared, because
its own checkpointer holds only the checkpoints that the replay has used."""
_reading_real: ContextVar[bool] = ContextVar("rag_rule_reading_real", default=False)


def _saving(name: str, method: Any) -> Any:
    plain = name.removeprefix("a")

    @wraps(method)
    def use(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = _state(self)
        if state is None:
            return method(self, *args, **kwargs)
        _read(self, state, plain, _config(plain, args, kwargs))
        if state.live:
            return _noted(self, state, plain, method(self, *args, **kwargs))
        return _call(self, state, name, args, kwargs)

    @wraps(method)
    async def ause(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = _state(self)
        if state is None:
            return await method(self, *args, **kwargs)
        await _aread(self, state, plain, _config(plain, args, kwargs))
        if state.live:
            return _noted(self, state, plain, await method(self, *args, **kwargs))
        return await _call(self, state, name, args, kwargs)

    return ause if name.startswith("a") else use


def _read(saver: Any, state: State, name: str, config: Any) -> None:
    """Copies all checkpoints that a call of the method ``name`` with this config may read. They are
    copied from the real checkpointer to the checkpointer of the current run."""
    if _WHOLE.fullmatch(name):
        found = state.read(_whole_key(state, saver, config), lambda: _all(saver, config))
        _seed_all(saver, state, config, found)
    elif name == "get_tuple" and not _is_whole(saver, state, config):
        key = checkpoint_key(state, saver, config)
        _seed(saver, state, config, state.read(key, lambda: real_checkpoint(saver, config)))


async def _aread(saver: Any, state: State, name: str, config: Any) -> None:
    if _WHOLE.fullmatch(name):
        found = await state.aread(_whole_key(state, saver, config), lambda: _aall(saver, config))
        _seed_all(saver, state, config, found)
    elif name == "get_tuple" and not _is_whole(saver, state, config):
        key = checkpoint_key(state, saver, config)
        _seed(saver, state, config, await state.aread(key, lambda: _areal(saver, config)))


def _listing(name: str, method: Any) -> Any:
    @wraps(method)
    async def alist(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = _state(self)
        found = method(self, *args, **kwargs)
        if state is not None:
            await _aread(self, state, "list", _config("list", args, kwargs))
            found = found if state.live else _call(self, state, name, args, kwargs)
        async for each in found:
            yield each

    return alist


def _config(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the config whose thread id and checkpoint id a call uses; None if the call is about all
    threads."""
    if name == "delete_thread":
        thread = args[0] if args else kwargs.get("thread_id")
        return {"configurable": {"thread_id": str(thread)}}
    if name == "delete_for_runs":
        return None
    return args[0] if args else kwargs.get("config")


def checkpoint_key(state: State, saver: object, config: Mapping[str, Any]) -> Hashable:
    """Returns the key of one checkpoint in a ``State`` (the content of stores before the baseline). The
    key is the same in every run, so a replay finds the checkpoint that the baseline stored."""
    configurable = config.get("configurable", {})
    names = ("thread_id", "checkpoint_ns", "checkpoint_id")
    place = tuple(str(configurable.get(name) or "") for name in names)
    return "checkpoint", known_as(state, saver), place


def _whole_key(state: State, saver: object, config: Any) -> Hashable:
    return "thread", known_as(state, saver), _thread(config)


def _thread(config: Any) -> str | None:
    configurable: Mapping[str, Any] = dict(config or {}).get("configurable") or {}
    thread = configurable.get("thread_id")
    return None if thread is None else str(thread)


def _is_whole(saver: object, state: State, config: Any) -> bool:
    """Returns True iff all checkpoints of the config's thread (of all threads if ``config`` is None)
    have been copied to the run's own checkpointer."""
    keys = (_whole_key(state, saver, each) for each in (config, None))
    return any(state.owned(key) is not None for key in keys)


def real_checkpoint(saver: Any, config: Mapping[str, Any]) -> Any:
    """Returns the checkpoint that the real checkpointer has for a config; None if there is none."""
    with _real():
        return saver.get_tuple(config)


async def _areal(saver: Any, config: Mapping[str, Any]) -> Any:
    with _real():
        return await saver.aget_tuple(config)


def _of_thread(config: Any) -> Any:
    thread = _thread(config)
    return None if thread is None else {"configurable": {"thread_id": thread}}


def _all(saver: Any, config: Any) -> list[Any]:
    with _real():
        return list(saver.list(_of_thread(config)))


async def _aall(saver: Any, config: Any) -> list[Any]:
    with _real():
        return [each async for each in saver.alist(_of_thread(config))]


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
    from langgraph.checkpoint.memory import (
        InMemorySaver,  # this import cannot fail, because the application has a LangGraph checkpointer
    )

    return state.own(("saver", known_as(state, saver)), lambda: InMemorySaver(serde=saver.serde))


def _call(saver: Any, state: State, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _SEVERAL.fullmatch(name):
        raise shared_state(
            f"the application called {name} of its {type(saver).__name__}, which cannot be done in a copy"
        )
    return getattr(_own(saver, state), name)(*args, **kwargs)


def _noted(saver: Any, state: State, name: str, result: Any) -> Any:
    """Returns the result of a call in a run that the user made. Records which checkpoint the call saved,
    so that replays do not find this checkpoint."""
    if name == "put" and result:
        _put_live(saver, state).add(result["configurable"]["checkpoint_id"])
    return result


def _put_live(saver: Any, state: State) -> set[str]:
    return state.aside.setdefault(("put", known_as(state, saver)), set())


def _seed(saver: Any, state: State, config: Mapping[str, Any], found: Any) -> None:
    """Copies the checkpoint ``found`` to the run's own checkpointer, if this run has not copied it yet.

    ``found``: the checkpoint to which ``config`` referred before the baseline; None if there was none. A
    run that the user made uses the real checkpointer, so nothing is copied for it.
    """
    if found is not None and not state.live:
        own = _own(saver, state)
        state.own(("seeded", checkpoint_key(state, saver, config)), lambda: _put(own, found))


def _seed_all(saver: Any, state: State, config: Any, found: list[Any]) -> None:
    if state.live:
        return
    own, new = _own(saver, state), _put_live(saver, state)
    # If this run has already copied all checkpoints, none is copied now: a second copy would bring back
    # the checkpoints that the run has deleted.
    missing = [] if _is_whole(saver, state, None) else found
    old = [each for each in reversed(missing) if each.config["configurable"]["checkpoint_id"] not in new]
    state.own(_whole_key(state, saver, config), lambda: [_put(own, each) for each in old])


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


def _birth(_name: str, method: Any) -> Any:
    # Two checkpointers that runs made with equal arguments count as the same checkpointer. This would be
    # wrong for checkpointers in memory, whose content may differ although their arguments are equal.
    in_memory = method.__module__ == "langgraph.checkpoint.memory"
    return method if in_memory else births(state_of_current_run)(method)


_SAVER = ("langgraph.checkpoint.base", "BaseCheckpointSaver")
INTERCEPTIONS = (
    Interception(*_SAVER, _METHODS, _saving),
    Interception(*_SAVER, re.compile("alist"), _listing),
    Interception(*_SAVER, re.compile("__init__"), _birth),
)
