"""This module converts between LlamaIndex's nodes and this project's ``RetrievedText``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.searches.identity import RetrievedText, checked_items, sources_of


@dataclass(frozen=True, slots=True)
class Found:
    """A ``Found`` holds one item of a search result as a node.

    ``given``: the item as the search returned it; None if it was a node with a score.
    """

    node: NodeWithScore
    given: Any = None


def identify(batches: Sequence[Sequence[Found]]) -> Sequence[Sequence[Source]]:
    """Returns the source of each item of each retrieval, in the same order."""
    checked_items(batches, Found)
    return sources_of([[retrieved_of(found.node.node) for found in batch] for batch in batches])


def retrieved_of(node: BaseNode) -> RetrievedText:
    """Returns the text, the id and the metadata of a node, and the id of its source node.

    LlamaIndex adds the metadata to the text in prompts; the returned text does not contain them.
    """
    whole = node.source_node
    return RetrievedText(
        node.get_content(MetadataMode.NONE),
        node.node_id,
        node.metadata,
        None if whole is None else whole.node_id,
    )


def node_of(text: RetrievedText) -> TextNode:
    """Returns a new node with a text, its id and its metadata."""
    named = {} if text.id is None else {"id_": text.id}
    return TextNode(text=text.text, metadata=dict(text.metadata), **named)


def copy_of(scored: NodeWithScore) -> NodeWithScore:
    """Returns a copy of the node. If a postprocessor changes the original, the copy stays unchanged.

    Embeddings and relationships are not copied, because nothing changes them in place.
    """
    node = scored.node
    changing = {
        "metadata": copied(node.metadata),
        "excluded_llm_metadata_keys": list(node.excluded_llm_metadata_keys),
        "excluded_embed_metadata_keys": list(node.excluded_embed_metadata_keys),
    }
    return scored.model_copy(update={"node": node.model_copy(update=changing)})
