"""This module isolates key-value stores, in which document stores, index stores and caches keep data.

Every run finds the values from before the first run, and no other run finds the values that it writes.
This holds for stores in memory and for all other stores.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from llama_index.core.storage.kvstore.types import MutableMappingKVStore

from rag_rule_explainer import StateShared
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.attributes import born, data_copy, shared_key_of
from rag_rule_explainer.instrumentation.isolation.isolating import MADE, Real, Use, arguments
from rag_rule_explainer.instrumentation.run_context import refused

from .uses import Replacement, with_a

StoredPlace: TypeAlias = tuple[str, str]
"""The name of a collection, and a key in it."""


@dataclass(slots=True, eq=False)
class Before:
    """A ``Before`` holds the content of a store from before the first run, as far as it was read.

    ``values``: the values that were read by single keys. ``collections``: the collections that were read
    as a whole.
    """

    values: dict[StoredPlace, Any] = field(default_factory=dict[StoredPlace, Any])
    collections: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


def _wrapping(name: str, method: Any) -> Any:
    if name == "__init__":
        return born(method, outside=True)
    is_async = name in ("aput", "aput_all", "aget", "aget_all", "adelete")
    plain = name.removeprefix("a") if is_async else name
    return Replacement(_using, plain, with_a, _is_inside).of(method, is_async=is_async)


def _using(
    state: State, store: Any, name: str, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Use:
    key = "key-values", shared_key_of(state, store)
    before: Before = state.kept(key, Before)
    # The values that this run has put, by collection and key; None for a key that it has deleted.
    own: dict[StoredPlace, Any] = state.own(key, dict)
    if name in ("persist", "to_dict"):
        return (yield from _whole(state, store, name, own))
    given = arguments(method, store, *args, **kwargs)
    collection: str = given["collection"]
    if state.live:
        yield from _noted(store, before, name, given)
        return (yield MADE)
    if name == "get_all":
        return (yield from _all(store, before, own, collection))
    if name in ("put", "put_all"):
        pairs = given["kv_pairs"] if name == "put_all" else [(given["key"], given["val"])]
        own.update({(collection, key): data_copy(value) for key, value in pairs})
        return None
    place: StoredPlace = collection, given["key"]
    found = own[place] if place in own else (yield from _one(store, before, place))
    if name == "get":
        return data_copy(found)
    own[place] = None
    return found is not None


def _whole(state: State, store: object, name: str, own: dict[StoredPlace, Any]) -> Use:
    if state.live:
        return (yield MADE)
    if name == "persist":
        return None  # this is a replay, which must not write a file
    if own:
        seen = f"{type(store).__name__}.to_dict was called after something had been put there"
        raise refused(StateShared(seen))
    return (yield MADE)


def _noted(store: object, before: Before, name: str, given: dict[str, Any]) -> Generator[Real, Any, None]:
    """Stores the values that a run is about to read or overwrite in the real store, so that replays find
    them. The run is one that the user made (no replay)."""
    collection = given["collection"]
    if name == "get_all":
        yield from _everything(store, before, collection)
        return
    keys = [key for key, _ in given["kv_pairs"]] if name == "put_all" else [given["key"]]
    for key in keys:
        yield from _one(store, before, (collection, key))


def _one(store: object, before: Before, place: StoredPlace) -> Generator[Real, Any, Any]:
    """Returns the value that a key had before the first run.

    If the value is not known yet, this generator yields the call that reads it from the real store. The
    code that runs the generator makes the call and sends back its result.
    """
    collection, key = place
    if collection in before.collections:
        return before.collections[collection].get(key)
    if place not in before.values:
        found = None if _is_missing(store, collection) else (yield Real("get", (key, collection)))
        before.values.setdefault(place, data_copy(found))
    return before.values[place]


def _everything(store: object, before: Before, collection: str) -> Generator[Real, Any, dict[str, Any]]:
    """Returns the content that a collection had before the first run.

    If it is not known yet, this generator yields the call that reads it from the real store. The code
    that runs the generator makes the call and sends back its result.
    """
    if collection not in before.collections:
        found = {} if _is_missing(store, collection) else (yield Real("get_all", (collection,)))
        every = data_copy(dict(found))
        for (where, key), value in list(before.values.items()):
            if where == collection:
                _put(every, key, value)
        before.collections.setdefault(collection, every)
    return before.collections[collection]


def _all(
    store: object, before: Before, own: dict[StoredPlace, Any], collection: str
) -> Generator[Real, Any, dict[str, Any]]:
    every: dict[str, Any] = data_copy((yield from _everything(store, before, collection)))
    for (where, key), value in list(own.items()):
        if where == collection:
            _put(every, key, data_copy(value))
    return every


def _put(every: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        every.pop(key, None)
    else:
        every[key] = value


def _is_inside(store: object) -> bool:
    return isinstance(store, MutableMappingKVStore)


def _is_missing(store: object, collection: str) -> bool:
    """Returns True iff a store in memory lacks the collection. The collection is then not read, because
    reading it would create it."""
    if not isinstance(store, MutableMappingKVStore):
        return False
    return collection not in store._collections_mappings  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType] -- no public attribute holds the collections


KEY_VALUE_STORE = ("llama_index.core.storage.kvstore.types", "BaseKVStore")
_USES = re.compile("__init__|a?(get|get_all|put|put_all|delete)|persist|to_dict")
INTERCEPTIONS = (Interception(*KEY_VALUE_STORE, _USES, _wrapping, added=("__init__",)),)
