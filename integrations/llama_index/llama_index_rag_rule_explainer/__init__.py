"""Explains the answers of a LlamaIndex application by rules, without rewriting it.

Until this package has names of its own, a query engine is explained through the core:
``Explainer(replay)``, where ``replay`` calls ``engine.synthesize`` on the nodes of the given sources.
"""

from rag_rule_explainer.errors import MissingExtra

try:
    import llama_index.core as _  # noqa: F401 -- only to say which extra is missing
except ImportError as error:
    raise MissingExtra.naming("llama-index", "llama_index_rag_rule_explainer") from error

__all__: list[str] = []
