"""How a search returns what it found."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.vector_stores.types import VectorStoreQueryResult

from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.searches.items import (
    ItemReading,
    MadeItem,
    ResponsePart,
    items_in,
)

from .nodes import Found, copy_of, node_of

ItemOf = Callable[[BaseNode], Any]
"""Makes an item of the user's own kind of a node."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """This class represents a list of nodes with scores, as retrievers and query engines return it."""

    def found(self, result: Any) -> list[Found]:
        """Returns the nodes, in their present state."""
        return [Found(copy_of(node)) for node in result or ()]

    def form(self, result: Any) -> object:  # noqa: ARG002 -- as all shapes
        """Returns the one form that there is."""
        return ()

    def of_another(self, form: object) -> object:
        """Returns the one form that there is."""
        return form

    def result(self, found: Sequence[Found], form: object = ()) -> list[NodeWithScore]:  # noqa: ARG002 -- as all shapes
        """Copies of the nodes."""
        return [copy_of(each.node) for each in found]

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- as all shapes
        """Never: a node may be without."""
        return False


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What vector stores return: nodes, similarities and ids side by side."""

    def found(self, result: Any) -> list[Found]:
        """Returns the nodes with their similarities. A store that keeps no texts has none."""
        nodes: Sequence[BaseNode] = result.nodes or ()
        scores: list[float | None] = [*(result.similarities or ())]
        scores += [None] * (len(nodes) - len(scores))
        return [
            Found(copy_of(NodeWithScore(node=node, score=score)))
            for node, score in zip(nodes, scores, strict=False)
        ]

    def form(self, result: Any) -> object:  # noqa: ARG002 -- as all shapes
        """Returns the one form that there is."""
        return ()

    def of_another(self, form: object) -> object:
        """Returns the one form that there is."""
        return form

    def result(self, found: Sequence[Found], form: object = ()) -> VectorStoreQueryResult:  # noqa: ARG002 -- as all shapes
        """Side by side again."""
        nodes = [copy_of(each.node) for each in found]
        return VectorStoreQueryResult(
            nodes=[each.node for each in nodes],
            similarities=[1.0 if each.score is None else each.score for each in nodes],
            ids=[each.node.node_id for each in nodes],
        )

    def needs_scores(self, found: Iterable[Found]) -> bool:
        """Returns True iff a similarity would have to be made up."""
        return any(each.node.score is None for each in found)


@dataclass(frozen=True, slots=True)
class Anything:
    """What a function of the user's returns: nodes with or without scores, texts, dicts, objects.

    ``reading``: how what holds no nodes is read; ``item_of``: from a node to an item of it.
    """

    reading: ItemReading = field(default_factory=ItemReading)
    item_of: ItemOf | None = None

    def found(self, result: Any) -> list[Found]:
        """Returns the items of a result. Raises InvalidInput, naming what to pass, where they cannot be
        read."""
        parts = self.reading.parts(result)
        if parts is not None:
            return [Found(NodeWithScore(node=node_of(text)), given=part) for text, part in parts]
        whole = not isinstance(result, (list, tuple))
        return [self._item(item, whole=whole) for item in items_in(result)]

    def form(self, result: Any) -> object:
        """Returns how a result came (its form), whatever was in it."""
        return self.reading.form(result)

    def of_another(self, form: object) -> object:
        """Returns the form for a request that was never made, given that of another one."""
        return self.reading.of_another(form)

    def result(self, found: Sequence[Found], form: object = ()) -> Any:
        """Returns the items as they came: a client's response, a list, or one string for all."""
        return self.reading.result([self._given(each) for each in found], form)

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- as all shapes
        """Never: what came with a score has it still."""
        return False

    def _item(self, item: Any, *, whole: bool) -> Found:
        if isinstance(item, NodeWithScore):
            return Found(copy_of(item))
        if isinstance(item, BaseNode):
            own = copy_of(NodeWithScore(node=item))
            return Found(own, given=own.node)
        node = node_of(self.reading.read(item, whole=whole))
        return Found(NodeWithScore(node=node), given=copied(item))

    def _given(self, found: Found) -> Any:
        if isinstance(found.given, ResponsePart):
            return found.given
        own = copy_of(found.node)
        if isinstance(found.given, BaseNode):
            return own.node
        if found.given is not None:
            return copied(found.given)
        return MadeItem(self.item_of(own.node)) if self.item_of else own
