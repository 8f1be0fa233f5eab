"""LangChain's key-value stores: every run starts from what the baseline found, and writes to its own.

A store in memory has a twin in each run. Of one that is kept elsewhere, each key is read once; what a run
writes or deletes stands before that.
"""

import re
from collections.abc import AsyncIterator, Callable, Generator, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import Isolation, in_memory, untouched

from .ordinary import current_state
from .remembered import TWINS

T = TypeVar("T")
Request = tuple[str, Any]
Steps = Generator[Request, Any, T]
"""Yields what the real store is to be asked, and is sent what it said."""


class KeyValueOverlay:
    """Starts from what another store holds, and leaves that as it is. A live one is that store."""

    def __init__(self, real: Any, state: State, key: Hashable) -> None:
        self._real = real
        self._live = state.live
        self._before: dict[Any, Any] = state.before.setdefault(key, {})
        self._own: dict[Any, Any] = {}

    def attribute(self, name: str) -> Any:
        """See ``Overlay``."""
        return getattr(self, name)

    def set_attribute(self, name: str, value: Any) -> None:
        """See ``Overlay``: methods are not set."""
        with untouched():
            setattr(self._real, name, value)

    def mget(self, keys: Sequence[Any]) -> list[Any]:
        """Returns the values of these keys, as this run sees the store."""
        return self._through(self._get(keys))

    async def amget(self, keys: Sequence[Any]) -> list[Any]:
        """Returns the values of these keys in the caller's loop, as this run sees the store."""
        return await self._athrough(self._get(keys))

    def mset(self, key_value_pairs: Sequence[tuple[Any, Any]]) -> None:
        """Keeps these values in the store as this run sees it."""
        self._through(self._set(key_value_pairs))

    async def amset(self, key_value_pairs: Sequence[tuple[Any, Any]]) -> None:
        """Keeps these values in the caller's loop, in the store as this run sees it."""
        await self._athrough(self._set(key_value_pairs))

    def mdelete(self, keys: Sequence[Any]) -> None:
        """Removes these keys from the store as this run sees it."""
        self._through(self._delete(keys))

    async def amdelete(self, keys: Sequence[Any]) -> None:
        """Removes these keys in the caller's loop, from the store as this run sees it."""
        await self._athrough(self._delete(keys))

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[Any]:
        """Returns the values of these keys, as this run sees the store."""
        with untouched():
            found = list(self._real.yield_keys(prefix=prefix))
        yield from self._keys(found, prefix)

    async def ayield_keys(self, *, prefix: str | None = None) -> AsyncIterator[Any]:
        """Yields the keys in the caller's loop, as this run sees the store."""
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
        # What a run does to a value that it read is done in that run.
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
        there = [key for key, value in known.items() if value is not None]
        others = [key for key in found if key not in known]
        return [*others, *(key for key in there if prefix is None or str(key).startswith(prefix))]

    def _through(self, steps: Steps[T]) -> T:
        return through(steps, self._asked)

    async def _athrough(self, steps: Steps[T]) -> T:
        return await athrough(steps, self._asked)

    def _asked(self, request: Request, prefix: str) -> Any:
        return getattr(self._real, prefix + request[0])(*request[1])


def through(steps: Generator[Any, Any, T], ask: Callable[[Any, str], Any]) -> T:
    """Returns what the steps return, each asked of the real thing's sync entry."""
    try:
        request = next(steps)
        while True:
            with untouched():
                found = ask(request, "")
            request = steps.send(found)
    except StopIteration as end:
        return end.value


async def athrough(steps: Generator[Any, Any, T], ask: Callable[[Any, str], Any]) -> T:
    """Returns the same of its async entry, whose names begin with "a"."""
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
        state=current_state,
        twins=TWINS,
        overlay=KeyValueOverlay,
        overlaid=re.compile("a?(mget|mset|mdelete|yield_keys)"),
        writes=re.compile("a?(mset|mdelete)|store"),
        owns_born=in_memory,
    ).interception,
)
