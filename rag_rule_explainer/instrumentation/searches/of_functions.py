"""This module defines ``gate``, which wraps a search function or method of the user's so that its calls
are recorded and answered. It also reads the results of such searches."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar, overload

from ...allowed import checked_function
from ...errors import InvalidInput
from ...printable import type_said
from ...sources import Source
from ..clients import Client
from ..clients.fields import is_listed
from ..clients.users_functions import users_result
from ..copies.copying import copied
from .gates import check_searches, gated_search
from .identity import RetrievedText, checked_items, sources_of
from .intercepted_call import asked_part
from .items import ItemReading, MadeItem, ResponsePart, TextOf
from .result_forms import items_in
from .shape import ReadForm
from .users_documents import as_items

Search = TypeVar("Search", bound=Callable[..., Any])
ItemOf = Callable[[Source], Any]
"""A function of the user that makes an item of the kind that the search returns from a document in
``documents=``."""


@dataclass(frozen=True, slots=True)
class Found:
    """A ``Found`` is an item of a search result, with its text.

    ``given``: the item as the search returned it, or a document as the user passed it in ``documents=``.
    ``is_from_caller``: True for a document in ``documents=``.
    """

    text: RetrievedText
    given: Any = None
    is_from_caller: bool = False


def identify(batches: Sequence[Sequence[Found]]) -> Sequence[Sequence[Source]]:
    """Returns, for each retrieval, the sources of its items."""
    checked_items(batches, Found)
    return sources_of([[found.text for found in batch] for batch in batches])


def as_found(documents: Iterable[Any]) -> list[Found]:
    """Returns the user's documents, from ``documents=``, in the form of items of a search result.

    Documents may be texts, ``Source``s and JSON objects. Raises InvalidInput for other objects, for an
    empty list, and for a document that is given twice.
    """
    given: Any = documents if hasattr(documents, "__getitem__") else list(documents)
    items = as_items(given, _lifted, identify, "dict with a text")
    return [
        replace(item, given=each, is_from_caller=True) for item, each in zip(items, given, strict=True)
    ]


def _lifted(given: object) -> Found | None:
    return Found(given) if isinstance(given, RetrievedText) else None


@dataclass(frozen=True, slots=True)
class FunctionShape(ReadForm):
    """A ``FunctionShape`` splits a result of a user's search function into items, one for each source,
    and builds a result from items.

    The function may return texts, dicts, objects with a text, or a client's response. ``reading``: reads
    the results. ``item_of``: the user's function that makes an item from a document in ``documents=``. If
    it is None, such a document becomes a text if the search returns texts. Otherwise, a ``Source``
    becomes a dict, and any other document stays unchanged.
    """

    reading: ItemReading = field(default_factory=ItemReading)
    item_of: ItemOf | None = None

    def found(self, result: Any) -> list[Found]:
        """Returns the items of a result. Raises InvalidInput if the items cannot be read; the message
        says which argument of ``gate`` to pass."""
        parts = self.reading.parts(result)
        if parts is not None:
            return [Found(text, part) for text, part in parts]
        whole = not is_listed(result)
        return [Found(self.reading.read(each, whole=whole), copied(each)) for each in items_in(result)]

    def result(self, found: Sequence[Found], form: object = ()) -> Any:
        """Builds a result of this form from the items: a client's response, a list, or one string of all
        texts if the search returned one string."""
        as_text = form == "" or any(
            isinstance(each.given, str) for each in found if not each.is_from_caller
        )
        return self.reading.result([self._given(each, as_text=as_text) for each in found], form)

    def needs_scores(self, found: Iterable[Found]) -> bool:  # noqa: ARG002 -- as in every ``Shape``
        """Returns False: an item that the search returned already has its score."""
        return False

    def _given(self, found: Found, *, as_text: bool) -> Any:
        if isinstance(found.given, ResponsePart):
            return found.given
        if not found.is_from_caller:
            return copied(found.given)
        if self.item_of is not None:
            source = identify([[found]])[0][0]
            return MadeItem(
                users_result("item_of", self.item_of, source, what="an item as the search returns it")
            )
        if as_text:
            return found.text.text
        if isinstance(found.given, Source):
            source = found.given
            return {"id": source.id, "text": source.text, "metadata": dict(source.metadata)}
        # The application gets the user's document unchanged. This package cannot convert the document, so
        # it must already be of the kind that the search returns.
        return copied(found.given)


@overload
def gate(
    search: Search,
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Search: ...
@overload
def gate(
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Callable[[Search], Search]: ...


def gate(
    search: Any = ...,
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Any:
    """Returns the search, a function or a method, sync or async, in a form that explanations can see.

    ``gate`` is a decorator as well: ``@gate``, or ``@gate(text_of=...)``, also on a method of a class.
    Outside of an explanation, a gated search does the same as before. If ``gate`` is called in a run, all
    calls of the gated search belong to this run until the run ends, whichever thread they come from.

    The sources are what a gated function returns. There are no rules about items that an inner search
    finds and the function does not return. To get such rules, gate the inner search instead.

    The search may return strings, dicts, or objects with a text. For items of any other kind, ``text_of``
    reads the text of an item, and ``item_of`` makes such an item from a ``Source`` (for ``documents=``).
    If a function returns one string, this string is one source. An item is named after its ``id``, or
    else after its metadata.

    The search may also be a method of a search client, such as ``collection.query``: see
    ``rag_rule_explainer.instrumentation.clients``. ``items_of`` splits the client's responses into items
    and builds responses from items. Chroma, Qdrant, Elasticsearch, OpenSearch, Tavily and MCP do not need
    it.

    Raises InvalidInput if ``search`` is not a function or a method.
    """
    if search is ...:
        return partial(gate, items_of=items_of, text_of=text_of, item_of=item_of)
    if item_of is not None:
        checked_function("item_of", item_of, "a function from a Source to an item")
    check_searches(search)
    if not callable(search):
        raise InvalidInput(
            f"{type_said(search)} cannot be gated; pass the function or the method that searches, "
            "such as gate(collection.query)"
        )
    shape = FunctionShape(ItemReading(items_of, text_of), item_of)
    return gated_search(search, shape, asked_part)
