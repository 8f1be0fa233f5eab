"""This module isolates LangChain's key-value stores. Each run starts with the values before the baseline.

A store in memory is copied for each run. Of any other store, each key is read once. A run then finds this
value, unless the run itself has written or deleted the key.
"""

import re
from collections.abc import AsyncIterator, Callable, Generator, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import Isolation, in_memory, untouched

from .ordinary import state_of_current_run
from .overlays import MethodsOverlay
from .remembered import TWINS

T = TypeVar("T")
StoreCall = tuple[str, Any]
"""The name of a store's method, and its arguments."""
Steps = Generator[StoreCall, Any, T]
"""A generator that yields calls to be made on the real store, and gets their results. ``through`` and
``athrough`` make the calls, so that sync and async methods share one generator."""


class KeyValueOverlay(MethodsOverlay):
    """This overlay takes the place of a real key-value store in one run.

    At first it has the values from before the baseline. Only a run that the user made (no replay) changes
    the real store.
    """

    def __init__(self, real: Any, state: State, key: Hashable) -> None:
        super().__init__(real, state)
        self._before: dict[Any, Any] = state.before.setdefault(key, {})
        self._own: dict[Any, Any] = {}

    def mget(self, keys: Sequence[Any]) -> list[Any]:
        """Returns the values that the keys have in this run; None for a missing key."""
        return self._through(self._get(keys))

    async def amget(self, keys: Sequence[Any]) -> list[Any]:
        """Returns the values that the keys have in this run; None for a missing key. Calls async methods
        in the caller's event loop."""
        return await self._athrough(self._get(keys))

    def mset(self, key_value_pairs: Sequence[tuple[Any, Any]]) -> None:
        """Sets the values for this run only. A run that the user made (no replay) sets them in the
        real store."""
        self._through(self._set(key_value_pairs))

    async def amset(self, key_value_pairs: Sequence[tuple[Any, Any]]) -> None:
        """Sets the values for this run only. A run that the user made (no replay) sets them in the real
        store, by its async method."""
        await self._athrough(self._set(key_value_pairs))

    def mdelete(self, keys: Sequence[Any]) -> None:
        """Removes the keys for this run only. A run that the user made (no replay) removes them from
        the real store."""
        self._through(self._delete(keys))

    async def amdelete(self, keys: Sequence[Any]) -> None:
        """Removes the keys for this run only. A run that the user made (no replay) removes them from the
        real store, by its async method."""
        await self._athrough(self._delete(keys))

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[Any]:
        """Yields the keys that exist in this run. ``prefix``: the prefix that these keys must have; None
        for all keys."""
        with untouched():
            found = list(self._real.yield_keys(prefix=prefix))
        yield from self._keys(found, prefix)

    async def ayield_keys(self, *, prefix: str | None = None) -> AsyncIterator[Any]:
        """Yields the keys that exist in this run. Calls async methods in the caller's event loop.
        ``prefix``: the prefix that these keys must have; None for all keys."""
        with untouched():
            found = [each async for each in self._real.ayield_keys(prefix=prefix)]
        for each in self._keys(found, prefix):
            yield each

    def _get(self, keys: Sequence[Any]) -> Steps[list[Any]]:
        if self._live:
            yield from self._keep(keys)
            return (yield "mget", (keys,))
        missing = [key for key in keys if key not in self._own]
        yield from self._keep(missing)
        # The application may change a value that it has read, so each run has its own copy.
        self._own.update({key: copied(self._before[key]) for key in missing})
        return [self._own[key] for key in keys]

    def _set(self, pairs: Sequence[tuple[Any, Any]]) -> Steps[None]:
        pairs = list(pairs)
        if self._live:
            yield from self._keep([key for key, _ in pairs])
            yield "mset", (pairs,)
        else:
            self._own.update(pairs)

    def _delete(self, keys: Sequence[Any]) -> Steps[None]:
        keys = list(keys)
        if self._live:
            yield from self._keep(keys)
            yield "mdelete", (keys,)
        else:
            self._own.update(dict.fromkeys(keys))

    def _keep(self, keys: Sequence[Any]) -> Steps[None]:
        unknown = [key for key in dict.fromkeys(keys) if key not in self._before]
        if unknown:
            found = yield "mget", (unknown,)
            for key, value in zip(unknown, found, strict=True):
                self._before.setdefault(key, copied(value))

    def _keys(self, found: Iterable[Any], prefix: str | None) -> Iterable[Any]:
        if self._live:
            return found
        known = {**self._before, **self._own}
        present = [key for key, value in known.items() if value is not None]
        others = [key for key in found if key not in known]
        return [*others, *(key for key in present if prefix is None or str(key).startswith(prefix))]

    def _through(self, steps: Steps[T]) -> T:
        return through(steps, self._call_real)

    async def _athrough(self, steps: Steps[T]) -> T:
        return await athrough(steps, self._call_real)

    def _call_real(self, request: StoreCall, prefix: str) -> Any:
        return getattr(self._real, prefix + request[0])(*request[1])


def through(steps: Generator[Any, Any, T], ask: Callable[[Any, str], Any]) -> T:
    """Makes each call that the generator yields, sends the call's result back to the generator, and
    returns the generator's return value.

    ``ask``: makes a call. Its second argument is the prefix of the method's name, which is empty for sync
    methods.
    """
    try:
        request = next(steps)
        while True:
            with untouched():
                found = ask(request, "")
            request = steps.send(found)
    except StopIteration as end:
        return end.value


async def athrough(steps: Generator[Any, Any, T], ask: Callable[[Any, str], Any]) -> T:
    """Awaits each call that the generator yields, sends the call's result back to the generator, and
    returns the generator's return value.

    ``ask``: makes a call. Its second argument is the prefix of the method's name: "a", because async
    methods are called.
    """
    try:
        request = next(steps)
        while True:
            with untouched():
                found = await ask(request, "a")
            request = steps.send(found)
    except StopIteration as end:
        return end.value


INTERCEPTIONS = (
    Isolation(
        module="langchain_core.stores",
        owner="BaseStore",
        state=state_of_current_run,
        twins=TWINS,
        overlay=KeyValueOverlay,
        overlaid=re.compile("a?(mget|mset|mdelete|yield_keys)"),
        writes=re.compile("a?(mset|mdelete)|store"),
        owns_born=in_memory,
    ).interception,
)
