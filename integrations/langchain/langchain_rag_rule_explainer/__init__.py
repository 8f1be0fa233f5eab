"""This package explains the answers of LangChain applications by rules."""

from rag_rule_explainer.errors import MissingExtra

try:
    import langchain_core as _  # noqa: F401 -- this import fails if the extra is not installed
except ImportError as error:
    raise MissingExtra.naming("langchain", "langchain_rag_rule_explainer") from error

from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained

from .attaching import explained
from .chat import chat_replay
from .gates import GatedRetriever, gate
from .handler import RuleExplanationHandler
from .judges import judge_of
from .lexical import BM25Retriever, lexical_chain
from .offline import OfflineChatModel
from .outputs import AnswerChunk, ExplainedStr
from .runnable import RuleExplainer

__all__ = [
    "AnswerChunk",
    "BM25Retriever",
    "Explained",
    "ExplainedStr",
    "GatedRetriever",
    "OfflineChatModel",
    "RuleExplainer",
    "RuleExplanationHandler",
    "Unexplained",
    "chat_replay",
    "explained",
    "gate",
    "judge_of",
    "lexical_chain",
]
