"""What searches of plain functions find, as the kit's recording and serving wants to know it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rag_rule_explainer import Source
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.searches.identity import Retrieved, sources_of
from rag_rule_explainer.instrumentation.searches.items import Made, Part, Reading, items_in
from rag_rule_explainer.instrumentation.searches.users_documents import as_items

ItemOf = Callable[[Source], Any]
"""Makes an item, as the search returns it, of a document that the caller brings."""


@dataclass(frozen=True, slots=True)
class Found:
    """One item: its text, and the very thing that the search returned. ``is_brought``: by the caller."""

    text: Retrieved
    given: Any = None
    is_brought: bool = False


def identify(batches: Sequence[Sequence[Found]]) -> Sequence[Sequence[Source]]:
    """Returns the source of each item of each retrieval."""
    return sources_of([[found.text for found in batch] for batch in batches])


def as_found(documents: Iterable[Any]) -> list[Found]:
    """Returns the caller's documents as items. Raises InvalidInput for anything else than texts,
    ``Source``s and JSON objects, for none, and for the same one twice."""
    given = documents if isinstance(documents, (str, dict)) else list(documents)
    items = as_items(given, _lifted, identify, "dict with a text")
    return [replace(item, given=each, is_brought=True) for item, each in zip(items, given, strict=True)]


def _lifted(told: object) -> Found | None:
    return Found(told) if isinstance(told, Retrieved) else None


@dataclass(frozen=True, slots=True)
class Anything:
    """What a function of the user's returns: texts, dicts, objects with a text, a client's response.

    ``reading``: how that is read; ``item_of``: makes an item of it of a document that is brought.
    """

    reading: Reading = field(default_factory=Reading)
    item_of: ItemOf | None = None

    def found(self, result: Any) -> list[Found]:
        """Returns the items of a result. Raises InvalidInput, naming what to pass, where they cannot be
        read."""
        parts = self.reading.parts(result)
        if parts is not None:
            return [Found(text, part) for text, part in parts]
        whole = not isinstance(result, (list, tuple))
        return [Found(self.reading.read(each, whole=whole), copied(each)) for each in items_in(result)]

    def form(self, result: Any) -> object:
        """Returns how a result came (its form), whatever was in it."""
        return self.reading.form(result)

    def of_another(self, form: object) -> object:
        """Returns the form for a request that was never made, given that of another one."""
        return self.reading.of_another(form)

    def result(self, found: Sequence[Found], form: object = ()) -> Any:
        """Returns the items as they came: a client's response, a list, or one string for all."""
        as_text = form == "" or any(isinstance(each.given, str) for each in found if not each.is_brought)
        return self.reading.result([self._given(each, as_text=as_text) for each in found], form)

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- as all shapes
        """Returns False: what came with a score has it still."""
        return False

    def _given(self, found: Found, *, as_text: bool) -> Any:
        if isinstance(found.given, Part):
            return found.given
        if not found.is_brought:
            return copied(found.given)
        if self.item_of is not None:
            return Made(self.item_of(identify([[found]])[0][0]))
        # As the caller gave it, which is to be as the search returns it.
        return found.text.text if as_text else copied(found.given)
