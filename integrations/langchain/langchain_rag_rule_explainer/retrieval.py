"""Lets recordings and replays into retrievers and vector stores.

Only the outermost retrieval takes part; what it delegates to is its own affair. ``BaseRetriever`` has
its entries (``invoke``, ``ainvoke``) replaced, and as a second line its implementations, for a bound
``retriever.invoke`` that somebody took off before; ``VectorStore`` all its searches.
"""

import re
from collections.abc import Awaitable, Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from typing_extensions import override

from rag_rule_explainer.probing.gating import GoingOn, Keys, Recording, going_on, taking_part

from .documents import copies, described
from .finding import Found, Shape
from .ordinary import ordinary_recording
from .participation import participation
from .patching import Interception
from .tools import current_tool
from .watching import inside_retrieval

T = TypeVar("T")
Result: TypeAlias = Any

MADE_UP_SCORES = "documents without a known score were served to a search that returns scores, as 1.0"
SEARCHES = re.compile(r"a?(similarity_search|max_marginal_relevance_search|search)(_\w+)?|a?\w+_search")
_SCORED = re.compile(r"_with_(relevance_)?scores?|_and_score")


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a search: who was asked, how it is recognised, and the shape of its results.

    ``event_keys``: how it is recognised where only its events were recorded.
    """

    retriever: object
    keys: Keys
    query: str
    shape: Shape
    event_keys: Keys = ()

    def retrieval(self, part: GoingOn) -> Generator[None, Result, Result]:
        """What the caller gets. Yields where the real search is to be made, and is sent its result."""
        _note_tool()
        if isinstance(part, Recording):
            result = yield
            return self._recorded(part, result)
        found: list[Found] | None = part.serve((*self.keys, *self.event_keys), self.query)
        like: object = ()
        if found is None:
            like = yield
            found = part.filtered(self.shape.found(like))
        if self.shape.needs_scores(found):
            part.remarks.add(MADE_UP_SCORES)
        return self.shape.result(found, like)

    def _recorded(self, part: Recording[Found], result: Result) -> Result:
        found = self.shape.found(result)
        part.record(self.keys, [*found, *part.added], self.retriever)
        return self.shape.result([*found, *part.added], result) if part.added else result


def asked_part(retriever: object) -> GoingOn | None:
    """What a call of this retriever takes part in: a replay, a baseline, or a run with our handler."""
    part = going_on()
    if part is None and not inside_retrieval.get():
        part = ordinary_recording()
    return part if part is not None and part.concerns(retriever) else None


def driven(retrieval: Generator[None, Result, T], search: Callable[[], Result]) -> T:
    """Runs a retrieval whose real search is a function."""
    try:
        next(retrieval)
        with _hidden():
            result = search()
        retrieval.send(result)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a retrieval makes at most one real search")


async def adriven(retrieval: Generator[None, Result, T], search: Callable[[], Awaitable[Result]]) -> T:
    """The same for a coroutine function."""
    try:
        next(retrieval)
        with _hidden():
            result = await search()
        retrieval.send(result)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a retrieval makes at most one real search")


@contextmanager
def _hidden() -> Generator[None, None, None]:
    token = inside_retrieval.set(True)
    try:
        with taking_part(None):
            yield
    finally:
        inside_retrieval.reset(token)


def _note_tool() -> None:
    run, tool = participation(), current_tool.get()
    if run is not None and tool:
        run.retrieving_tools.add(tool)


def _entry(name: str, method: Any) -> Any:
    """``BaseRetriever.invoke`` and ``ainvoke``: replays are served with the events of a retriever."""

    @wraps(method)
    def invoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        called = _call(self, input, kwargs)
        if called is None:
            return method(self, input, config, **kwargs)
        part, asked = called
        found = driven(asked.retrieval(part), lambda: method(self, input, config, **kwargs))
        if isinstance(part, Recording):
            return found
        return ServedRetriever.standing_in_for(self, found).invoke(input, config)

    @wraps(method)
    async def ainvoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        called = _call(self, input, kwargs)
        if called is None:
            return await method(self, input, config, **kwargs)
        part, asked = called
        found = await adriven(asked.retrieval(part), lambda: method(self, input, config, **kwargs))
        if isinstance(part, Recording):
            return found
        return await ServedRetriever.standing_in_for(self, found).ainvoke(input, config)

    return ainvoke if name == "ainvoke" else invoke


def _call(retriever: BaseRetriever, query: Any, kwargs: dict[str, Any]) -> tuple[GoingOn, Asked] | None:
    """A call that takes part in something, and in what."""
    part = None if isinstance(retriever, ServedRetriever) else asked_part(retriever)
    if part is None:
        return None
    given = {key: value for key, value in kwargs.items() if key != "run_manager"}
    events = (named_key(retriever.get_name(), query),)
    return part, Asked(retriever, _keys(retriever, query, given), str(query), Shape(), events)


def _implementation(name: str, method: Any) -> Any:
    """``_get_relevant_documents``, where an entry was taken off before it was replaced."""

    @wraps(method)
    def get(self: BaseRetriever, query: Any, *args: Any, **kwargs: Any) -> Any:
        called = _call(self, query, kwargs)
        if called is None:
            return method(self, query, *args, **kwargs)
        return driven(called[1].retrieval(called[0]), lambda: method(self, query, *args, **kwargs))

    @wraps(method)
    async def aget(self: BaseRetriever, query: Any, *args: Any, **kwargs: Any) -> Any:
        called = _call(self, query, kwargs)
        if called is None:
            return await method(self, query, *args, **kwargs)
        retrieval = called[1].retrieval(called[0])
        return await adriven(retrieval, lambda: method(self, query, *args, **kwargs))

    return aget if name.startswith("_a") else get


def searching(name: str, method: Any, shape: Shape | None = None) -> Any:
    """A search method of a store. Its twin with an "a" before its name returns an awaitable."""
    is_async = is_async_search(name)
    plain = name.removeprefix("a") if is_async else name
    shape = shape or Shape(scored=_SCORED.search(plain) is not None)

    def asked(self: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked:
        said = described((plain, args, kwargs))
        query = str(args[0] if args else kwargs.get("query", ""))
        keys = (id(self), said), (type(self).__qualname__, _collection(self), said)
        return Asked(self, keys, query, shape)

    @wraps(method)
    def search(self: object, *args: Any, **kwargs: Any) -> Any:
        part = asked_part(self)
        if part is None:
            return method(self, *args, **kwargs)
        retrieval = asked(self, args, kwargs).retrieval(part)
        return driven(retrieval, lambda: method(self, *args, **kwargs))

    @wraps(method)
    async def asearch(self: object, *args: Any, **kwargs: Any) -> Any:
        part = asked_part(self)
        if part is None:
            return await method(self, *args, **kwargs)
        retrieval = asked(self, args, kwargs).retrieval(part)
        return await adriven(retrieval, lambda: method(self, *args, **kwargs))

    return asearch if is_async else search


def is_async_search(name: str) -> bool:
    """True for names such as ``asearch`` and ``asimilarity_search``."""
    return name.startswith(("asearch", "asimilarity", "amax_marginal", "ahybrid", "asemantic"))


def _collection(store: object) -> str:
    """What a store that is made anew for every run is still known by."""
    names = ("_collection_name", "collection_name", "index_name", "_index_name", "table_name")
    return described([name for name in (getattr(store, each, None) for each in names) if name])


def _keys(retriever: BaseRetriever, query: Any, arguments: dict[str, Any]) -> Keys:
    """By instance; one made anew for every run is known by its class, its store and its settings."""
    asked = described((query, arguments))
    store = getattr(retriever, "vectorstore", None)
    settings = described(
        [getattr(retriever, name, None) for name in ("search_type", "search_kwargs", "k")]
    )
    made_alike = (type(retriever).__qualname__, id(store) if store is not None else 0, settings, asked)
    return (id(retriever), asked), made_alike


def named_key(name: str, query: object) -> Hashable:
    """How a retrieval is recognised of which only the events are known."""
    return "named", name, str(query)


class ServedRetriever(BaseRetriever):
    """Returns the documents it was made with, with the events of an ordinary retriever."""

    documents: list[Document]

    @classmethod
    def standing_in_for(cls, retriever: BaseRetriever, documents: list[Document]) -> "ServedRetriever":
        """Keeps the name, tags and metadata of the retriever it stands in for, for the traces."""
        return cls(
            name=retriever.get_name(),
            tags=retriever.tags,
            metadata=retriever.metadata,
            documents=copies(documents),
        )

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.documents

    @override
    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.documents


_RETRIEVERS = ("langchain_core.retrievers", "BaseRetriever")
INTERCEPTIONS = (
    Interception(*_RETRIEVERS, re.compile("a?invoke"), _entry),
    Interception(*_RETRIEVERS, re.compile("_a?get_relevant_documents"), _implementation),
    Interception("langchain_core.vectorstores.base", "VectorStore", SEARCHES, searching),
)
