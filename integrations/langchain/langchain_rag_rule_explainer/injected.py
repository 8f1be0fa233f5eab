"""This module notes what a tool reads of what LangGraph gives it besides the model's arguments: the state
of the graph, whether as an argument, in a runtime, or by LangGraph's configuration, and a store."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import wraps
from typing import Any, cast

from langchain_core.runnables.config import ensure_config

from rag_rule_explainer.instrumentation.clients.fields import mapping_in
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.reads_and_writes.changed_in_place import is_data_record
from rag_rule_explainer.instrumentation.reads_and_writes.field_reads import fields_read
from rag_rule_explainer.instrumentation.reads_and_writes.noted_reads import (
    GivenToTool,
    NotedReads,
    ReadEntries,
    ReadPath,
    reads_in_use,
    value_at_key,
)
from rag_rule_explainer.instrumentation.reads_and_writes.store_writes import StorePlace
from rag_rule_explainer.instrumentation.run_context import note_store_read, note_store_write, within_store

_OWN = frozenset({"callbacks", "run_manager", "config", "tool_call_id", "store"})
"""The names of arguments that belong to the call, or whose reads are noted elsewhere."""
_OF_CONFIG = ("configurable", "metadata")
"""The entries of a configuration in which an application may keep values of its own."""
_OF_RUNTIME = ("state", "context")
_RUNTIME = "__pregel_runtime"
"""The entry of LangGraph's configuration by which code writes to a stream."""
_READ = "__pregel_read"
"""The entry of LangGraph's configuration by which code reads the state of a graph."""
_CHANNEL, _STORE = "the state of the graph", "the store"


def given_besides(
    tool: object, given: Mapping[str, Any], arguments: Any, kwargs: Mapping[str, Any]
) -> GivenToTool:
    """Returns what a tool is called with. ``given``: its arguments; ``arguments``: those of the model;
    ``kwargs``: the keyword arguments of ``run``."""
    by_model = cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else given
    injected = {name: each for name, each in given.items() if name not in by_model and name not in _OWN}
    whole, places = dict[ReadPath, Any](), _places_of_config(kwargs)
    places |= {(name,): each for name, each in given.items() if type(each) is dict}
    for name, each in injected.items():
        parts = _parts_of(each, name)
        for path, value in parts.items():
            if type(value) is dict:
                places[path] = value
            else:
                whole |= _fields_of(tool, path, value)

    def look(path: ReadPath) -> object:
        if path[0] == _CHANNEL:
            return _channels(kwargs)(*cast("Any", path[1:]))
        if path[0] == _STORE:
            return _asked(given, cast("Any", path[1]))
        return value_at_key(places[path[:-1]], path[-1])

    return GivenToTool(list(given.values()), whole, look)


def _parts_of(given: Any, name: str) -> Mapping[ReadPath, Any]:
    """Returns what counts as read of an argument, by its path: of a runtime, its state and its
    context."""
    if not _is_runtime(given):
        return {(name,): given}
    return {(name, each): getattr(given, each) for each in _OF_RUNTIME}


def _fields_of(tool: object, path: ReadPath, value: Any) -> Mapping[ReadPath, Any]:
    """Returns the fields of a value that the tool may read; the value itself if it has no fields."""
    if not is_data_record(value):
        return {path: value}
    declared: Any = getattr(cast("Any", type(cast("object", value))), "model_fields", None)
    fields: dict[str, Any] = declared or vars(cast("object", value))
    read = fields_read(tool, [str(each) for each in path], fields)
    return {(*path, one): getattr(value, one) for one in read}


def _is_runtime(given: Any) -> bool:
    return all(hasattr(given, each) for each in ("state", "context", "tool_call_id", "store"))


def noting_injected(_: str, method: Any) -> Any:
    """Returns the replacement of a method that does the work of tools. It gets arguments that note which
    entries of the graph's state the tool reads."""

    @wraps(method)
    def called(tool: Any, *args: Any, **kwargs: Any) -> Any:
        return method(tool, *args, **_noting(kwargs))

    @wraps(method)
    async def acalled(tool: Any, *args: Any, **kwargs: Any) -> Any:
        return await method(tool, *args, **_noting(kwargs))

    return acalled if inspect.iscoroutinefunction(method) else called


def _noting(kwargs: dict[str, Any]) -> dict[str, Any]:
    noted = reads_in_use.get()
    if noted is None:
        return kwargs
    return {name: _noted_in(each, (name,), noted) for name, each in kwargs.items()}


def _places_of_config(kwargs: Mapping[str, Any]) -> dict[ReadPath, Any]:
    config = cast("Mapping[str, Any]", kwargs.get("config") or ensure_config())
    held = ((name, mapping_in(config.get(name))) for name in _OF_CONFIG)
    return {
        ("config", name): {key: value for key, value in each.items() if not _is_internal(key)}
        for name, each in held
    }


def _noted_in(given: Any, path: ReadPath, noted: NotedReads) -> Any:
    if path == ("config",) and type(given) is dict:
        config = cast("dict[str, Any]", given)
        held = {each: config[each] for each in _OF_CONFIG if type(config.get(each)) is dict}
        return config | {
            name: ReadEntries(each, noted, ("config", name), _is_internal) for name, each in held.items()
        }
    if type(given) is dict:
        return ReadEntries(cast("dict[Any, Any]", given), noted, path)
    if not _is_runtime(given):
        return given
    own = _with_writer(given, noted)
    for name in _OF_RUNTIME:
        held: object = getattr(given, name)
        if type(held) is dict:
            entries = ReadEntries(cast("dict[Any, Any]", held), noted, (*path, name))
            object.__setattr__(own, name, entries)
    return own


def _with_writer(runtime: Any, noted: NotedReads) -> Any:
    """Returns a copy of a runtime that notes whether code writes to the stream of the graph."""
    own = copy(runtime)
    write: Any = getattr(runtime, "stream_writer", None)
    if getattr(write, "__closure__", None) is None:  # nobody reads a stream
        return own

    def noting(each: Any) -> None:
        noted.writes_stream = True
        write(each)

    object.__setattr__(own, "stream_writer", noting)
    return own


def _is_internal(key: Any) -> bool:
    return str(key).startswith(("__", "checkpoint_", "langgraph_"))


def noting_channels(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns the keyword arguments of ``run`` with a configuration that notes which channels of the
    graph's state code reads by it, and whether it writes to a stream."""
    noted = reads_in_use.get()
    config: Any = kwargs.get("config")
    configurable: Any = mapping_in(mapping_in(config).get("configurable"))
    read: Any = configurable.get(_READ)
    if noted is None or read is None:
        return kwargs
    if _RUNTIME in configurable:
        runtime = _with_writer(configurable[_RUNTIME], noted)
        configurable = {**configurable, _RUNTIME: runtime}

    def noting(select: Any, fresh: bool = False) -> Any:
        found = read(select, fresh)
        several: Any = tuple(cast("list[str]", select)) if isinstance(select, list) else select
        noted.note((_CHANNEL, fresh, several), found)
        return found

    return {**kwargs, "config": {**config, "configurable": {**configurable, _READ: noting}}}


def _channels(kwargs: Mapping[str, Any]) -> Callable[[bool, Any], object]:
    config: Any = kwargs.get("config") or ensure_config()
    read: Any = config["configurable"][_READ]

    def reading(fresh: bool, select: Any) -> object:
        return read([*cast("tuple[str, ...]", select)] if isinstance(select, tuple) else select, fresh)

    return reading


def _batching(name: str, method: Any) -> Any:
    """Returns the replacement of a method of stores that carries out operations. It notes what a tool
    reads."""

    @wraps(method)
    def batch(store: Any, ops: Iterable[Any]) -> Any:
        asked = list(ops)
        with within_store() as is_outer:
            found = method(store, asked)
        if is_outer:
            _note(asked, found)
        return found

    @wraps(method)
    async def abatch(store: Any, ops: Iterable[Any]) -> Any:
        asked = list(ops)
        with within_store() as is_outer:
            found = await method(store, asked)
        if is_outer:
            _note(asked, found)
        return found

    return abatch if name == "abatch" else batch


def _note(ops: list[Any], found: list[Any]) -> None:
    noted = reads_in_use.get()
    for op, each in zip(ops, found, strict=True):
        if hasattr(op, "value"):
            note_store_write(_place(op), op.value)
        elif noted is not None:
            noted.note((_STORE, _Asked(op)), _without_times(each), _place(op))
        else:
            note_store_read(_place(op))


def _place(op: Any) -> StorePlace:
    """Returns the place in a store that an operation concerns; a listing concerns the whole store."""
    if hasattr(op, "key"):
        return _STORE, *op.namespace, op.key
    return _STORE, *getattr(op, "namespace_prefix", ())


class _Asked:
    """An ``_Asked`` is an operation on a store. It equals one that is written the same."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def __hash__(self) -> int:
        return hash(repr(self.op))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and repr(other.op) == repr(self.op)

    def __repr__(self) -> str:
        return "/".join(_place(self.op)[1:])


def _asked(given: Mapping[str, Any], asked: _Asked) -> object:
    stores = (getattr(each, "store", each) for each in given.values())
    found = [each for each in stores if hasattr(each, "abatch") and hasattr(each, "list_namespaces")]
    store = found[0] if found else _store_of_graph()
    (answer,) = store.batch([asked.op])
    return _without_times(answer)


def _store_of_graph() -> Any:
    # This import cannot fail, because a tool has used one of LangGraph's stores.
    from langgraph.config import get_store

    return get_store()


def _without_times(found: Any) -> object:
    if isinstance(found, list):
        return [_without_times(each) for each in cast("list[Any]", found)]
    return (found.namespace, found.key, found.value) if hasattr(found, "namespace") else found


INTERCEPTIONS = (Interception("langgraph.store.base", "BaseStore", re.compile("a?batch"), _batching),)
