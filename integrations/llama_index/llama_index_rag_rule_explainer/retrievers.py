"""This module intercepts the retrievals of query engines, retrievers and vector stores.

If such calls are nested, only the outermost one is recorded, and answered with recorded nodes in
replays. A query engine's ``retrieve`` returns nodes after postprocessing, and the synthesizer gets these
nodes unchanged. Besides ``retrieve`` and ``aretrieve`` of retrievers, the inner methods ``_retrieve``
and ``_aretrieve`` are replaced. They are needed for an application that stored ``retriever.retrieve``
before the explanation: it still calls the original ``retrieve``, which calls a replaced inner method.
"""

import re
from dataclasses import dataclass
from functools import wraps
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from typing_extensions import override

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.isolation.attributes import born
from rag_rule_explainer.instrumentation.recording.current import AnyPart
from rag_rule_explainer.instrumentation.recording.retrievals import Keys
from rag_rule_explainer.instrumentation.recording.serving import Serving
from rag_rule_explainer.instrumentation.searches.driving import adriven, driven
from rag_rule_explainer.instrumentation.searches.intercepted_call import Asked, asked_part
from rag_rule_explainer.instrumentation.searches.likeness import Likeness, own_texts
from rag_rule_explainer.instrumentation.searches.shape import Shape
from rag_rule_explainer.instrumentation.searches.widening import (
    Wider,
    first_wider,
    wider_call,
    wider_object,
)

from .nodes import Found
from .outside import searching
from .shapes import Nodes, StoreResult

_SETTINGS = ("similarity_top_k", "_similarity_top_k", "_node_ids", "_filters", "_mode", "index_id")


class ServedRetriever(BaseRetriever):
    """This retriever returns given nodes, and reports the span and the events of an ordinary
    retriever."""

    def __init__(self, nodes: list[NodeWithScore]) -> None:
        super().__init__()
        self._nodes = nodes

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes

    @override
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes

    @override
    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes  # The recorded nodes already contain what this search would add.

    @override
    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes


def _entry(name: str, method: Any) -> Any:
    """Returns the replacement of ``retrieve`` or ``aretrieve``.

    In a replay, the replacement returns the recorded nodes that the replay retains, and sends the usual
    events of a retriever.
    """

    @wraps(method)
    def retrieve(self: Any, *args: Any, **kwargs: Any) -> Any:
        search = _Search(method, self, args, kwargs)
        called = _call(search)
        if called is None:
            return search()
        part, asked = called
        found = driven(asked.retrieval(part), search)
        if not isinstance(part, Serving):
            return found
        return ServedRetriever(found).retrieve(_query(args, kwargs))

    @wraps(method)
    async def aretrieve(self: Any, *args: Any, **kwargs: Any) -> Any:
        search = _Search(method, self, args, kwargs)
        called = _call(search)
        if called is None:
            return await search()
        part, asked = called
        found = await adriven(asked.retrieval(part), search)
        if not isinstance(part, Serving):
            return found
        return await ServedRetriever(found).aretrieve(_query(args, kwargs))

    return aretrieve if name == "aretrieve" else retrieve


def _search(name: str, method: Any, shape: Shape[Found]) -> Any:
    """Returns the replacement of a search method that sends no events itself."""

    @wraps(method)
    def search(self: Any, *args: Any, **kwargs: Any) -> Any:
        real = _Search(method, self, args, kwargs)
        called = _call(real, shape)
        return real() if called is None else driven(called[1].retrieval(called[0]), real)

    @wraps(method)
    async def asearch(self: Any, *args: Any, **kwargs: Any) -> Any:
        real = _Search(method, self, args, kwargs)
        called = _call(real, shape)
        if called is None:
            return await real()
        return await adriven(called[1].retrieval(called[0]), real)

    return asearch if name.startswith(("a", "_a")) else search


@dataclass(frozen=True, slots=True)
class _Search:
    """A ``_Search`` is one call of a search method of a retriever, an engine or a store. Calling the
    object repeats the search, with the given retriever or else with the original one."""

    method: Any
    retriever: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self, retriever: Any = None) -> Any:
        own = self.retriever if retriever is None else retriever
        # LlamaIndex's decorators get the instance for their spans from the bound method, so the method is
        # bound.
        return self.method.__get__(own, type(own))(*self.args, **self.kwargs)

    @property
    def wider(self) -> Wider:
        """Returns a function that makes the same search with a larger number of results, for rechecks in
        which some results are left out."""
        bound = self.method.__get__(self.retriever, type(self.retriever))
        by_query = wider_call(bound, self.args, self.kwargs)
        if not isinstance(self.retriever, BaseRetriever):
            return by_query
        return first_wider(wider_object(self.retriever, self), by_query)


def _call(search: _Search, shape: Shape[Found] | None = None) -> tuple[AnyPart, Asked[Found]] | None:
    """Returns the gate of the run in which the retriever is called, and the search request.

    A gate is the object that records retrievals, or returns recorded nodes in their place. Returns None
    if no gate is used, as outside of runs. ``shape``: reads and makes results; None for lists of nodes.
    """
    retriever = search.retriever
    part = None if isinstance(retriever, ServedRetriever) else asked_part(retriever)
    if part is None:
        return None
    query = _query(search.args, search.kwargs)
    text, keys = str(getattr(query, "query_str", query)), _keys(retriever, _said(query))
    hangs_on, wider = _searched(retriever), search.wider
    return part, Asked(retriever, keys, text, shape or Nodes(), hangs_on=hangs_on, wider=wider)


def _searched(retriever: Any) -> tuple[object, ...]:
    """Returns the index and the stores that a retriever or a query engine searches.

    If none are known, returns the retriever itself.
    """
    inner = getattr(retriever, "_retriever", None) if is_engine(retriever) else None
    asked = retriever if inner is None else inner
    names = ("_index", "_vector_store", "_docstore")
    return tuple(each for each in (getattr(asked, name, None) for name in names) if each is not None) or (
        asked,
    )


def _query(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()))


def _said(query: Any) -> str:
    """Returns the query as a text, by which a replay finds the recorded result of an equal query.

    If the query has a text, its embedding is left out. The embedding of a hypothetical answer, for
    example, differs in every run.
    """
    if isinstance(query, str):
        return query
    if isinstance(query, QueryBundle):
        return described((query.query_str, query.image_path)) if query.image_path else query.query_str
    names = ("query_str", "similarity_top_k", "filters", "doc_ids", "node_ids", "mode", "alpha")
    embedding = None if getattr(query, "query_str", None) else getattr(query, "query_embedding", None)
    return described([embedding, *(getattr(query, name, None) for name in names)])


def _keys(retriever: Any, said: str) -> Keys:
    """Returns the keys by which a replay finds the recorded result of a retrieval.

    The first key contains the identity of the retriever. The second key contains the object that the
    retriever searches and the retriever's settings, for applications that make a new retriever in each
    run.
    """
    settings = described([_setting(retriever, name) for name in _SETTINGS])
    same = id(retriever), own_texts(retriever), settings, said
    return same, (Likeness(retriever), settings, said)


def _setting(retriever: Any, name: str) -> Any:
    value: Any = getattr(retriever, name, None)
    if name != "_node_ids" or not value:
        return value
    # If the ids are those of all nodes in the index, they are no setting of the retriever. The index may
    # have more or fewer nodes in a later run, and its retriever must still be recognised.
    struct = getattr(getattr(retriever, "_index", None), "index_struct", None)
    held: Any = getattr(struct, "nodes_dict", {})
    return None if set(value) == set(held.values()) else value


def _of_store(name: str, method: Any) -> Any:
    return _search(name, searching(name, method), StoreResult())


def _implementation(name: str, method: Any) -> Any:
    return _search(name, method, Nodes())


RETRIEVER = ("llama_index.core.base.base_retriever", "BaseRetriever")
ENGINE = ("llama_index.core.base.base_query_engine", "BaseQueryEngine")
VECTOR_STORE = ("llama_index.core.vector_stores.types", "BasePydanticVectorStore")
INTERCEPTIONS = (
    Interception(*RETRIEVER, re.compile("__init__"), lambda _name, made: born(made)),
    Interception(*ENGINE, re.compile("a?retrieve"), _entry),
    Interception(*RETRIEVER, re.compile("a?retrieve"), _entry),
    Interception(*RETRIEVER, re.compile("_a?retrieve"), _implementation),
    Interception(*VECTOR_STORE, re.compile("a?query"), _of_store),
)


def is_engine(retriever: object) -> bool:
    """Returns True iff the object is a query engine, whose ``retrieve`` returns postprocessed nodes."""
    return isinstance(retriever, BaseQueryEngine)
