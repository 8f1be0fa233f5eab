"""Lets recordings and replays into ``BaseRetriever.invoke`` and ``ainvoke``, while explaining only.

The methods are wrapped on the class, and on every loaded subclass that overrides them, as long as
somebody explains; afterwards each class is as it was. A wrapper looks at the context variable of
``rag_rule_explainer.probing.replaying``: where nothing is going on, it calls through, so other threads'
traffic is untouched. Only the outermost retrieval takes part; what it delegates to is its own affair.
"""

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from typing_extensions import override

from rag_rule_explainer.probing.replaying import Keys, Recording, going_on, taking_part

from .documents import copies, described

_lock = threading.Lock()
_users = 0
_wrapped: dict[tuple[type, str], tuple[Any, Any]] = {}
"""(class, method name) -> (the method as it was, our wrapper)."""


@contextmanager
def intercepting() -> Generator[None, None, None]:
    """Retrievers take part in recordings and replays inside this block. Nests, and is shared."""
    global _users  # noqa: PLW0603 -- the classes it counts the users of are global too
    with _lock:
        _users += 1
    try:
        wrap_loaded_classes()
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _unwrap()


def wrap_loaded_classes() -> None:
    """Wraps classes that were loaded since the last time as well; nothing once nobody explains."""
    with _lock:
        # A replay that an aborted explanation left behind may come late.
        for owner in _with_subclasses(BaseRetriever) if _users else ():
            for name, wrapping in (("invoke", _wrapping), ("ainvoke", _awrapping)):
                method = vars(owner).get(name)
                if method is not None and (owner, name) not in _wrapped:
                    wrapper = wrapping(method)
                    _wrapped[owner, name] = (method, wrapper)
                    setattr(owner, name, wrapper)


def _unwrap() -> None:
    for (owner, name), (method, wrapper) in _wrapped.items():
        # Somebody may have wrapped ours meanwhile; ours is inert, so theirs stays as it is.
        if vars(owner).get(name) is wrapper:
            setattr(owner, name, method)
    _wrapped.clear()


def _with_subclasses(owner: type) -> Iterator[type]:
    seen: set[type] = set()
    waiting = [owner]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            yield current
            waiting.extend(type.__subclasses__(current))


def _wrapping(method: Any) -> Any:
    @wraps(method)
    def invoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        part = going_on()
        if part is None or self.__class__ is ServedRetriever:
            return method(self, input, config, **kwargs)
        keys = _keys(self, input, kwargs)
        if isinstance(part, Recording):
            with taking_part(None):
                documents = method(self, input, config, **kwargs)
            part.record(keys, copies(documents), self)
            return documents
        return ServedRetriever.standing_in_for(self, copies(part.serve(keys))).invoke(input, config)

    return invoke


def _awrapping(method: Any) -> Any:
    @wraps(method)
    async def ainvoke(self: BaseRetriever, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
        part = going_on()
        if part is None or self.__class__ is ServedRetriever:
            return await method(self, input, config, **kwargs)
        keys = _keys(self, input, kwargs)
        if isinstance(part, Recording):
            with taking_part(None):
                documents = await method(self, input, config, **kwargs)
            part.record(keys, copies(documents), self)
            return documents
        served = ServedRetriever.standing_in_for(self, copies(part.serve(keys)))
        return await served.ainvoke(input, config)

    return ainvoke


def _keys(retriever: BaseRetriever, query: Any, arguments: dict[str, Any]) -> Keys:
    """By instance; one made anew for every run is known by its class, its store and its settings."""
    asked = described((query, arguments))
    store = getattr(retriever, "vectorstore", None)
    settings = described(
        [getattr(retriever, name, None) for name in ("search_type", "search_kwargs", "k")]
    )
    made_alike = (type(retriever).__qualname__, id(store) if store is not None else 0, settings, asked)
    return (id(retriever), asked), made_alike


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
