"""What is asked about, and in what manner applications are recorded and replayed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.runnables import RunnableBinding, RunnableConfig

from rag_rule_explainer.probing.conduct import OnNoRetrieval
from rag_rule_explainer.probing.gating import OnNewQuery
from rag_rule_explainer.probing.replaying import WantedScope

from .brought import DocumentLike
from .reading import AnswerOf


@dataclass(frozen=True, slots=True)
class Manner:
    """How an application is recorded and replayed; the same for every input.

    See ``RuleExplainer`` for what the fields mean.
    """

    answer_of: AnswerOf
    retrievers: tuple[object, ...] = ()
    scope: WantedScope = "seen"
    on_new_query: OnNewQuery | None = None
    on_no_retrieval: OnNoRetrieval = "error"
    stub_tools: Mapping[str, Any] = field(default_factory=dict[str, Any])
    allow_length: bool = False
    trace_replays: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked about: the input, and what the caller says about its sources and its answer.

    ``baseline``: a logged answer, or an output of the application. ``live``: the baseline is the user's
    own run, which writes to real histories, checkpoints and memories.
    """

    given: Any
    question: str
    config: RunnableConfig
    documents: Sequence[DocumentLike] | None = None
    add_documents: Sequence[DocumentLike] = ()
    pinned: tuple[str, ...] = ()
    baseline: Any = None
    live: bool = False


def instance_of(retriever: object) -> object:
    """The retriever itself, where it was given with a config bound to it."""
    while isinstance(retriever, RunnableBinding):
        retriever = cast("RunnableBinding[Any, Any]", retriever).bound
    return retriever
