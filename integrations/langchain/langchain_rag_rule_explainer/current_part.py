"""This module finds the gate for a call of a retriever. A gate is the object that records the retrievals
of a run, or returns recorded documents in their place."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase

from rag_rule_explainer.instrumentation.recording.current import AnyPart
from rag_rule_explainer.instrumentation.run_context import inside_retrieval
from rag_rule_explainer.instrumentation.searches.intercepted_call import asked_part

from .ordinary import ordinary_recording


def current_part(retriever: object) -> AnyPart | None:
    """Returns the gate of the run in which the retriever is called; None if the retriever is simply to
    search.

    Returns a gate in a replay, in a baseline, and in an ordinary run that a handler records. Returns
    None in any other run, and for a retriever that is not explained. With ``scope="retrieved"``, also
    returns None for a retriever that drops documents of its inner retrievers, because the inner
    retrievers are recorded instead.
    """
    part = asked_part(retriever)
    if part is None and not inside_retrieval.get():
        part = ordinary_recording()
    if part is None or not part.concerns(retriever):
        return None
    return None if part.takes_all and _drops_documents(retriever) else part


def _drops_documents(retriever: object) -> bool:
    """Returns True iff the retriever, or one inside it, has a compressor, which may drop some of the
    documents that an inner retriever has found.

    Returns False if the retriever contains an object that is no retriever and may search. Such a search
    could not be recorded, so the outer retriever is recorded instead.
    """
    retriever = _unbound(retriever)
    if not isinstance(retriever, BaseRetriever):
        return False
    # Several packages have a ContextualCompressionRetriever and none of them need be installed, so the
    # attribute is checked instead of the class.
    if hasattr(retriever, "base_compressor"):
        return isinstance(_unbound(getattr(retriever, "base_retriever", None)), BaseRetriever)
    if not type(retriever).__module__.startswith("langchain"):
        return False
    runnables = (cast("object", each) for each in _values(retriever) if isinstance(each, Runnable))
    inside = [_unbound(each) for each in runnables]
    return all(isinstance(each, BaseRetriever) for each in inside) and any(map(_drops_documents, inside))


def _unbound(retriever: object) -> object:
    while isinstance(retriever, RunnableBindingBase):
        retriever = cast("RunnableBindingBase[Any, Any]", retriever).bound
    return retriever


def _values(retriever: BaseRetriever) -> Iterator[object]:
    for value in vars(retriever).copy().values():
        yield from cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else (value,)
