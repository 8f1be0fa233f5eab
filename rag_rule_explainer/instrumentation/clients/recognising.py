"""This module recognises the client of a response by its shape."""

from typing import Any

from .of_chroma import chroma
from .of_faiss import is_faiss
from .of_hits import meilisearch, pinecone
from .of_listing import listing
from .of_mcp import mcp_content
from .of_qdrant import qdrant
from .of_search import elasticsearch
from .of_tavily import tavily
from .of_text import json_listing
from .protocol import Client

__all__ = ["is_faiss", "recognised"]

_KNOWN: tuple[Client, ...] = (
    chroma,
    elasticsearch,
    tavily,
    mcp_content,
    qdrant,
    pinecone,
    meilisearch,
    listing,
)


def recognised(response: Any) -> Client | None:
    """Returns the client that can split the response; None if the shape of the response is unknown."""
    if isinstance(response, str):
        return None if json_listing.rows(response) is None else json_listing
    if response is None:
        return None
    return next((client for client in _KNOWN if client.rows(response) is not None), None)
