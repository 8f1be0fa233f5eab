"""This package explains, by rules, the answers of RAG applications that use no framework.

The application wraps its searches in ``gate``, so that explanations see them. Requests to models are
recorded if they are sent by the official OpenAI client, or by ``requests`` or ``httpx`` in its protocol.
Any other request is recorded if a function makes it that the user has marked by ``model``.
"""

from rag_rule_explainer.instrumentation.outputs import Explained
from rag_rule_explainer.instrumentation.requests.marked_models import model
from rag_rule_explainer.instrumentation.searches.of_functions import gate
from rag_rule_explainer.instrumentation.searches.tools import tool

from .explainer import RuleExplainer
from .offline import offline_client

__all__ = ["Explained", "RuleExplainer", "gate", "model", "offline_client", "tool"]
