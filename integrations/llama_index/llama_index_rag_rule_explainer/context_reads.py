"""This module notes what a tool reads of the state in the ``Context`` of a workflow, and what a run
writes to it."""

import re
import sys
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from typing import Any, cast
from weakref import WeakKeyDictionary

from rag_rule_explainer.instrumentation.baseline_retries import without_loop
from rag_rule_explainer.instrumentation.comparable import comparable_value
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.reads_and_writes.noted_reads import (
    MISSING_VALUE,
    GivenToTool,
    NotedReads,
    ReadEntries,
    ReadPath,
    is_read_by_user,
    reads_in_use,
    value_at_key,
)
from rag_rule_explainer.instrumentation.reads_and_writes.store_writes import StorePlace
from rag_rule_explainer.instrumentation.run_context import note_store_read, note_store_write

_STORE = "the state of the context"
_made_by: WeakKeyDictionary[Any, NotedReads | None] = WeakKeyDictionary()
"""The stores, each with the reads of the tool that made it."""
_ALL = ""
"""The path of the whole state of a context."""
_ENTRY = "an entry"
"""The path of an entry whose key may have dots in it. A dot in any other path leads to an inner value."""


def given_besides(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> GivenToTool:
    """Returns what a tool is called with, among it the context of the workflow."""

    def look(path: ReadPath) -> object:
        if path[0] != _STORE:
            raise LookupError
        store: Any = _store_in((*args, *kwargs.values()))
        if path[1] is _ENTRY:
            return value_at_key(_entries(without_loop(store.get_state())), path[2])
        if path[1] == _ALL:
            return _entries(without_loop(store.get_state()))
        return without_loop(store.get(path[1], default=MISSING_VALUE))

    return GivenToTool((args, kwargs), {}, look)


def _store_in(given: Iterable[Any]) -> Any:
    (store,) = (each.store for each in given if hasattr(each, "store") and hasattr(each, "send_event"))
    return store


def _entries(state: Any) -> Any:
    """Returns the entries of a state, which is a pydantic model, or like a dict."""
    return dict(state) if hasattr(state, "keys") else state


def _reading(name: str, method: Any) -> Any:
    @wraps(method)
    async def get(store: Any, path: str, *args: Any, **kwargs: Any) -> Any:
        noted = _noting(store)
        # A tool that is given no context may run an agent, whose own code reads the state of that agent.
        reader = sys._getframe(1).f_globals.get("__name__")  # pyright: ignore[reportPrivateUsage] -- there is no public function
        if noted is not None and (is_read_by_user(reader) or _own_store(noted) is not None):
            noted.note((_STORE, path), await method(store, path, default=MISSING_VALUE), _place_of(path))
        elif noted is None and is_read_by_user(reader):
            note_store_read(_place_of(path))
        return await method(store, path, *args, **kwargs)

    @wraps(method)
    async def get_state(store: Any) -> Any:
        found = await method(store)
        reader = sys._getframe(1).f_globals.get("__name__")  # pyright: ignore[reportPrivateUsage] -- there is no public function
        if reads_in_use.get() is not None or is_read_by_user(reader):
            _note_all(store, found)
        return found

    @wraps(method)
    @asynccontextmanager
    async def edit_state(store: Any) -> AsyncGenerator[Any, None]:
        async with method(store) as found:
            with _noting_changes(store, found), _noting_entries(store, found):
                yield found

    @wraps(method)
    def init(store: Any, *args: Any, **kwargs: Any) -> None:
        method(store, *args, **kwargs)
        _made_by[store] = reads_in_use.get()

    return {"get": get, "get_state": get_state, "edit_state": edit_state, "__init__": init}[name]


def _noting(store: Any) -> NotedReads | None:
    """Returns what notes a read of this store; None if no tool runs, or if the store is that of an agent
    or a workflow that the tool runs, whose state begins anew with each call."""
    noted = reads_in_use.get()
    if noted is not None and _made_by.get(store) is noted:
        return None
    own = None if noted is None else _own_store(noted)
    return None if own is not None and own is not store else noted


def _own_store(noted: NotedReads) -> Any:
    try:
        args, kwargs = cast("tuple[tuple[Any, ...], Mapping[str, Any]]", noted.given)
        return _store_in((*args, *kwargs.values()))
    except (AttributeError, TypeError, ValueError):  # it is given no context, or is another framework's
        return None


def _note_all(store: Any, state: Any) -> None:
    noted = _noting(store)
    if noted is not None:
        noted.note((_STORE, _ALL), _entries(state), (_STORE,))
    elif reads_in_use.get() is None:
        note_store_read((_STORE,))


def _place_of(path: str) -> StorePlace:
    return _STORE, *path.split(".")


def _writing(name: str, method: Any) -> Any:
    @wraps(method)
    async def set_value(store: Any, path: str, value: Any) -> None:
        _note_write(store, _place_of(path), value)
        await method(store, path, value)

    @wraps(method)
    async def set_state(store: Any, state: Any) -> None:
        _note_write(store, (_STORE,), _entries(state))
        await method(store, state)

    @wraps(method)
    async def clear(store: Any) -> None:
        _note_write(store, (_STORE,), None)
        await method(store)

    return {"set": set_value, "set_state": set_state, "clear": clear}[name]


def _note_write(store: Any, place: StorePlace, value: object) -> None:
    if reads_in_use.get() is None or _noting(store) is not None:
        note_store_write(place, value)


@contextmanager
def _noting_changes(store: Any, state: Any) -> Generator[None, None, None]:
    """Notes which entries of a state the block changes."""
    before = _comparable_entries(state)
    try:
        yield
    finally:
        after = _comparable_entries(state)
        for name in sorted({**before, **after}):
            if before.get(name) != after.get(name):
                _note_write(store, (_STORE, *name), after.get(name))


def _comparable_entries(state: Any) -> Mapping[StorePlace, Any]:
    entries = _entries(state)
    if isinstance(entries, dict):
        held = cast("dict[Any, Any]", entries)
        return {(str(name),): comparable_value(each) for name, each in held.items()}
    return {(): comparable_value(entries)}


@contextmanager
def _noting_entries(store: Any, state: Any) -> Generator[None, None, None]:
    """Notes which entries of a state the code in the block reads. Of a state that has fields, all count
    as read."""
    noted, entries = _noting(store), getattr(state, "_data", None)
    if noted is None or type(entries) is not dict or type(state).model_fields:
        _note_all(store, state)
        yield
        return
    state._data = ReadEntries(cast("dict[Any, Any]", entries), noted, (_STORE, _ENTRY), place=(_STORE,))
    try:
        yield
    finally:
        state._data = entries


_READS = ("get", "get_state", "edit_state")
_WRITES = ("set", "set_state", "clear")
INTERCEPTIONS = (
    Interception(
        "workflows.context.state_store",
        "InMemoryStateStore",
        re.compile("|".join((*_READS, "__init__"))),
        _reading,
        inherited=_READS,
    ),
    Interception(
        "workflows.context.state_store",
        "InMemoryStateStore",
        re.compile("|".join(_WRITES)),
        _writing,
        inherited=_WRITES,
    ),
)
