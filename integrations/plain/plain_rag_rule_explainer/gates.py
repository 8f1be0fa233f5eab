"""``gate``: makes the searches of an application visible to explanations."""

from collections.abc import Callable
from functools import partial, update_wrapper
from types import FunctionType
from typing import Any, TypeVar, overload

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.allowed import checked_function
from rag_rule_explainer.instrumentation.clients import Client
from rag_rule_explainer.instrumentation.searches.gates import gated_function
from rag_rule_explainer.instrumentation.searches.intercepted_call import asked_part
from rag_rule_explainer.instrumentation.searches.items import Reading, TextOf

from .items import Anything, ItemOf

Search = TypeVar("Search", bound=Callable[..., Any])


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
    search: None = None,
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Callable[[Search], Search]: ...


def gate(
    search: Any = None,
    *,
    items_of: Client | None = None,
    text_of: TextOf | None = None,
    item_of: ItemOf | None = None,
) -> Any:
    """The same search, visible to explanations: a function or a method, sync or async.

    It is a decorator as well: ``@gate``, or ``@gate(text_of=...)``, also on a method of a class. Outside
    of an explanation it is the search itself. A gate that is made inside a run belongs to that run
    wherever it is then called.

    The search may return strings, dicts, or objects with a text; ``text_of`` reads the text of an item of
    any other kind, and ``item_of`` makes such an item of a ``Source`` (for ``documents=``). A function
    that returns one string found one source. An item is named by its ``id``, else by what its metadata
    names it.

    It may also be a method of a raw client, such as ``collection.query``: see
    ``rag_rule_explainer.instrumentation.clients``. ``items_of`` says how its responses are taken apart
    and put together; those of Chroma, Qdrant, Elasticsearch, OpenSearch, Tavily and MCP are recognised
    without it.

    Raises InvalidInput for what is no search.
    """
    if search is None:
        return partial(gate, items_of=items_of, text_of=text_of, item_of=item_of)
    if item_of is not None:
        checked_function("item_of", item_of, "a function from a Source to an item")
    if not callable(search) or isinstance(search, type):
        told = search.__name__ if isinstance(search, type) else type(search).__name__
        raise InvalidInput(
            f"a {told} cannot be gated; pass the function or the method that searches, such as "
            "gate(collection.query)"
        )
    shape = Anything(Reading(items_of, text_of), item_of)
    is_of_class = isinstance(search, FunctionType) and "." in search.__qualname__.split("<locals>.")[-1]
    return _GatedMethod(search, shape) if is_of_class else gated_function(search, shape, asked_part)


class _GatedMethod:
    """This class is a search in the body of a class: of an object, it is the gated bound method, so that
    the object is no part of what is searched for."""

    def __init__(self, search: Callable[..., Any], shape: Anything) -> None:
        update_wrapper(self, search)
        self._search, self._shape = search, shape

    def __get__(self, owner: object | None, kind: type | None = None) -> Callable[..., Any]:
        bound: Any = self._search.__get__(owner, kind)
        return self if owner is None else gated_function(bound, self._shape, asked_part)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return gated_function(self._search, self._shape, asked_part)(*args, **kwargs)
