"""This package splits the responses of search clients into items, and builds responses from a subset of
the items. A search client is used without a framework, such as Chroma's ``collection``.

It supports Chroma, Qdrant, Pinecone, Elasticsearch, OpenSearch, Meilisearch, rows of PostgreSQL
(pgvector), FAISS, Tavily and MCP, and imports none of them. ``gate`` makes explanations see the calls of
a search. It recognises most responses by their shape. Pass ``items_of=`` for FAISS, whose responses hold
no texts, and for your own clients:

    from rag_rule_explainer.instrumentation.clients import ItemsOf, chroma, faiss

    query = gate(collection.query, items_of=chroma)
    search = gate(index.search, items_of=faiss(texts))
    ask = gate(post, items_of=ItemsOf(lambda r: r["found"], lambda r, kept: {**r, "found": kept}))
"""

from .of_chroma import chroma
from .of_faiss import faiss
from .of_hits import meilisearch, pinecone
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
    "meilisearch",
    "opensearch",
    "pgvector",
    "pinecone",
    "qdrant",
    "tavily",
]
