"""Explains the answers of a LangChain application by rules, without rewriting it."""

from rag_rule_explainer.errors import MissingExtra

try:
    import langchain_core as _  # noqa: F401 -- only to say which extra is missing
except ImportError as error:
    raise MissingExtra.naming("langchain", "langchain_rag_rule_explainer") from error

from .chat import chat_replay
from .lexical import BM25Retriever, lexical_chain
from .offline import OfflineChatModel
from .runnable import Explained, RuleExplainer

__all__ = [
    "BM25Retriever",
    "Explained",
    "OfflineChatModel",
    "RuleExplainer",
    "chat_replay",
    "lexical_chain",
]
