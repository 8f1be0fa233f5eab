"""This module notes what a tool reads of the state in the ``Context`` of a workflow."""

import re
import sys
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from typing import Any, cast
from weakref import WeakKeyDictionary

from rag_rule_explainer.instrumentation.baseline_retries import without_loop
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.noted_reads import (
    MISSING_VALUE,
    GivenToTool,
    NotedReads,
    ReadEntries,
    ReadPath,
    is_read_by_user,
    reads_in_use,
    value_at_key,
)

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
            noted.note((_STORE, path), await method(store, path, default=MISSING_VALUE))
        return await method(store, path, *args, **kwargs)

    @wraps(method)
    async def get_state(store: Any) -> Any:
        found = await method(store)
        _note_all(store, found)
        return found

    @wraps(method)
    @asynccontextmanager
    async def edit_state(store: Any) -> AsyncGenerator[Any, None]:
        async with method(store) as found:
            with _noting_entries(store, found):
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
        noted.note((_STORE, _ALL), _entries(state))


@contextmanager
def _noting_entries(store: Any, state: Any) -> Generator[None, None, None]:
    """Notes which entries of a state the code in the block reads. Of a state that has fields, all count
    as read."""
    noted, entries = _noting(store), getattr(state, "_data", None)
    if noted is None or type(entries) is not dict or type(state).model_fields:
        _note_all(store, state)
        yield
        return
    state._data = ReadEntries(cast("dict[Any, Any]", entries), noted, (_STORE, _ENTRY))
    try:
        yield
    finally:
        state._data = entries


_READS = ("get", "get_state", "edit_state")
INTERCEPTIONS = (
    Interception(
        "workflows.context.state_store",
        "InMemoryStateStore",
        re.compile("|".join((*_READS, "__init__"))),
        _reading,
        inherited=_READS,
    ),
)
