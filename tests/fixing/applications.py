"""Applications of each framework over one corpus of eleven facts, of which the first come first.

News are bad where fact 1 is shown, or facts 2 and 3, or fact 7.
"""

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_rag_rule_explainer import RuleExplainer as LangChainExplainer
from langchain_rag_rule_explainer import gate as langchain_gate
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever as LlamaRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_rag_rule_explainer import RuleExplainer as LlamaIndexExplainer
from plain_rag_rule_explainer import RuleExplainer as PlainExplainer
from plain_rag_rule_explainer import gate as plain_gate
from plain_rag_rule_explainer import offline_client
from typing_extensions import override

from rag_rule_explainer import contains

QUESTION = "What is the news?"
BAD = contains("bad news")
TEXTS = {
    f"D{n}": f"fact {n}: something is known of number {n} and of its many friends" for n in range(1, 12)
}


def news(text: str) -> str:
    """What every model says to a prompt."""
    shown = {int(each) for each in re.findall(r"fact (\d+):", text)}
    return "bad news" if 1 in shown or {2, 3} <= shown or 7 in shown else "good news"


def direction(text: str) -> list[float]:
    """The later facts point further away from every question."""
    found = re.search(r"fact (\d+)", text)
    angle = 0.1 * int(found[1]) if found else 0.0
    return [math.cos(angle), math.sin(angle)]


class _Directions(Embeddings):
    def embed_query(self, text: str) -> list[float]:
        return direction(text)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return list(map(direction, texts))


class _ChatModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "news"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        said = news("\n".join(str(message.content) for message in messages))
        reply = AIMessage(content=said, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=reply)])


def documents() -> list[Document]:
    return [Document(id=name, page_content=text) for name, text in TEXTS.items()]


def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(_Directions())
    made.add_documents(documents())
    return made


def chain(search: Runnable[Any, Any]) -> Runnable[Any, Any]:
    def joined(found: list[Any]) -> str:
        return "\n".join(each.page_content for each in found)

    return search | RunnableLambda(joined) | _ChatModel()


class Numbered(BaseRetriever):
    """A retriever of one's own with the number of its documents."""

    k: int = 5

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return documents()[: self.k]


class Fixed(BaseRetriever):
    """A retriever of one's own that does not say how many documents it returns."""

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return documents()[:5]


class Constant(BaseRetriever):
    """A retriever of one's own whose only number is that of a fusion."""

    k: int = 60

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return documents()[:5]


class Around(BaseRetriever):
    """It returns what another one finds, as one does that expands queries."""

    inner: BaseRetriever

    @override
    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return self.inner.invoke(query)


def found_in(_query: str, k: int = 5) -> list[Document]:
    return documents()[:k]


class _Embedding(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return direction(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return direction(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return direction(query)


class _LLM(CustomLLM):
    @property
    @override
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=32_768, model_name="news")

    @override
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=news(prompt), raw={"finish_reason": "stop"})

    @override
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        yield CompletionResponse(text=news(prompt), delta=news(prompt))


class _Nodes(LlamaRetriever):
    def __init__(self, nodes: list[TextNode], similarity_top_k: int) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType] -- of LlamaIndex
        self.nodes, self.similarity_top_k = nodes, similarity_top_k

    @override
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=each, score=1.0) for each in self.nodes[: self.similarity_top_k]]


def nodes() -> list[TextNode]:
    return [TextNode(id_=name, text=text) for name, text in TEXTS.items()]


def index() -> VectorStoreIndex:
    return VectorStoreIndex(nodes(), embed_model=_Embedding())


def engine(retriever: LlamaRetriever) -> RetrieverQueryEngine:
    return RetrieverQueryEngine.from_args(retriever, llm=_LLM())


def asking(search: Callable[[str], Any]) -> Callable[[str], str]:
    """An application without a framework; its search returns dicts or texts."""
    client = offline_client(lambda body: news(str(body["messages"])))

    def application(question: str) -> str:
        found = [each if isinstance(each, str) else each["text"] for each in search(question)]
        message: Any = {"role": "user", "content": "\n".join(found)}
        return str(
            client.chat.completions.create(model="m", messages=[message]).choices[0].message.content
        )

    return application


def _records(_query: str, k: int = 5) -> list[dict[str, str]]:
    return [{"id": name, "text": text} for name, text in list(TEXTS.items())[:k]]


def _by_name(query: str) -> list[dict[str, str]]:
    return _named(query, options={"top_k": 5})


@plain_gate
def _named(_query: str, *, options: dict[str, int]) -> list[dict[str, str]]:
    return _records("", options["top_k"])


@plain_gate
async def _later(_query: str, limit: int) -> list[dict[str, str]]:
    return _records("", limit)


def _async_application() -> Callable[[str], Any]:
    client = offline_client(lambda body: news(str(body["messages"])))

    async def application(question: str) -> str:
        found = await _later(question, 5)
        message: Any = {"role": "user", "content": "\n".join(each["text"] for each in found)}
        return str(
            client.chat.completions.create(model="m", messages=[message]).choices[0].message.content
        )

    return application


def _langchain(search: Runnable[Any, Any]) -> Any:
    return LangChainExplainer(chain(search), BAD, concurrency=1)


def _llama_index(retriever: LlamaRetriever) -> Any:
    return LlamaIndexExplainer(engine(retriever), BAD, concurrency=1)


def _plain(application: Callable[[str], Any]) -> Any:
    return PlainExplainer(application, BAD, concurrency=1)


def _scored(query: str) -> list[Document]:
    return [each for each, _ in SHARED.similarity_search_with_score(query, 5)]


SHARED = store()
FIVE: dict[str, Callable[[], Any]] = {
    "a retriever of a store": lambda: _langchain(SHARED.as_retriever(search_kwargs={"k": 5})),
    "a search of a store": lambda: _langchain(RunnableLambda(partial(SHARED.similarity_search, k=5))),
    "a search with scores": lambda: _langchain(RunnableLambda(_scored)),
    "a retriever with k": lambda: _langchain(Numbered()),
    "a retriever around another": lambda: _langchain(
        Around(inner=SHARED.as_retriever(search_kwargs={"k": 5}))
    ),
    "a gated function": lambda: _langchain(RunnableLambda(langchain_gate(found_in))),
    "a gated retriever": lambda: _langchain(langchain_gate(Numbered())),
    "an index": lambda: _llama_index(index().as_retriever(similarity_top_k=5)),
    "a retriever of nodes": lambda: _llama_index(_Nodes(nodes(), 5)),
    "a plain function": lambda: _plain(asking(plain_gate(_records))),
    "options in a dict": lambda: _plain(asking(_by_name)),
    "an async function": lambda: _plain(_async_application()),
}
"""Explainers of applications that show five facts."""
WITHOUT_K: dict[str, Callable[[], Any]] = {
    "a retriever": lambda: _langchain(Fixed()),
    "a retriever with another number": lambda: _langchain(Constant()),
    "a function with another number": lambda: _plain(
        asking(plain_gate(lambda _query, limit=3: _records("", 5)))
    ),
    "a function": lambda: _plain(asking(plain_gate(lambda _query: _records("")))),
}
