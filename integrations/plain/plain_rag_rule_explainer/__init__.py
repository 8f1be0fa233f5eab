"""Explains the answers of a RAG application without a framework by rules, without rewriting it.

Searches are put into a ``gate``; what the model is sent is read from the official OpenAI client.
"""

from rag_rule_explainer.instrumentation.outputs import Explained

from .explainer import RuleExplainer
from .gates import gate
from .tools import tool

__all__ = ["Explained", "RuleExplainer", "gate", "tool"]
