"""This module isolates writes to vector stores, so that no replay changes a store.

A store in memory is copied for each run that writes to it. Writes to any other store are not carried out.
If the run then searches this store, an error is raised, because the right result cannot be known.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, cast
from uuid import uuid4

from typing_extensions import override

from rag_rule_explainer.instrumentation.checks import type_said
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import (
    Isolation,
    always,
    shared_state,
    untouched,
)

from .ordinary import state_of_current_run
from .overlays import MethodsOverlay
from .remembered import TWINS
from .stores import SEARCHES

_VERBS = "add|delete|upsert|update|insert|remove|drop|clear|reset|put|write|merge|index"
_WRITES = re.compile(rf"a?({_VERBS})(_(?!config|name|client|path|params|settings|type)\w+)?")
_READS = re.compile(rf"({SEARCHES.pattern})|a?get_by_ids")


class HeldBack(MethodsOverlay):
    """This overlay takes the place of a vector store in one run, so that a replay does not write to it.

    In a replay, the methods that write do nothing. In a run that the user made, they write to the real
    store.
    """

    def __init__(self, real: Any, state: State, key: Hashable) -> None:
        super().__init__(real, state)
        self._after_live = state.first is not None and state.first.live
        # All runs share this list. It is filled when the baseline searches the store after a write. The
        # recorded result of that search may contain texts that the baseline wrote. A replay that writes
        # would get them in place of its own texts, so such a replay is refused.
        self._searched: list[bool] = state.aside.setdefault(("searched", key), [])
        self._wrote = False

    @override
    def attribute(self, name: str) -> Any:
        """Returns the attribute of the store. A method that writes is replaced by one that does nothing.

        Raises StateShared for a method that reads, if its right result cannot be known because writes
        were not carried out.
        """
        if name in self._replaced:
            return self._replaced[name]
        with untouched():
            found = getattr(self._real, name)
        if not callable(found):
            return found
        if _READS.fullmatch(name):
            return self._reading(name, found)
        return found if self._live and self._written() else self._holding(name)

    def _reading(self, name: str, found: Any) -> Any:
        if self._wrote and self._live:
            self._searched.append(True)
        elif self._wrote:
            raise self._refusal()
        # Replays get the results of searches from the recording. Any other reading method would find the
        # writes of the user's own run, so it is refused.
        elif self._after_live and not SEARCHES.fullmatch(name):
            raise shared_state(
                f"{type_said(self._real)} holds what the first run wrote, and cannot be copied"
            )
        return found

    def _written(self) -> bool:
        self._wrote = True
        return True

    def _holding(self, name: str) -> Callable[..., Any]:
        def hold(*args: Any, **kwargs: Any) -> Any:
            if self._searched:
                raise self._refusal()
            self._written()
            return _result(name, args, kwargs)

        async def ahold(*args: Any, **kwargs: Any) -> Any:
            return hold(*args, **kwargs)

        return ahold if _is_async(name) else hold

    def _refusal(self) -> Exception:
        return shared_state(
            f"the application wrote to {type_said(self._real)} and then searched it in the same "
            "run; what is written there while it is explained is held back, because that store cannot be "
            "copied",
            "Let it write to a store in memory that is made in the run while it is explained, such as "
            "InMemoryVectorStore",
        )


def _is_async(name: str) -> bool:
    return re.fullmatch(rf"a({_VERBS})(_\w+)?", name) is not None


def _result(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns the usual result of a write to a vector store: the ids of added items, or True. A replay
    gets this result, because its writes are not carried out."""
    if not re.match("a?(add|upsert|insert)", name):
        return True
    items: Any = args[0] if args else next(iter(kwargs.values()), ())
    is_single = isinstance(items, (str, bytes)) or not isinstance(items, Iterable)
    added = [cast("Any", items)] if is_single else list(cast("Iterable[Any]", items))
    given = cast("Sequence[str] | None", kwargs.get("ids"))
    ids = list(given) if given else [getattr(item, "id", None) or str(uuid4()) for item in added]
    return {"succeeded": ids, "failed": []} if "upsert" in name else ids


INTERCEPTIONS = (
    Isolation(
        module="langchain_core.vectorstores.base",
        owner="VectorStore",
        state=state_of_current_run,
        twins=TWINS,
        overlay=HeldBack,
        overlaid=re.compile(f"{_WRITES.pattern}|{_READS.pattern}"),
        writes=_WRITES,
        wakes=_WRITES,
        stays=re.compile(f"{SEARCHES.pattern}|as_retriever"),
        owns_born=always,
        aside=True,
    ).interception,
)
