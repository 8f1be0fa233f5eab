"""What a search found, item by item, whatever shape it returns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.documents import Document

from rag_rule_explainer import InvalidInput, Source

from .documents import copied, copies, sources_of

_TEXT_KEYS = ("page_content", "text", "content", "snippet", "body")
_SCORE_KEYS = ("score", "relevance_score", "similarity_score")

TextOf = Callable[[Any], str]
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
    return sources_of([[found.document for found in batch] for batch in batches])


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
        if result is None:
            return []
        one: tuple[Any, ...] = (result,)
        items = cast("Iterable[Any]", result) if isinstance(result, (list, tuple)) else one
        return [self._item(item) for item in items]

    def result(self, found: Iterable[Found], like: object = ()) -> Any:
        """The items in the shape they came in; one string for all where ``like`` is a string."""
        items = [self._given(each) for each in found]
        return "\n\n".join(items) if isinstance(like, str) else items

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
        text = self.text_of(item) if self.text_of else _text(item)
        if not isinstance(text, str):
            raise InvalidInput(
                f"a search returned a {type(cast('object', item)).__name__} without a text; pass "
                "gate(search, text_of=...), a function from such an item to its text"
            )
        said: dict[str, Any] = dict(cast("Mapping[str, Any]", item)) if isinstance(item, Mapping) else {}
        identity = said.pop("id", None)
        metadata = {key: value for key, value in said.items() if value is not text}
        named = str(identity) if isinstance(identity, (str, int)) else None
        return Found(Document(page_content=text, id=named, metadata=copied(metadata)), given=copied(item))

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


def _text(item: Any) -> Any:
    if isinstance(item, str):
        return item
    for key in _TEXT_KEYS:
        value = (
            cast("Mapping[str, Any]", item).get(key)
            if isinstance(item, Mapping)
            else getattr(item, key, None)
        )
        if isinstance(value, str):
            return value
    return None


def _score(document: Document) -> float | None:
    scores = (document.metadata.get(key) for key in _SCORE_KEYS)
    return next((score for score in scores if isinstance(score, (int, float))), None)
