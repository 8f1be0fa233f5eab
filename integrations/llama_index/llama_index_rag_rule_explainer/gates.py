"""This module defines ``gate``. An explanation can record a gated search, and in replays return recorded
nodes in its place.

The retrievals of LlamaIndex's own classes need no gate.
"""

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, TypeVar, overload

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.tools import FunctionTool
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from typing_extensions import override

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.checks import check_no_others, checked_function, type_said
from rag_rule_explainer.instrumentation.clients import Client
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.searches.gates import (
    check_searches,
    gated_function,
    gated_search,
    joining,
)
from rag_rule_explainer.instrumentation.searches.intercepted_call import asked_part
from rag_rule_explainer.instrumentation.searches.items import ItemReading, TextOf
from rag_rule_explainer.instrumentation.searches.shape import Shape

from .nodes import Found
from .shapes import Anything, ItemOf, StoreResult

Search = TypeVar("Search", bound=Callable[..., Any])


@overload
def gate(search: BaseRetriever) -> BaseRetriever: ...
@overload
def gate(search: FunctionTool) -> FunctionTool: ...
@overload
def gate(
    search: Search,
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Search: ...
@overload
def gate(
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Callable[[Search], Search]: ...
@overload
def gate(
    search: Any,
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Any: ...


def gate(
    search: Any = ...,
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
    **others: Any,
) -> Any:
    """Returns a retriever, function tool or function that searches as before, and that explanations can
    record.

    Gate a search that cannot be intercepted, such as an HTTP search or a search in a thread of your own.
    Outside of an explanation, a gated search behaves as before. A gate that is made during a run belongs
    to that run, even if another thread calls it, as in ``executor.submit(gate(retriever.retrieve),
    query)``. ``gate`` is a decorator as well: ``@gate``, or ``@gate(text_of=...)``, also on a method of a
    class.

    The sources are what a gated function returns. Rules say nothing about items that the function finds
    but does not return. To have rules about these too, gate the search that the function calls, and
    shorten the result outside of the gate.

    A function, sync or async, may return nodes with or without scores, strings, dicts, or objects with a
    text. ``text_of`` reads the text of an item of any other kind. ``item_of`` makes such an item from a
    node, for ``explain(documents=...)``. One returned string is one source. The id of a source is the
    item's ``id``, or else a name in the item's metadata. A method of a raw client, such as
    ``collection.query``, may be gated too; the package ``rag_rule_explainer.instrumentation.clients``
    lists the clients that are understood, and ``items_of`` reads the results of any other client. Raises
    InvalidInput for an object that is no search, and for an unknown keyword.
    """
    check_no_others(others, gate)
    if search is ...:
        return partial(gate, items_of=items_of, text_of=text_of, item_of=item_of)
    check_searches(search)
    if item_of is not None:
        checked_function("item_of", item_of, "a function from a node to an item")
    return _gated(search, Anything(ItemReading(items_of, text_of), item_of))


def _gated(search: Any, anything: Anything) -> Any:
    if isinstance(search, GatedRetriever):
        return search
    if isinstance(search, FunctionTool):
        return _gated_tool(search, anything)
    if isinstance(search, BaseRetriever):
        return GatedRetriever(search)
    if callable(search):
        return gated_search(search, _shape_of(search, anything), asked_part)
    raise InvalidInput(
        f"{type_said(search)} cannot be gated; pass a retriever, a function tool, or a function "
        "from a query to nodes, such as store.query"
    )


class GatedRetriever(BaseRetriever):
    """This class is the retriever that ``gate`` returns. Explanations can record its nodes and omit
    some of them."""

    def __init__(self, search: BaseRetriever) -> None:
        super().__init__(callback_manager=search.callback_manager)
        self.search = search
        self._joined = participation()

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.search.retrieve(query_bundle)

    @override
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self.search.aretrieve(query_bundle)

    @override
    def retrieve(self, str_or_query_bundle: Any) -> list[NodeWithScore]:
        with joining(self._joined):
            return super().retrieve(str_or_query_bundle)

    @override
    async def aretrieve(self, str_or_query_bundle: Any) -> list[NodeWithScore]:
        with joining(self._joined):
            return await super().aretrieve(str_or_query_bundle)


def _shape_of(search: Any, anything: Anything) -> Shape[Found]:
    owner = getattr(search, "__self__", None)
    return StoreResult() if isinstance(owner, BasePydanticVectorStore) else anything


def _gated_tool(tool: FunctionTool, shape: Shape[Found]) -> FunctionTool:
    """Returns a copy of the tool whose functions are gated."""
    own = copy(tool)
    # There is no public way to exchange a tool's functions.
    own._fn = gated_function(tool.fn, shape, asked_part)  # pyright: ignore[reportPrivateUsage] -- there is no public way to set the function
    own._async_fn = gated_function(tool.async_fn, shape, asked_part)  # pyright: ignore[reportPrivateUsage] -- there is no public way to set the function
    return own
