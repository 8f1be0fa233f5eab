"""This module defines ``gate``. An explanation can record a gated search, and in replays return recorded
documents in its place.

The searches of LangChain's retrievers and vector stores need no gate.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast, overload

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict
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
from rag_rule_explainer.instrumentation.searches.items import ItemReading, TextOf

from .artifacts import ToolResult
from .current_part import current_part
from .finding import DocumentShape, ItemOf
from .gated_stores import gated_store, has_searches

Search = TypeVar("Search", bound=Callable[..., Any])


@overload
def gate(search: BaseRetriever) -> BaseRetriever: ...
@overload
def gate(search: VectorStore) -> VectorStore: ...
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
    """Returns a retriever, store, tool or function that searches as before, and that explanations can
    record.

    Gate a search that cannot be intercepted: an HTTP search, a tool that searches outside LangChain, or
    a search in a thread of your own. Outside of an explanation, a gated search behaves as before. A gate
    that is made during a run belongs to that run, even if another thread calls it, as in
    ``executor.submit(gate(retriever.invoke), query)``. ``gate`` is a decorator as well: ``@gate``, or
    ``@gate(text_of=...)``, also on a method of a class.

    The sources are what a gated function returns. Rules say nothing about items that the function finds
    but does not return. To have rules about these too, gate the search that the function calls, and
    shorten the result outside of the gate.

    A function, sync or async, may return documents, (document, score) pairs, strings, dicts, or objects
    with a text. ``text_of`` reads the text of an item of any other kind. ``item_of`` makes such an item
    from a document, for ``explain(documents=...)``. If the function returns one string, this string is
    one source. The id of a source is the item's ``id``, or else a name in the item's metadata. If a tool
    returns an artifact, the sources are the artifact's documents, and the content must be made of their
    texts. A method of a raw client, such as ``collection.query``, may be gated too; the package
    ``rag_rule_explainer.instrumentation.clients`` lists the clients that are understood, and ``items_of``
    reads the results of any other client. Raises InvalidInput for an object that is no search, and for an
    unknown keyword.
    """
    check_no_others(others, gate)
    if search is ...:
        return partial(gate, items_of=items_of, text_of=text_of, item_of=item_of)
    check_searches(search)
    if item_of is not None:
        checked_function("item_of", item_of, "a function from a document to an item")
    shape = DocumentShape(as_found=True, reading=ItemReading(items_of, text_of), item_of=item_of)
    return _gated(search, shape)


def _gated(search: Any, shape: DocumentShape) -> Any:
    if isinstance(search, GatedRetriever):
        return search
    if isinstance(search, BaseTool):
        return _gated_tool(search, shape)
    if isinstance(search, Runnable):
        return GatedRetriever(
            search=cast("Runnable[str, list[Document]]", search), joined=participation()
        )
    unseen = _unseen_search(search)
    if unseen:
        raise InvalidInput(
            f"{type_said(search)} has more searches than can be told by their names; gate the "
            f"method that is called, such as gate(client.{unseen})"
        )
    if isinstance(search, VectorStore) or has_searches(search):
        return gated_store(search, shape)
    if callable(search):
        return gated_search(search, shape, current_part)
    raise InvalidInput(
        f"{type_said(search)} cannot be gated; pass a retriever, a vector store, or a function "
        "from a query to documents"
    )


class GatedRetriever(BaseRetriever):
    """This class is the retriever that ``gate`` returns. Explanations can record its documents and
    omit some."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    search: Runnable[str, list[Document]]
    joined: Any = None

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return self.search.invoke(query, {"callbacks": run_manager.get_child()}, **kwargs)

    @override
    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        return await self.search.ainvoke(query, {"callbacks": run_manager.get_child()}, **kwargs)

    @override
    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        with joining(self.joined):
            return super().invoke(input, config, **kwargs)

    @override
    async def ainvoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        with joining(self.joined):
            return await super().ainvoke(input, config, **kwargs)


_FRAMEWORK_ARGUMENTS = ("run_manager", "callbacks", "config", "runtime")
"""Arguments that LangChain passes to a tool, and that are not part of the query."""


def _gated_tool(tool: BaseTool, shape: DocumentShape) -> BaseTool:
    """Returns a copy of the tool whose functions are gated. If the tool has no functions, its methods
    ``_run`` and ``_arun`` are gated."""
    if tool.response_format == "content_and_artifact" and shape.reading.items_of is None:
        shape = replace(shape, reading=replace(shape.reading, items_of=ToolResult(tool.name)))

    def gated(function: Callable[..., Any]) -> Callable[..., Any]:
        return gated_function(function, shape, current_part, unsaid=_FRAMEWORK_ARGUMENTS)

    functions = {name: getattr(tool, name, None) for name in ("func", "coroutine")}
    if any(functions.values()):
        return tool.model_copy(update={name: gated(each) for name, each in functions.items() if each})
    own = tool.model_copy()
    for name in ("_run", "_arun"):
        if getattr(type(tool), name) is not getattr(BaseTool, name):
            # Pydantic refuses to set a method on an instance, so its ``__setattr__`` is bypassed.
            object.__setattr__(own, name, gated(getattr(tool, name)))
    return own


_RAW = {"query": "peek", "query_points": "scroll", "call_tool": "list_tools"}
"""Search methods of Chroma, Qdrant and MCP whose names ``SEARCHES`` does not match. The value is a second
method of the same client. If an object has both methods, it is taken for that client, and the user is
told to gate the search method instead of the object."""


def _unseen_search(store: object) -> str:
    has = set(dir(type(store)))
    return next((search for search, beside in _RAW.items() if {search, beside} <= has), "")
