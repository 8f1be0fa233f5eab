"""What a shape of application is: how to build one, and what is known to be true of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from rag_rule_explainer import Explanation, RagRuleError
from tests.integrations.known import Rules, nothing_more, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts

Mode = Literal["sync", "async", "batch"]
MODES: tuple[Mode, ...] = ("sync", "async", "batch")


QUESTION = "why?"
OTHER_WORDS = (QUESTION, "how come?")
"""What is asked by the inputs of one batch."""


@dataclass(frozen=True)
class Built:
    """An application, an input that asks ``QUESTION``, and how often it has really retrieved so far."""

    application: Any
    given: Any
    live: Callable[[], int]
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    config: dict[str, Any] = field(default_factory=dict[str, Any])

    def several(self) -> tuple[list[Any], list[Any]]:
        """Inputs in different words, and a config for each: who asks at once has a thread of its own."""
        given = [replaced(self.given, QUESTION, words) for words in OTHER_WORDS]
        return given, [replaced(self.config, "t", f"t{place}") for place in range(len(given))]


def replaced(given: Any, what: str, by: str) -> Any:
    """The same with other words wherever these stand for themselves."""
    if isinstance(given, Mapping):
        entries = cast("Mapping[str, Any]", given)
        return {key: replaced(value, what, by) for key, value in entries.items()}
    if isinstance(given, list):
        return [replaced(each, what, by) for each in cast("list[Any]", given)]
    return by if given == what else given


@dataclass(frozen=True)
class Shape:
    """A shape, and what is true of it: its rules, or the error that refuses it.

    ``says``: what stands in that error. ``live``: real retrievals of one explanation, all made by the
    baseline; None where every replay asks in words of its own, and so retrieves again.
    ``more``: what else is true of its explanation. ``async_since``: the Python from which on the
    framework itself can run it asynchronously.
    """

    name: str
    build: Callable[[], Built]
    retention: Rules = field(default_factory=lambda: sets("bd"))
    omission: Rules = field(default_factory=lambda: sets("b", "d"))
    refusal: type[RagRuleError] | None = None
    says: str = ""
    complete: bool = True
    live: int | None = 1
    more: Callable[[Explanation], None] = nothing_more
    async_since: tuple[int, int] = (3, 10)


class Store(InMemoryVectorStore):
    """Finds all it has, and counts its searches."""

    def __init__(self, names: str = "abcd") -> None:
        super().__init__(DeterministicFakeEmbedding(size=8))
        self.add_documents(facts(names))
        self.searches = 0

    def similarity_search_with_score_by_vector(self, *args: Any, **kwargs: Any) -> Any:
        self.searches += 1
        return super().similarity_search_with_score_by_vector(*args, **kwargs)

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda similarity: (similarity + 1) / 2

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


def answering(search: Any) -> Any:
    """A function from question to answer around one from question to documents."""

    def answer(question: str) -> str:
        return model().invoke(joined(search(question)) or question).text

    return RunnableLambda(answer)
