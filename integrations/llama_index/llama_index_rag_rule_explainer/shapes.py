"""How a search returns what it found."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.vector_stores.types import VectorStoreQueryResult

from rag_rule_explainer.wrapping.copying import copied
from rag_rule_explainer.wrapping.items import TextOf, items_in, read, result_like

from .nodes import Found, copy_of, node_of

ItemOf = Callable[[BaseNode], Any]
"""Makes an item of the user's own kind of a node."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """A list of nodes with scores, as retrievers and query engines return it."""

    def found(self, result: Any) -> list[Found]:
        """The nodes, in their present state."""
        return [Found(copy_of(node)) for node in result or ()]

    def result(self, found: Sequence[Found], like: object = ()) -> list[NodeWithScore]:  # noqa: ARG002 -- as all shapes
        """Copies of the nodes."""
        return [copy_of(each.node) for each in found]

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- as all shapes
        """Never: a node may be without."""
        return False


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What vector stores return: nodes, similarities and ids side by side."""

    def found(self, result: Any) -> list[Found]:
        """The nodes with their similarities. A store that keeps no texts has none."""
        nodes: Sequence[BaseNode] = result.nodes or ()
        scores: list[float | None] = [*(result.similarities or ())]
        scores += [None] * (len(nodes) - len(scores))
        return [
            Found(copy_of(NodeWithScore(node=node, score=score)))
            for node, score in zip(nodes, scores, strict=False)
        ]

    def result(self, found: Sequence[Found], like: object = ()) -> VectorStoreQueryResult:  # noqa: ARG002 -- as all shapes
        """Side by side again."""
        nodes = [copy_of(each.node) for each in found]
        return VectorStoreQueryResult(
            nodes=[each.node for each in nodes],
            similarities=[1.0 if each.score is None else each.score for each in nodes],
            ids=[each.node.node_id for each in nodes],
        )

    def needs_scores(self, found: Iterable[Found]) -> bool:
        """True iff a similarity would have to be made up."""
        return any(each.node.score is None for each in found)


@dataclass(frozen=True, slots=True)
class Anything:
    """What a function of the user's returns: nodes with or without scores, texts, dicts, objects.

    ``text_of``, ``item_of``: from an item of a kind of its own to its text, and from a node back.
    """

    text_of: TextOf | None = None
    item_of: ItemOf | None = None

    def found(self, result: Any) -> list[Found]:
        """The items of a result. Raises InvalidInput, naming ``text_of``, where they cannot be read."""
        return [self._item(item) for item in items_in(result)]

    def result(self, found: Sequence[Found], like: object = ()) -> Any:
        """The items as they came; one string for all where ``like`` is a string."""
        return result_like([self._given(each) for each in found], like)

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- as all shapes
        """Never: what came with a score has it still."""
        return False

    def _item(self, item: Any) -> Found:
        if isinstance(item, NodeWithScore):
            return Found(copy_of(item))
        if isinstance(item, BaseNode):
            own = copy_of(NodeWithScore(node=item))
            return Found(own, given=own.node)
        node = node_of(read(item, self.text_of))
        return Found(NodeWithScore(node=node), given=copied(item))

    def _given(self, found: Found) -> Any:
        own = copy_of(found.node)
        if isinstance(found.given, BaseNode):
            return own.node
        if found.given is not None:
            return copied(found.given)
        return self.item_of(own.node) if self.item_of else own
