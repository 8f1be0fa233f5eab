"""This module isolates LangGraph's caches of node results. Each run finds only the entries that it has
put.

If a replay found an entry of another run, it would skip a retrieval or a request to a model that it must
make. Only a run that the user made (no replay) also writes to the real cache.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeAlias

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import Same, State
from rag_rule_explainer.instrumentation.isolation.isolating import current_state

_Key: TypeAlias = tuple[Hashable, str]
"""The namespace of an entry, and its key in the namespace."""
_Entries: TypeAlias = dict[_Key, Any]


def _entries(state: State, cache: object) -> _Entries:
    """Returns the entries that this run has put into the cache."""
    return state.own(("node cache", Same(cache)), dict)


def _get(entries: _Entries, keys: Iterable[_Key]) -> _Entries:
    return {key: entries[key] for key in keys if key in entries}


def _set(entries: _Entries, pairs: Mapping[_Key, tuple[Any, Any]]) -> None:
    entries.update({key: value for key, (value, _seconds) in pairs.items()})


def _clear(entries: _Entries, namespaces: Any = None) -> None:
    cleared = None if namespaces is None else set(namespaces)
    for namespace, key in list(entries):
        if cleared is None or namespace in cleared:
            del entries[namespace, key]


_USES: Mapping[str, Callable[..., Any]] = {"get": _get, "set": _set, "clear": _clear}


def _using(name: str, method: Any) -> Any:
    plain = name.removeprefix("a")
    use = _USES[plain]

    @wraps(method)
    def sync(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = current_state()
        if state is None:
            return method(self, *args, **kwargs)
        found = use(_entries(state, self), *args, **kwargs)
        return method(self, *args, **kwargs) if state.live and plain != "get" else found

    @wraps(method)
    async def asynchronous(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = current_state()
        if state is None:
            return await method(self, *args, **kwargs)
        found = use(_entries(state, self), *args, **kwargs)
        return await method(self, *args, **kwargs) if state.live and plain != "get" else found

    return sync if name == plain else asynchronous


INTERCEPTIONS = (
    Interception("langgraph.cache.base", "BaseCache", re.compile("a?(get|set|clear)"), _using),
)
