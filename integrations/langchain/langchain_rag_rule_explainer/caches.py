"""This module isolates caches of model replies.

Each run finds the entries that the cache had before the baseline, and the replies that the run itself has
added.
"""

import re
from collections.abc import Generator, Hashable
from typing import Any

from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import Isolation

from .keyvalues import athrough, through
from .ordinary import state_of_current_run
from .overlays import MethodsOverlay

_Steps = Generator[tuple[str, tuple[Any, ...], dict[str, Any]], Any, Any]


class CacheOverlay(MethodsOverlay):
    """This overlay takes the place of a real cache of model replies in one run.

    At first it has the entries that the cache had before the baseline. Only a run that the user made (no
    replay) also writes to the real cache.
    """

    def __init__(self, real: Any, state: State, key: Hashable) -> None:
        super().__init__(real, state)
        self._before: dict[tuple[str, str], Any] = state.aside.setdefault(key, {})
        self._own: dict[tuple[str, str], Any] = {}
        self._cleared = False

    def lookup(self, prompt: str, llm_string: str) -> Any:
        """Returns the reply that is cached for this run; None if there is none."""
        return through(self._look_up(prompt, llm_string), self._call_real)

    async def alookup(self, prompt: str, llm_string: str) -> Any:
        """Returns the reply that is cached for this run; None if there is none. Calls the async method
        of the cache."""
        return await athrough(self._look_up(prompt, llm_string), self._call_real)

    def update(self, prompt: str, llm_string: str, return_val: Any) -> None:
        """Adds a reply for this run. A run that the user made (no replay) also adds it to the real
        cache."""
        through(self._update(prompt, llm_string, return_val), self._call_real)

    async def aupdate(self, prompt: str, llm_string: str, return_val: Any) -> None:
        """Adds a reply for this run. A run that the user made (no replay) also adds it to the real
        cache, by its async method."""
        await athrough(self._update(prompt, llm_string, return_val), self._call_real)

    def clear(self, **kwargs: Any) -> None:
        """Removes all replies for this run. A run that the user made (no replay) also clears the real
        cache."""
        through(self._clear(kwargs), self._call_real)

    async def aclear(self, **kwargs: Any) -> None:
        """Removes all replies for this run. A run that the user made (no replay) also clears the real
        cache, by its async method."""
        await athrough(self._clear(kwargs), self._call_real)

    def _call_real(self, request: tuple[str, tuple[Any, ...], dict[str, Any]], prefix: str) -> Any:
        name, args, kwargs = request
        return getattr(self._real, prefix + name)(*args, **kwargs)

    def _look_up(self, prompt: str, model: str) -> _Steps:
        request = prompt, model
        if request in self._own:
            return self._own[request]
        if self._cleared:
            return None
        if request not in self._before:
            self._before.setdefault(request, (yield "lookup", request, {}))
        return self._before[request]

    def _update(self, prompt: str, model: str, reply: Any) -> _Steps:
        request = prompt, model
        if self._live:
            yield from self._look_up(*request)
            yield "update", (*request, reply), {}
        self._own[request] = reply

    def _clear(self, kwargs: dict[str, Any]) -> _Steps:
        self._own.clear()
        self._cleared = True
        if self._live:
            yield "clear", (), kwargs


INTERCEPTIONS = (
    Isolation(
        module="langchain_core.caches",
        owner="BaseCache",
        state=state_of_current_run,
        twins=None,
        overlay=CacheOverlay,
        overlaid=re.compile("a?(lookup|update|clear)"),
        writes=re.compile("a?(update|clear)"),
    ).interception,
)
