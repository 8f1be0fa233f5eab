"""This module makes a RAG application that needs no API key: BM25 retrieval and an offline LLM."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.prompts import PromptTemplate
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
from typing_extensions import override

from rag_rule_explainer.testing.ranking import best_matches

from .offline import OfflineLLM

_PROMPT = PromptTemplate(
    "Answer the question from the sources. Say N/A if they do not answer it.\n\n"
    "{context_str}\n\nQuestion: {query_str}"
)


class BM25Retriever(BaseRetriever):
    """This retriever returns the ``k`` nodes that match a query best by BM25.

    The score of a node depends on its rank: 1 for the best node, 1/2 for the next, and so on. The
    retriever needs the package's extra ``bm25``.
    """

    def __init__(self, nodes: Sequence[BaseNode], k: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.nodes = list(nodes)
        self.k = k

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        texts = [_passage(node) for node in self.nodes]
        best = best_matches(query_bundle.query_str, texts, self.k)
        return [
            NodeWithScore(node=self.nodes[place], score=1 / rank)
            for rank, place in enumerate(best, start=1)
        ]


def lexical_engine(nodes: Sequence[BaseNode], k: int) -> RetrieverQueryEngine:
    """Returns a query engine that retrieves the ``k`` best nodes and answers with ``OfflineLLM``."""
    shown = [_as_source(node) for node in nodes]
    return RetrieverQueryEngine.from_args(
        BM25Retriever(shown, k), llm=OfflineLLM(), text_qa_template=_PROMPT
    )


def _as_source(node: BaseNode) -> BaseNode:
    """Returns a copy of the node. If the node has a title, prompts show its title and text in a
    <source> tag."""
    hidden = [key for key in node.metadata if key != "title"]
    template = "<source>\n{metadata_str}\n{content}\n</source>"
    return node.model_copy(
        update={
            "excluded_llm_metadata_keys": hidden,
            "metadata_template": "{value}",
            "text_template": template if "title" in node.metadata else "{content}",
        }
    )


def _passage(node: BaseNode) -> str:
    title = node.metadata.get("title")
    text = node.get_content(MetadataMode.NONE)
    return f"{title}\n{text}" if title else text
