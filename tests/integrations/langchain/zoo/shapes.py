"""What a shape of application is: how to build one, and what is known to be true of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import BaseMessage
from langchain_core.vectorstores import InMemoryVectorStore

from rag_rule_explainer import Explanation, RagRuleError
from tests.integrations.langchain.chains import Counting, Rules, sets
from tests.integrations.langchain.models import Telling, facts, shown_in

Mode = Literal["sync", "async", "batch"]
MODES: tuple[Mode, ...] = ("sync", "async", "batch")


@dataclass(frozen=True)
class Built:
    """An application, an input, and how often it has really retrieved so far."""

    application: Any
    given: Any
    live: Callable[[], int]
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    config: dict[str, Any] = field(default_factory=dict[str, Any])


def nothing_more(_: Explanation) -> None:
    """For shapes of which nothing more than the rules is known."""


@dataclass(frozen=True)
class Shape:
    """A shape, and what is true of it: its rules, or the error that refuses it.

    ``live``: real retrievals of one explanation, all made by the baseline; None where replays ask anew.
    ``more``: what else is true of its explanation.
    """

    name: str
    build: Callable[[], Built]
    retention: Rules = field(default_factory=lambda: sets("bd"))
    omission: Rules = field(default_factory=lambda: sets("b", "d"))
    refusal: type[RagRuleError] | None = None
    complete: bool = True
    live: int | None = 1
    more: Callable[[Explanation], None] = nothing_more


class Store(InMemoryVectorStore):
    """Finds all it has, and counts its searches."""

    def __init__(self, names: str = "abcd") -> None:
        super().__init__(DeterministicFakeEmbedding(size=8))
        self.add_documents(facts(names))
        self.searches = 0

    def similarity_search_with_score_by_vector(self, *args: Any, **kwargs: Any) -> Any:
        self.searches += 1
        return super().similarity_search_with_score_by_vector(*args, **kwargs)

    def max_marginal_relevance_search_by_vector(self, *args: Any, **kwargs: Any) -> Any:
        self.searches += 1
        return super().max_marginal_relevance_search_by_vector(*args, **kwargs)


def retriever_of(names: str = "abcd") -> Counting:
    """Finds these documents, whatever is asked."""
    return Counting(documents=facts(names))


def asked(*retrievers: Counting) -> Callable[[], int]:
    """How often these were really asked."""
    return lambda: sum(len(each.live) for each in retrievers)


def joined(documents: Sequence[Document]) -> str:
    """The documents as a prompt shows them."""
    return "\n\n".join(document.page_content for document in documents)


def model() -> Telling:
    """Says "bad news" where it is shown both b and d, and "good news" otherwise."""
    return Telling()


def asks_first(messages: list[BaseMessage]) -> bool:
    """True as long as a model has been shown nothing."""
    return not shown_in(messages)
