"""This module intercepts calls of retrievers. It records them in the baseline. In replays, it returns
recorded documents instead of calling the retriever.

It replaces ``invoke`` and ``ainvoke`` of ``BaseRetriever``, and also the inner methods that these two
call. The inner methods are needed for an application that stored ``retriever.invoke`` before the
explanation: it still calls the original ``invoke``, which calls a replaced inner method.
"""

import re
from collections.abc import Callable, Hashable
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
from rag_rule_explainer.instrumentation.recording.current import AnyPart
from rag_rule_explainer.instrumentation.recording.retrievals import Keys
from rag_rule_explainer.instrumentation.recording.serving import Serving
from rag_rule_explainer.instrumentation.searches.driving import adriven, driven
from rag_rule_explainer.instrumentation.searches.intercepted_call import Asked
from rag_rule_explainer.instrumentation.searches.likeness import Likeness, own_texts
from rag_rule_explainer.instrumentation.searches.widening import wider_object

from .current_part import current_part
from .finding import DocumentShape, Found
from .watching import is_heard


def _entry(name: str, method: Any) -> Any:
    """Returns the replacement of ``invoke`` or ``ainvoke``.

    If callback handlers observe a replay, the replacement sends them the usual events of a retriever.
    """

    @wraps(method)
    def invoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002 -- LangChain's method has a parameter of this name
        def search(own: BaseRetriever = self) -> Any:
            return method(own, input, config, **kwargs)

        called = _call(self, input, kwargs, search)
        if called is None:
            return search()
        part, request = called
        found = driven(request.retrieval(part), search)
        if not isinstance(part, Serving) or not is_heard(config):
            return found
        return ServedRetriever.standing_in_for(self, found).invoke(input, config)

    @wraps(method)
    async def ainvoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002 -- LangChain's method has a parameter of this name
        def search(own: BaseRetriever = self) -> Any:
            return method(own, input, config, **kwargs)

        called = _call(self, input, kwargs, search)
        if called is None:
            return await search()
        part, request = called
        found = await adriven(request.retrieval(part), search)
        if not isinstance(part, Serving) or not is_heard(config):
            return found
        return await ServedRetriever.standing_in_for(self, found).ainvoke(input, config)

    return ainvoke if name == "ainvoke" else invoke


def _call(
    retriever: BaseRetriever, query: Any, kwargs: dict[str, Any], again: Callable[[Any], Any]
) -> tuple[AnyPart, Asked[Found]] | None:
    """Returns the gate of the run in which the retriever is called, and the search request.

    A gate is the object that records retrievals, or returns recorded documents in their place. Returns
    None if no gate is used, as outside of runs. ``again``: a function that gets a retriever, and makes
    the same search with it.
    """
    part = None if isinstance(retriever, ServedRetriever) else current_part(retriever)
    if part is None:
        return None
    given = {key: value for key, value in kwargs.items() if key != "run_manager"}
    events = (named_key(retriever.get_name(), query),)
    searched = (retriever,)
    keys, wider = _keys(retriever, query, given), wider_object(retriever, again)
    return part, Asked(retriever, keys, str(query), DocumentShape(), events, searched, wider=wider)


def _implementation(name: str, method: Any) -> Any:
    """Returns the replacement of ``_get_relevant_documents`` or its async form, the inner method with
    which a retriever searches. In a replay, the replacement returns the recorded documents that the
    replay retains."""

    @wraps(method)
    def get(self: BaseRetriever, query: Any, *args: Any, **kwargs: Any) -> Any:
        def search(own: BaseRetriever = self) -> Any:
            return method(own, query, *args, **kwargs)

        called = _call(self, query, kwargs, search)
        return search() if called is None else driven(called[1].retrieval(called[0]), search)

    @wraps(method)
    async def aget(self: BaseRetriever, query: Any, *args: Any, **kwargs: Any) -> Any:
        def search(own: BaseRetriever = self) -> Any:
            return method(own, query, *args, **kwargs)

        called = _call(self, query, kwargs, search)
        if called is None:
            return await search()
        return await adriven(called[1].retrieval(called[0]), search)

    return aget if name.startswith("_a") else get


def _keys(retriever: BaseRetriever, query: Any, arguments: dict[str, Any]) -> Keys:
    """Returns two keys by which a replay finds the recorded result of a request.

    The first key contains the identity of the retriever. The second key contains the object that the
    retriever searches (such as a vector store) and the retriever's settings. The second key is used for
    applications that make a new retriever in each run.
    """
    request = described((query, arguments))
    settings = described(
        [getattr(retriever, name, None) for name in ("search_type", "search_kwargs", "k")]
    )
    same = id(retriever), own_texts(retriever), settings, request
    return same, (Likeness(retriever), settings, request)


def named_key(name: str, query: object) -> Hashable:
    """Returns the key of a retrieval in a recorded ordinary run. It consists of the retriever's name and
    the query, because callback events report nothing else."""
    return "named", name, str(query)


class ServedRetriever(BaseRetriever):
    """This retriever returns given documents, and sends the events of an ordinary retriever."""

    documents: list[Document]

    @classmethod
    def standing_in_for(cls, retriever: BaseRetriever, documents: list[Document]) -> "ServedRetriever":
        """Returns a retriever that returns the documents, with the name, tags and metadata of
        ``retriever``."""
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
