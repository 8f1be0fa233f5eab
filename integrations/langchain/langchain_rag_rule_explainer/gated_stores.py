"""This module wraps vector stores and other objects with search methods, so that an explanation can
record their searches and, in replays, return recorded documents in their place."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, cast

from langchain_core.vectorstores import VectorStore

from rag_rule_explainer.instrumentation.isolation.redirecting import TRANSPARENT
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.run_record import Participation
from rag_rule_explainer.instrumentation.searches.gates import joining

from .finding import DocumentShape
from .stores import SEARCHES, is_async_search, searching


def has_searches(store: object) -> bool:
    """Returns True iff the object's class has a method with the name of a search, such as
    ``similarity_search``."""
    return any(map(SEARCHES.fullmatch, dir(type(store))))


def gated_store(store: Any, shape: DocumentShape) -> Any:
    """Returns an object that works like the store. Explanations can record its searches, and in replays
    return recorded documents in their place. ``shape``: reads the results of the searches, and makes
    results for replays."""
    kind = cast("type[Any]", type(store))
    names = (
        name
        for name in dir(kind)
        if not name.startswith("_")
        and name != "as_retriever"
        and inspect.isfunction(inspect.getattr_static(kind, name))
    )

    def __getattr__(_self: object, name: str) -> Any:  # noqa: N807 -- it becomes a method of the class that is made below
        return getattr(store, name)

    methods = _Methods(store, shape)
    members: dict[str, Any] = {name: methods.gated(name) for name in names}
    members |= {TRANSPARENT: True, "__getattr__": __getattr__, "__doc__": kind.__doc__}
    base = VectorStore if isinstance(store, VectorStore) else object
    if base is VectorStore:
        members["from_texts"] = staticmethod(kind.from_texts)
        members["embeddings"] = property(lambda _self: store.embeddings)
    return type(f"Gated{kind.__name__}", (base,), members)()


@dataclass(frozen=True, slots=True, eq=False)
class _Methods:
    """This class makes the methods of a gated store. They call the methods of the real store.

    ``joined``: the run in which the store was gated. All searches by the gated store belong to this run,
    even those in other threads. None if the store was gated outside of runs.
    """

    store: Any
    shape: DocumentShape
    joined: Participation | None = field(default_factory=participation)

    def gated(self, name: str) -> Callable[..., Any]:
        real = getattr(cast("type[Any]", type(self.store)), name)
        if not SEARCHES.fullmatch(name):
            return self._call(name, real)
        is_async = is_async_search(name) or inspect.iscoroutinefunction(inspect.unwrap(real))
        shape = replace(self.shape, scored="_score" in name)
        search = searching(name, self._call(name, real), shape, is_async=is_async)
        return self._ajoining(search, real) if is_async else self._joining(search, real)

    def _call(self, name: str, real: Any) -> Callable[..., Any]:
        @wraps(real)
        def call(_self: object, *args: Any, **kwargs: Any) -> Any:
            return getattr(self.store, name)(*args, **kwargs)

        return call

    def _joining(self, search: Callable[..., Any], real: Any) -> Callable[..., Any]:
        @wraps(real)
        def join(gated: object, *args: Any, **kwargs: Any) -> Any:
            with joining(self.joined):
                return search(gated, *args, **kwargs)

        return join

    def _ajoining(self, search: Callable[..., Any], real: Any) -> Callable[..., Any]:
        @wraps(real)
        async def ajoin(gated: object, *args: Any, **kwargs: Any) -> Any:
            with joining(self.joined):
                return await search(gated, *args, **kwargs)

        return ajoin
