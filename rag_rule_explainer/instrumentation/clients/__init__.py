"""This package splits responses of raw clients into items and rebuilds them from a subset of the items.

It supports Chroma, Qdrant, Elasticsearch, OpenSearch, rows of PostgreSQL (pgvector), FAISS, Tavily and
MCP, and imports none of them. ``gate`` recognises most responses by their shape; pass ``items_of=`` for
FAISS, whose responses hold no texts, and for your own clients:

    from rag_rule_explainer.instrumentation.clients import ItemsOf, chroma, faiss

    query = gate(collection.query, items_of=chroma)
    search = gate(index.search, items_of=faiss(texts))
    ask = gate(post, items_of=ItemsOf(lambda r: r["found"], lambda r, kept: {**r, "found": kept}))
"""

from .of_chroma import chroma
from .of_faiss import faiss
from .of_mcp import mcp_content
from .of_qdrant import qdrant
from .of_rows import pgvector
from .of_search import elasticsearch, opensearch
from .of_tavily import tavily
from .protocol import Client, ItemsOf, Rows

__all__ = [
    "Client",
    "ItemsOf",
    "Rows",
    "chroma",
    "elasticsearch",
    "faiss",
    "mcp_content",
    "opensearch",
    "pgvector",
    "qdrant",
    "tavily",
]
