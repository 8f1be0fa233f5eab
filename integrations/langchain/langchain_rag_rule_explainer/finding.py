"""This module reads the items in the result of a search, and makes such results from items."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.documents import Document

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.clients.fields import is_listed
from rag_rule_explainer.instrumentation.clients.users_functions import users_result
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.searches.identity import checked_items, sources_of
from rag_rule_explainer.instrumentation.searches.items import ItemReading, MadeItem, ResponsePart
from rag_rule_explainer.instrumentation.searches.result_forms import items_in
from rag_rule_explainer.instrumentation.searches.shape import ReadForm

from .documents import copies, document_of, retrieved_of

_SCORE_KEYS = ("score", "relevance_score", "similarity_score")

ItemOf = Callable[[Document], Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A ``Found`` holds one item of a search result, as a document.

    ``given``: the item as the search returned it; None if it was already a document. ``scores``: the
    scores, if the search returned a tuple (document, score) for the item.
    """

    document: Document
    given: Any = None
    scores: tuple[Any, ...] = ()


def documents_found(documents: Iterable[Document]) -> list[Found]:
    """Returns copies of the documents as items of a search result."""
    return [Found(document) for document in copies(documents)]


def identify(batches: Sequence[Sequence[Found]]) -> Sequence[Sequence[Source]]:
    """Returns the source of each item of each retrieval, in the same order. ``batches``: the items of
    each retrieval."""
    checked_items(batches, Found)
    return sources_of([[retrieved_of(found.document) for found in batch] for batch in batches])


@dataclass(frozen=True, slots=True)
class DocumentShape(ReadForm):
    """A ``DocumentShape`` reads the results of a search, and makes results for replays in the same shape.

    ``scored``: True if the search always returns (document, score) pairs, so that each result of a replay
    needs scores. ``as_found``: True if the search may return pairs, so that an item is returned as a pair
    iff it was found as one. ``reading``: reads items that are not LangChain documents. ``item_of``: makes
    such an item from a document; None if there is no such function.
    """

    scored: bool = False
    as_found: bool = False
    reading: ItemReading = field(default_factory=ItemReading)
    item_of: ItemOf | None = None

    def found(self, result: Any) -> list[Found]:
        """Returns the items of a result. Raises InvalidInput, with advice, if they cannot be read."""
        parts = self.reading.parts(result)
        if parts is not None:
            return [Found(document_of(text), given=part) for text, part in parts]
        whole = not is_listed(result)
        return [self._item(item, whole=whole) for item in items_in(result)]

    def result(self, found: Iterable[Found], form: object = ()) -> Any:
        """Returns a result that consists of these items.

        ``form``: the kind of result that the search itself returned (a list, one string, or a client's
        response). By default, a list is returned.
        """
        return self.reading.result([self._given(each) for each in found], form)

    def needs_scores(self, found: Iterable[Found]) -> bool:
        """Returns True iff ``scored`` is True and one of these items has no score. No result can then be
        made of them."""
        return self.scored and any(not each.scores and _score(each.document) is None for each in found)

    def _item(self, item: Any, *, whole: bool) -> Found:
        pair: tuple[Any, ...] = cast("tuple[Any, ...]", item) if isinstance(item, tuple) else ()
        if pair and isinstance(pair[0], Document):
            document, *scores = pair
            return Found(copies([document])[0], scores=tuple(scores))
        if isinstance(item, Document):
            return Found(copies([item])[0])
        return Found(document_of(self.reading.read(item, whole=whole)), given=copied(item))

    def _given(self, found: Found) -> Any:
        if isinstance(found.given, ResponsePart):
            return found.given
        document = copies([found.document])[0]
        if self.as_found and found.scores:
            return (document, *found.scores)
        if self.scored:
            score = _score(document)
            return (document, *(found.scores or (1.0 if score is None else score,)))
        if found.given is not None:
            return copied(found.given)
        if self.item_of is None:
            return document
        return MadeItem(
            users_result("item_of", self.item_of, document, what="an item as the search returns it")
        )


def _score(document: Document) -> float | None:
    scores = (document.metadata.get(key) for key in _SCORE_KEYS)
    return next((score for score in scores if isinstance(score, (int, float))), None)
