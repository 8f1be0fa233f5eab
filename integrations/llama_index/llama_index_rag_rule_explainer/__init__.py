"""This package explains the answers of LlamaIndex applications by rules."""

from rag_rule_explainer.errors import MissingExtra

try:
    import llama_index.core as _  # noqa: F401 -- this import fails if the extra is not installed
except ImportError as error:
    raise MissingExtra.naming("llama-index", "llama_index_rag_rule_explainer") from error

from rag_rule_explainer.instrumentation.outputs import Explained, Unexplained
from rag_rule_explainer.instrumentation.requests.marked_models import model

from .attaching import ExplainedQueryEngine, explained
from .explained_chat import ExplainedChatEngine
from .explainer import RuleExplainer
from .gates import GatedRetriever, gate
from .handler import RuleExplanationHandler
from .judges import judge_of
from .lexical import BM25Retriever, lexical_engine
from .offline import OfflineLLM
from .progressing import RuleProgressEvent

__all__ = [
    "BM25Retriever",
    "Explained",
    "ExplainedChatEngine",
    "ExplainedQueryEngine",
    "GatedRetriever",
    "OfflineLLM",
    "RuleExplainer",
    "RuleExplanationHandler",
    "RuleProgressEvent",
    "Unexplained",
    "explained",
    "gate",
    "judge_of",
    "lexical_engine",
    "model",
]
