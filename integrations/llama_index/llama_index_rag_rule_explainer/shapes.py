"""This module reads the items in the results of searches, and makes results of items.

A *shape* is a class that does this for results of one kind.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.vector_stores.types import VectorStoreQueryResult

from rag_rule_explainer.instrumentation.clients.fields import is_listed
from rag_rule_explainer.instrumentation.clients.users_functions import users_result
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.searches.items import ItemReading, MadeItem, ResponsePart
from rag_rule_explainer.instrumentation.searches.result_forms import items_in
from rag_rule_explainer.instrumentation.searches.shape import ReadForm

from .nodes import Found, copy_of, node_of

ItemOf = Callable[[BaseNode], Any]
"""A user's function that converts a node to an item of the kind that the search returns."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """This shape is for lists of nodes with scores, which retrievers and query engines return.

    A *form* says how one result was built, so that a replay's result can be built alike. All lists of
    nodes are built alike, so their form is always an empty tuple.
    """

    def found(self, result: Any) -> list[Found]:
        """Returns a copy of each node in a result; none if the result is None."""
        return [Found(copy_of(node)) for node in result or ()]

    def form(self, result: Any) -> object:  # noqa: ARG002 -- all shapes have this parameter
        """Returns an empty tuple, because all lists of nodes are built alike."""
        return ()

    def of_another(self, form: object) -> object:
        """Returns ``form`` itself, because the results of all requests are built alike."""
        return form

    def result(self, found: Sequence[Found], form: object = ()) -> list[NodeWithScore]:  # noqa: ARG002 -- all shapes have this parameter
        """Returns a list with a copy of each node in ``found``."""
        return [copy_of(each.node) for each in found]

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- all shapes have this parameter
        """Returns False, because a list of nodes can be made without scores."""
        return False


@dataclass(frozen=True, slots=True)
class StoreResult:
    """This shape is for results of vector stores: parallel lists of nodes, similarities and ids.

    A *form* says how one result was built, so that a replay's result can be built alike. All results of
    stores are built alike, so their form is always an empty tuple.
    """

    def found(self, result: Any) -> list[Found]:
        """Returns the nodes with their similarities; an empty list if the store keeps no texts."""
        nodes: Sequence[BaseNode] = result.nodes or ()
        scores: list[float | None] = [*(result.similarities or ())]
        scores += [None] * (len(nodes) - len(scores))
        return [
            Found(copy_of(NodeWithScore(node=node, score=score)))
            for node, score in zip(nodes, scores, strict=False)
        ]

    def form(self, result: Any) -> object:  # noqa: ARG002 -- all shapes have this parameter
        """Returns an empty tuple, because all results of stores are built alike."""
        return ()

    def of_another(self, form: object) -> object:
        """Returns ``form`` itself, because the results of all requests are built alike."""
        return form

    def result(self, found: Sequence[Found], form: object = ()) -> VectorStoreQueryResult:  # noqa: ARG002 -- all shapes have this parameter
        """Returns a store's result with these nodes, their similarities and their ids."""
        nodes = [copy_of(each.node) for each in found]
        return VectorStoreQueryResult(
            nodes=[each.node for each in nodes],
            similarities=[1.0 if each.score is None else each.score for each in nodes],
            ids=[each.node.node_id for each in nodes],
        )

    def needs_scores(self, found: Iterable[Found]) -> bool:
        """Returns True iff at least one of the nodes has no similarity. A result of a store needs a
        similarity for each node, so no result can be made of these nodes."""
        return any(each.node.score is None for each in found)


@dataclass(frozen=True, slots=True)
class Anything(ReadForm):
    """This shape is for results of user functions: nodes with or without scores, texts, dicts, objects.

    ``reading``: reads items that are not nodes. ``item_of``: converts a node to such an item; None if
    there is no such function.
    """

    reading: ItemReading = field(default_factory=ItemReading)
    item_of: ItemOf | None = None

    def found(self, result: Any) -> list[Found]:
        """Returns the items of a result. Raises InvalidInput if they cannot be read."""
        parts = self.reading.parts(result)
        if parts is not None:
            return [Found(NodeWithScore(node=node_of(text)), given=part) for text, part in parts]
        whole = not is_listed(result)
        return [self._item(item, whole=whole) for item in items_in(result)]

    def result(self, found: Sequence[Found], form: object = ()) -> Any:
        """Returns a result that consists of these items.

        ``form``: the kind of result that the function itself returned (a list, one string, or a client's
        response). By default, a list is returned.
        """
        return self.reading.result([self._given(each) for each in found], form)

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- all shapes have this parameter
        """Returns False, because the result of a function can be made without scores."""
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
        if self.item_of is None:
            return own
        return MadeItem(
            users_result("item_of", self.item_of, own.node, what="an item as the search returns it")
        )
