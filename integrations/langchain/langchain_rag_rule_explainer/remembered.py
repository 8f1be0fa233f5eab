"""This module lists the classes of LangChain and LangGraph whose objects all runs share, and
configures how other objects are copied for each run."""

import sys

from langchain_core.caches import BaseCache
from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable
from langchain_core.stores import BaseStore
from langchain_core.vectorstores import VectorStore

from rag_rule_explainer.instrumentation.copies.twins import Twins

_SHARED = (
    BaseCache,
    BaseCallbackHandler,
    BaseCallbackManager,
    BaseChatMessageHistory,
    BaseStore,
    Embeddings,
    Runnable,
    VectorStore,
)
_LOADED_LATER = (
    ("langgraph.store.base", "BaseStore"),
    ("langchain_community.docstore.base", "Docstore"),
)


def _shared() -> tuple[type, ...]:
    """Returns the classes whose instances all runs share. If an object is copied for a run, the copy
    refers to the same instances of these classes.

    Such an instance has no state, or another module isolates its state.
    """
    later = (getattr(sys.modules.get(module), name, None) for module, name in _LOADED_LATER)
    return (*_SHARED, *(each for each in later if isinstance(each, type)))


TWINS = Twins(
    trusted=(
        "langchain_core",
        "langchain_text_splitters",
        "langchain_community.docstore.base",
        "langchain_community.docstore.in_memory",
        "langchain_community.vectorstores.faiss",
        "langgraph.store.base",
        "langgraph.store.memory",
    ),
    shares=_shared,
    copied=("faiss",),
)
