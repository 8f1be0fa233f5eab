"""What a search found, item by item, whatever shape it returns."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.documents import Document

from rag_rule_explainer import Source
from rag_rule_explainer.wrapping.copying import copied
from rag_rule_explainer.wrapping.identity import sources_of
from rag_rule_explainer.wrapping.items import TextOf, items_in, read, result_like

from .documents import copies, document_of, retrieved_of

_SCORE_KEYS = ("score", "relevance_score", "similarity_score")

ItemOf = Callable[[Document], Any]


@dataclass(frozen=True, slots=True)
class Found:
    """One item: the document it is, and what the search gave for it, where that was anything else.

    ``scores``: what stood beside the document in a pair.
    """

    document: Document
    given: Any = None
    scores: tuple[Any, ...] = ()


def documents_found(documents: Iterable[Document]) -> list[Found]:
    """Documents in their present state, as items."""
    return [Found(document) for document in copies(documents)]


def identify(batches: Sequence[Sequence[Found]]) -> Sequence[Sequence[Source]]:
    """The source of each item of each retrieval."""
    return sources_of([[retrieved_of(found.document) for found in batch] for batch in batches])


@dataclass(frozen=True, slots=True)
class Shape:
    """How a search returns what it found. ``scored``: (document, score) pairs; ``as_found``: pairs
    where it found pairs.

    ``text_of``, ``item_of``: from an item of a shape of its own to its text, and from a document back.
    """

    scored: bool = False
    as_found: bool = False
    text_of: TextOf | None = None
    item_of: ItemOf | None = None

    def found(self, result: Any) -> list[Found]:
        """The items of a result. Raises InvalidInput, naming ``text_of``, where they cannot be read."""
        return [self._item(item) for item in items_in(result)]

    def result(self, found: Iterable[Found], like: object = ()) -> Any:
        """The items in the shape they came in; one string for all where ``like`` is a string."""
        return result_like([self._given(each) for each in found], like)

    def needs_scores(self, found: Iterable[Found]) -> bool:
        """True iff scores would have to be made up."""
        return self.scored and any(not each.scores and _score(each.document) is None for each in found)

    def _item(self, item: Any) -> Found:
        pair: tuple[Any, ...] = cast("tuple[Any, ...]", item) if isinstance(item, tuple) else ()
        if pair and isinstance(pair[0], Document):
            document, *scores = pair
            return Found(copies([document])[0], scores=tuple(scores))
        if isinstance(item, Document):
            return Found(copies([item])[0])
        return Found(document_of(read(item, self.text_of)), given=copied(item))

    def _given(self, found: Found) -> Any:
        document = copies([found.document])[0]
        if self.as_found and found.scores:
            return (document, *found.scores)
        if self.scored:
            score = _score(document)
            return (document, *(found.scores or (1.0 if score is None else score,)))
        if found.given is not None:
            return copied(found.given)
        return self.item_of(document) if self.item_of else document


def _score(document: Document) -> float | None:
    scores = (document.metadata.get(key) for key in _SCORE_KEYS)
    return next((score for score in scores if isinstance(score, (int, float))), None)
