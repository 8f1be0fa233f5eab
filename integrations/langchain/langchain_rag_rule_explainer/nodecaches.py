"""LangGraph's caches of what nodes returned: every run finds in them what it has put there itself.

What another run's node returned would stand in for a retrieval, or for a model's answer, that is to be
made anew. The user's own run writes to the real cache as well.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeAlias

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import Same, State
from rag_rule_explainer.instrumentation.isolation.isolating import current_state

Key: TypeAlias = tuple[Hashable, str]
"""A namespace, and a key in it."""
Kept: TypeAlias = dict[Key, Any]


def _kept(state: State, cache: object) -> Kept:
    """Holds what this run has put into the cache."""
    return state.own(("node cache", Same(cache)), dict)


def _got(kept: Kept, keys: Iterable[Key]) -> Kept:
    return {key: kept[key] for key in keys if key in kept}


def _set(kept: Kept, pairs: Mapping[Key, tuple[Any, Any]]) -> None:
    kept.update({key: value for key, (value, _seconds) in pairs.items()})


def _clear(kept: Kept, namespaces: Any = None) -> None:
    gone = None if namespaces is None else set(namespaces)
    for namespace, key in list(kept):
        if gone is None or namespace in gone:
            del kept[namespace, key]


_USES: Mapping[str, Callable[..., Any]] = {"get": _got, "set": _set, "clear": _clear}


def _using(name: str, method: Any) -> Any:
    plain = name.removeprefix("a")
    use = _USES[plain]

    @wraps(method)
    def sync(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = current_state()
        if state is None:
            return method(self, *args, **kwargs)
        found = use(_kept(state, self), *args, **kwargs)
        return method(self, *args, **kwargs) if state.live and plain != "get" else found

    @wraps(method)
    async def asynchronous(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = current_state()
        if state is None:
            return await method(self, *args, **kwargs)
        found = use(_kept(state, self), *args, **kwargs)
        return await method(self, *args, **kwargs) if state.live and plain != "get" else found

    return sync if name == plain else asynchronous


INTERCEPTIONS = (
    Interception("langgraph.cache.base", "BaseCache", re.compile("a?(get|set|clear)"), _using),
)
