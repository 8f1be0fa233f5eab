"""This module converts the content of a checkpointer or a long-term store to data that are equal for
equal conversations, in every process. It replaces ids, times and versions that are different in each
run."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import BaseMessage

from rag_rule_explainer.instrumentation.isolation.redirecting import Original

_RANDOM = re.compile(
    r"(?:[a-z]+[-_]+)*[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}(?:-\d+)?", re.IGNORECASE
)
"""The ids that LangChain and LangGraph generate in each run: a UUID, perhaps with more around it, as in
``lc_run--<uuid>-0``."""
_OF_ID = re.compile(r"(?:^|_)ids?$|I[dD]s?$", re.ASCII)
"""Matches the names of fields that hold ids, such as ``tool_call_id`` and ``requestId``."""
_CALLS = ("tool_calls", "invalid_tool_calls")
_WRITTEN = ("args", "arguments", "input", "text", "artifact")
"""The parts of a message that a model, a tool or a user wrote. Nothing in them is taken for an id."""
_ITEM = ("langgraph.store.base", "Item")
_MADE_ANEW = ("checkpoint_id", "run_id")


def lasting_content(remembered: Any) -> Any:
    """Returns checkpoints, and the items of a long-term store, without the ids and times that LangGraph
    generates whenever it saves one. Returns any other object unchanged.

    The ids of messages and of tool calls become numbers, in the order of their first appearance, if they
    are UUIDs. Ids that the application chose, and the thread id, stay.
    """
    items = _items_of(remembered)
    if items is not None:
        return items
    is_list = isinstance(cast("object", remembered), list)
    saved = cast("list[Any]", remembered if is_list else [remembered])
    if not saved or not all(_is(each, "langgraph.checkpoint.base", "CheckpointTuple") for each in saved):
        return remembered
    lasting = _Lasting()
    try:
        return [lasting.checkpoint(each) for each in saved]
    except RecursionError:  # raised for a value that contains itself, or that is nested too deeply
        return remembered


def _items_of(remembered: Any) -> list[Any] | None:
    """Returns the content of a long-term store without the times of its items; None if ``remembered`` is
    not the content of a long-term store."""
    if isinstance(remembered, Original):
        return _in_memory(remembered.twin)
    items = cast("dict[Any, Any]", remembered) if type(remembered) is dict else {}
    if not items or not all(each is None or _is(each, *_ITEM) for each in items.values()):
        return None
    return [[place, None if each is None else each.value] for place, each in items.items()]


def _in_memory(store: Any) -> list[Any] | None:
    """Returns the content of an ``InMemoryStore``, in the order in which it was filled, because a search
    finds items in this order; None for any other object."""
    if not _is(store, "langgraph.store.memory", "InMemoryStore"):
        return None
    held = [(name, key, each) for name, found in store._data.items() for key, each in found.items()]
    index = {name: getattr(store, name, None) for name in ("index_config", "_vectors")}
    return [*([name, key, each.value] for name, key, each in held), index]


class _Lasting:
    """A ``_Lasting`` converts one checkpoint. It has a number for each generated id in the checkpoint."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def checkpoint(self, saved: Any) -> dict[str, Any]:
        """Returns the entries of a checkpoint that do not differ from run to run."""
        made_anew = {"id", "ts"}
        held = {name: each for name, each in saved.checkpoint.items() if name not in made_anew}
        values = held.pop("channel_values", None)
        versions = [
            _without_chance(held.pop(name, None)) for name in ("channel_versions", "versions_seen")
        ]
        metadata = self._settled(dict(saved.metadata or {}))
        parents = metadata.get("parents")
        if isinstance(parents, Mapping):
            metadata["parents"] = sorted(map(str, cast("Mapping[object, object]", parents)))
        return {
            "config": self._settled(dict(saved.config.get("configurable", {}))),
            "is_first": saved.parent_config is None,
            "values": self.of(values),
            "versions": versions,
            "rest": self.of(held),
            "metadata": metadata,
            "writes": [
                [self._number(str(task)), channel, self.of(value)]
                for task, channel, value in saved.pending_writes or ()
            ],
        }

    def of(self, value: Any) -> Any:
        """Returns a value from a graph's state, with numbers in place of the random ids of its
        messages."""
        if isinstance(value, BaseMessage):
            return self._message(value)
        if type(value) is dict:
            return {name: self.of(each) for name, each in cast("dict[Any, Any]", value).items()}
        if type(value) in (list, tuple):
            return [self.of(each) for each in cast("Sequence[Any]", value)]
        if _is(value, "langgraph.types", "Interrupt"):
            # The id of the interrupt is left out, because it is derived from the checkpoint's id, which
            # differs in each run.
            return ["interrupt", self.of(value.value)]
        if _is(value, "langgraph.types", "Send"):
            return ["send", value.node, self.of(value.arg)]
        return value

    def _message(self, message: BaseMessage) -> list[Any]:
        fields = {**vars(message), **(message.__pydantic_extra__ or {})}
        calls = [call for name in _CALLS for call in fields.get(name) or ()]
        for identity in (message.id, *(call.get("id") for call in calls), fields.get("tool_call_id")):
            if isinstance(identity, str) and _RANDOM.fullmatch(identity):
                self._number(identity)
        return ["message", type(message).__module__, type(message).__qualname__, self._renamed(fields)]

    def _renamed(self, value: Any, *, is_id: bool = False) -> Any:
        """Returns a value from a message, such as a text, a list or a dict. Each text in it that is a
        random id is replaced by the number of this id. ``is_id``: True if the value itself is in a field
        that holds ids."""
        if isinstance(value, str):
            return ["id", self._numbers[value]] if is_id and value in self._numbers else value
        if type(value) is dict:
            parts = cast("dict[Any, Any]", value)
            return {
                name: each if _is_said(name) else self._renamed(each, is_id=_is_of_id(name))
                for name, each in parts.items()
            }
        if type(value) in (list, tuple):
            return [self._renamed(each, is_id=is_id) for each in cast("Sequence[Any]", value)]
        return self.of(value)

    def _number(self, identity: str) -> int:
        return self._numbers.setdefault(identity, len(self._numbers))

    def _settled(self, entries: dict[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in entries.items() if name not in _MADE_ANEW}


def _is_said(name: object) -> bool:
    return name in _WRITTEN


def _is_of_id(name: object) -> bool:
    return isinstance(name, str) and _OF_ID.search(name) is not None


def _without_chance(versions: Any) -> Any:
    """Returns the versions of the parts of a graph's state. The random number that LangGraph appends to
    each version is removed."""
    if isinstance(versions, Mapping):
        parts = cast("Mapping[Any, Any]", versions)
        return {name: _without_chance(each) for name, each in parts.items()}
    return versions.split(".")[0] if isinstance(versions, str) else versions


def _is(value: object, module: str, name: str) -> bool:
    """Returns True iff the value is of this class. The class is not imported, because LangGraph may be
    missing."""
    return (type(value).__module__, type(value).__qualname__) == (module, name)
