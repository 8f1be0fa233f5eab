"""This module holds the texts of errors about results of searches that cannot be split into items, or
built from items."""

_READY = (
    "chroma, qdrant, pinecone, elasticsearch, opensearch, meilisearch, pgvector, faiss(texts), tavily, "
    "mcp_content"
)
CLIENT_NAMED = (
    f"gate(search, items_of=...), one of rag_rule_explainer.instrumentation.clients ({_READY}), or "
    "ItemsOf(take_apart, put_together) of functions of your own"
)
AS_ONE = (
    ". If it is one document, pass gate(search, text_of=...), a function from such a result to its text"
)


NO_TEXTS = (
    "a search returned arrays as those of FAISS, and the texts are somewhere else; pass "
    "gate(index.search, items_of=faiss(texts)) from rag_rule_explainer.instrumentation.clients"
)
NO_RESPONSE = (
    "documents cannot be served to this search: no response of its client was seen to put them into. "
    "Pass add_documents= instead of documents=, make the gated client outside of the function that is "
    "explained, or gate a function that returns documents"
)
NO_ITEM = (
    "a document cannot be put into a response of a client; pass gate(search, item_of=...), a function "
    "from a document to an item of that response"
)
NO_ROW = (
    "a replay made a request of several queries that the baseline never made, so it is not known which "
    'query finds what; pass on_new_query="filter" (searches live), or gate a function of one query'
)
