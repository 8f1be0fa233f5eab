"""Explains the answers of a RAG application without a framework by rules, without rewriting it.

Searches are put into a ``gate``; what the model is sent is read from the official OpenAI client.
"""

from rag_rule_explainer.instrumentation.outputs import Explained
from rag_rule_explainer.instrumentation.searches.of_functions import gate
from rag_rule_explainer.instrumentation.searches.tools import tool

from .explainer import RuleExplainer
from .offline import offline_client

__all__ = ["Explained", "RuleExplainer", "gate", "offline_client", "tool"]
