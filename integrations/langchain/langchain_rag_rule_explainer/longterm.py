"""This module isolates LangGraph's long-term stores. Each run starts with the items before the baseline.

A store in memory is copied for each run. Of any other store, each item is read once. A run then finds
this item, unless the run itself has written it. After a write, a replay may not search the store by
meaning, because the result of such a search cannot be computed without the real store.
"""

import re
from collections.abc import Generator, Hashable, Iterable
from copy import copy
from functools import cache, cached_property
from typing import Any, cast

from rag_rule_explainer.instrumentation.checks import type_said
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import (
    Isolation,
    Overlay,
    in_memory,
    shared_state,
)

from .keyvalues import athrough, through
from .ordinary import state_of_current_run
from .overlays import MethodsOverlay
from .remembered import TWINS

_PAGE = 1000
_ItemKey = tuple[tuple[str, ...], str]
"""The namespace of an item, and its key in the namespace."""


def _overlay(real: Any, state: State, key: Hashable) -> Overlay:
    return _overlay_class()(real, state, key)


@cache
def _overlay_class() -> Any:
    # This import cannot fail, because the application uses one of LangGraph's stores.
    from langgraph.store.base import BaseStore

    class StoreOverlay(_Operations, BaseStore):
        """This overlay has all methods of a store. It inherits them from ``BaseStore``, where they
        call ``batch``."""

    return StoreOverlay


class _Operations(MethodsOverlay):
    """This class carries out the operations on a long-term store for one run.

    Only a run that the user made (no replay) uses the real store directly.
    """

    def __init__(self, real: Any, state: State, key: Hashable) -> None:
        super().__init__(real, state)
        self._state = state
        # The items before the baseline; None for a key that had no item.
        self._before: dict[_ItemKey, Any] = state.before.setdefault(key, {})
        # The keys of the items that the user's own run has written to the real store. Replays do not find
        # these new items, but the values in ``_before``.
        self._written: set[_ItemKey] = state.aside.setdefault(("written", key), set())
        self._own: dict[_ItemKey, Any] = {}
        # Copies of the items in ``_before``. The application gets these copies, because it may change the
        # items that it reads.
        self._read: dict[_ItemKey, Any] = {}

    @cached_property
    def _kinds(self) -> Any:
        from langgraph.store import base

        return base

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Carries out the operations for this run, and returns their results."""
        return through(self._all(list(ops)), self._call_real)

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Carries out the operations for this run, and returns their results. Calls async methods in the
        caller's event loop."""
        return await athrough(self._all(list(ops)), self._call_real)

    def _call_real(self, ops: list[Any], prefix: str) -> Any:
        return getattr(self._real, prefix + "batch")(ops)

    def _all(self, ops: list[Any]) -> Generator[list[Any], Any, list[Any]]:
        if self._live:
            places = [(op.namespace, op.key) for op in ops if hasattr(op, "key")]
            yield from self._keep(places)
            self._written.update((op.namespace, op.key) for op in ops if hasattr(op, "value"))
            return (yield ops)
        found: list[Any] = []
        puts = [op for op in ops if isinstance(op, self._kinds.PutOp)]
        for op in ops:
            if isinstance(op, self._kinds.GetOp):
                place = (op.namespace, op.key)
                yield from self._keep([place])
                found.append(self._item(place))
            elif isinstance(op, self._kinds.PutOp):
                found.append(None)
            else:
                found.append((yield from self._listed(op)))
        for op in puts:
            yield from self._put(op)
        return found

    def _item(self, place: _ItemKey) -> Any:
        if place in self._own:
            return self._own[place]
        if place not in self._read:
            self._read[place] = self._left_of(copied(self._before[place]))
        return self._read[place]

    def _left_of(self, item: Any) -> Any:
        """Returns a copy of an item of the store without the texts of the sources that the current
        replay omits. Returns the item itself if it has no such text."""
        value = getattr(item, "value", None)
        left = self._state.edited(value)
        if left is not value:
            item = copy(item)
            item.value = left
        return item

    def _put(self, op: Any) -> Generator[list[Any], Any, None]:
        from langgraph.store.memory import InMemoryStore

        place = op.namespace, op.key
        yield from self._keep([place])
        holder = InMemoryStore()
        item = self._item(place)
        if item is not None:
            _data(holder)[op.namespace][op.key] = item
        holder.batch([op])
        self._own[place] = _data(holder)[op.namespace].get(op.key)

    def _keep(self, places: Iterable[_ItemKey]) -> Generator[list[Any], Any, None]:
        unknown = [place for place in dict.fromkeys(places) if place not in self._before]
        if unknown:
            found = yield [self._kinds.GetOp(*place) for place in unknown]
            for place, item in zip(unknown, found, strict=True):
                self._before.setdefault(place, item)

    def _listed(self, op: Any) -> Generator[list[Any], Any, Any]:
        """Returns the result of a search for items, or of a listing of namespaces. It covers only the
        items that exist for this run."""
        if not self._own and not self._written:
            (found,) = yield [op]
            return (
                list(map(self._left_of, cast("list[Any]", found))) if isinstance(found, list) else found
            )
        if getattr(op, "query", None):
            raise shared_state(
                f"{type_said(self._real)} was written to and then searched by meaning, and what it "
                "would find in a copy cannot be told"
            )
        from langgraph.store.memory import InMemoryStore

        holder = InMemoryStore()
        for item in (yield from self._everything(getattr(op, "namespace_prefix", ()))):
            _data(holder)[item.namespace][item.key] = item
        changed = {place: self._before[place] for place in self._written} | self._own
        for (namespace, key), item in changed.items():
            if item is None:
                _data(holder)[namespace].pop(key, None)
            else:
                _data(holder)[namespace][key] = item
        for namespace in [each for each, items in _data(holder).items() if not items]:
            del _data(holder)[namespace]
        return holder.batch([op])[0]

    def _everything(self, prefix: tuple[str, ...]) -> Generator[list[Any], Any, list[Any]]:
        items: list[Any] = []
        while True:
            (page,) = yield [self._kinds.SearchOp(prefix, None, _PAGE, len(items))]
            items += page
            if len(page) < _PAGE:
                return items


def _data(holder: Any) -> dict[tuple[str, ...], dict[str, Any]]:
    return holder._data


INTERCEPTIONS = (
    Isolation(
        module="langgraph.store.base",
        owner="BaseStore",
        state=state_of_current_run,
        twins=TWINS,
        overlay=_overlay,
        overlaid=re.compile("a?(get|search|put|delete|list_namespaces|batch)"),
        writes=re.compile("a?(put|delete|batch)"),
        owns_born=in_memory,
    ).interception,
)
