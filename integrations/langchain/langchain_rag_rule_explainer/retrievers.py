"""Lets recordings and replays into ``BaseRetriever``.

Its entries (``invoke``, ``ainvoke``) are replaced, and as a second line its implementations, for a bound
``retriever.invoke`` that somebody took off before.
"""

import re
from collections.abc import Hashable
from functools import wraps
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from typing_extensions import override

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.isolation.attributes import born
from rag_rule_explainer.instrumentation.recording.current import GoingOn
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.recording.retrievals import Keys
from rag_rule_explainer.instrumentation.searches.driving import adriven, driven
from rag_rule_explainer.instrumentation.searches.intercepted_call import Asked

from .asking import asked_part
from .finding import Found, Shape
from .watching import is_heard


def _entry(name: str, method: Any) -> Any:
    """``BaseRetriever.invoke`` and ``ainvoke``: replays are served with the events of a retriever, where
    anybody hears them."""

    @wraps(method)
    def invoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        called = _call(self, input, kwargs)
        if called is None:
            return method(self, input, config, **kwargs)
        part, asked = called
        found = driven(asked.retrieval(part), lambda: method(self, input, config, **kwargs))
        if isinstance(part, Recording) or not is_heard(config):
            return found
        return ServedRetriever.standing_in_for(self, found).invoke(input, config)

    @wraps(method)
    async def ainvoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        called = _call(self, input, kwargs)
        if called is None:
            return await method(self, input, config, **kwargs)
        part, asked = called
        found = await adriven(asked.retrieval(part), lambda: method(self, input, config, **kwargs))
        if isinstance(part, Recording) or not is_heard(config):
            return found
        return await ServedRetriever.standing_in_for(self, found).ainvoke(input, config)

    return ainvoke if name == "ainvoke" else invoke


def _call(
    retriever: BaseRetriever, query: Any, kwargs: dict[str, Any]
) -> tuple[GoingOn, Asked[Found]] | None:
    """Returns a call that takes part in something, and in what."""
    part = None if isinstance(retriever, ServedRetriever) else asked_part(retriever)
    if part is None:
        return None
    given = {key: value for key, value in kwargs.items() if key != "run_manager"}
    events = (named_key(retriever.get_name(), query),)
    searched = (retriever,)
    return part, Asked(retriever, _keys(retriever, query, given), str(query), Shape(), events, searched)


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
    """Returns how a retrieval is recognised of which only the events are known."""
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
            documents=documents,
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
    Interception(
        *_RETRIEVERS, re.compile("__init__"), lambda _name, made: born(made), inherited=("__init__",)
    ),
    Interception(*_RETRIEVERS, re.compile("a?invoke"), _entry),
    Interception(*_RETRIEVERS, re.compile("_a?get_relevant_documents"), _implementation),
)
