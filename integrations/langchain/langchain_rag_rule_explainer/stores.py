"""This module intercepts the searches of vector stores.

It records them in the baseline. In replays, it returns the retained documents in place of a search.
"""

import inspect
import re
from functools import partial, wraps
from typing import Any

from rag_rule_explainer.instrumentation.copies.copying import described
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.searches.driving import adriven, driven
from rag_rule_explainer.instrumentation.searches.intercepted_call import Asked
from rag_rule_explainer.instrumentation.searches.likeness import Likeness, own_texts
from rag_rule_explainer.instrumentation.searches.widening import wider_call

from .current_part import current_part
from .finding import DocumentShape, Found

SEARCHES = re.compile(r"a?(similarity_search|max_marginal_relevance_search|search)(_\w+)?|a?\w+_search")
_SCORED = re.compile(r"_with_(relevance_)?scores?|_and_score")


def searching(
    name: str, method: Any, shape: DocumentShape | None = None, *, is_async: bool | None = None
) -> Any:
    """Returns the replacement of a store's search method.

    ``shape``: reads and makes results. By default, results are documents, with scores if the name of the
    method contains "score". ``is_async``: True for an async method; None to find this out from the name
    and the method.
    """
    if is_async is None:
        is_async = is_async_search(name) or inspect.iscoroutinefunction(method)
    plain = name.removeprefix("a") if is_async else name
    shape = shape or DocumentShape(scored=_SCORED.search(plain) is not None)

    def request_of(self: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked[Found]:
        request = described((plain, args, kwargs))
        query = str(args[0] if args else kwargs.get("query", ""))
        keys = (id(self), own_texts(self), request), (Likeness(self), request)
        wider = wider_call(partial(method, self), args, kwargs)
        return Asked(self, keys, query, shape, hangs_on=(self,), wider=wider)

    @wraps(method)
    def search(self: object, *args: Any, **kwargs: Any) -> Any:
        part = current_part(self)
        if part is None:
            return method(self, *args, **kwargs)
        retrieval = request_of(self, args, kwargs).retrieval(part)
        return driven(retrieval, lambda: method(self, *args, **kwargs))

    @wraps(method)
    async def asearch(self: object, *args: Any, **kwargs: Any) -> Any:
        part = current_part(self)
        if part is None:
            return await method(self, *args, **kwargs)
        retrieval = request_of(self, args, kwargs).retrieval(part)
        return await adriven(retrieval, lambda: method(self, *args, **kwargs))

    return asearch if is_async else search


def is_async_search(name: str) -> bool:
    """Returns True for the name of an async search, such as ``asearch`` or ``asimilarity_search``."""
    return name.startswith(("asearch", "asimilarity", "amax_marginal", "ahybrid", "asemantic"))


INTERCEPTIONS = (Interception("langchain_core.vectorstores.base", "VectorStore", SEARCHES, searching),)
