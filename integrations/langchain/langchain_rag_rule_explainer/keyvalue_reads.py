"""This module notes which keys of LangChain's key-value stores code reads and writes."""

import inspect
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.reads_and_writes.noted_reads import note_store_place
from rag_rule_explainer.instrumentation.reads_and_writes.store_writes import StorePlace
from rag_rule_explainer.instrumentation.run_context import note_store_read, note_store_write, within_store

_STORE = "the key-value store"


def _note_reads(keys: Iterable[Any]) -> None:
    for each in keys:
        _note_read((_STORE, str(each)))


def _note_read(place: StorePlace) -> None:
    if not note_store_place(place):
        note_store_read(place)


def _note(name: str, given: Any) -> None:
    """Notes a call of a method. ``given``: its first argument, the keys or the pairs of keys and
    values."""
    if name.endswith("mget"):
        _note_reads(given)
    elif name.endswith("mdelete"):
        for each in given:
            note_store_write((_STORE, str(each)), None)
    else:
        for key, value in given:
            note_store_write((_STORE, str(key)), value)


def _noting(name: str, method: Any) -> Any:
    if name.endswith("yield_keys"):
        return _listing(method)

    @wraps(method)
    def called(store: Any, given: Any, *args: Any, **kwargs: Any) -> Any:
        each = list(given)
        with within_store() as is_outer:
            if is_outer:
                _note(name, each)
            return method(store, each, *args, **kwargs)

    @wraps(method)
    async def acalled(store: Any, given: Any, *args: Any, **kwargs: Any) -> Any:
        each = list(given)
        with within_store() as is_outer:
            if is_outer:
                _note(name, each)
            return await method(store, each, *args, **kwargs)

    return acalled if inspect.iscoroutinefunction(method) else called


def _listing(method: Any) -> Any:
    @wraps(method)
    def listed(*args: Any, **kwargs: Any) -> Iterator[Any]:
        _note_read((_STORE,))
        yield from method(*args, **kwargs)

    @wraps(method)
    async def alisted(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        _note_read((_STORE,))
        async for each in method(*args, **kwargs):
            yield each

    return alisted if inspect.isasyncgenfunction(method) else listed


INTERCEPTIONS = (
    Interception(
        "langchain_core.stores",
        "BaseStore",
        re.compile("a?(mget|mset|mdelete|yield_keys)"),
        _noting,
    ),
)
