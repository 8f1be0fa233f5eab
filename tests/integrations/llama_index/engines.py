"""Retrievers that remember what they were really asked, and small engines around them."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from typing_extensions import override

from tests.integrations.llama_index.models import Telling, nodes


class Counting(BaseRetriever):
    """Always finds the same; remembers the queries it was really asked."""

    def __init__(self, found: Sequence[BaseNode]) -> None:
        super().__init__()
        self.found = list(found)
        self.live: list[str] = []

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.live.append(query_bundle.query_str)
        return [
            NodeWithScore(node=node.model_copy(), score=1 / place)
            for place, node in enumerate(self.found, start=1)
        ]


def retriever_of(names: str = "abd") -> Counting:
    """Finds these nodes, whatever is asked: the two that matter, and one that does not.

    A second one that does not matter nearly doubles the replays of an explanation.
    """
    return Counting(nodes(names))


def engine_of(retriever: BaseRetriever, llm: Any = None, **parameters: Any) -> RetrieverQueryEngine:
    """The ordinary query engine over a retriever."""
    return RetrieverQueryEngine.from_args(retriever, llm=llm or Telling(), **parameters)
