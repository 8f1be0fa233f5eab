"""Applications of LangChain, one of each shape, whose answers rest on known documents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain.agents import create_agent
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from tests.integrations.known import TEXTS
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.agents import Calling

QUESTION = "Why do dunes and basalt look as they do?"


@dataclass(frozen=True)
class Asked:
    """An application, its input, and how it is run: ``run`` takes the application, the input and the
    configuration with the tracer's callbacks."""

    application: Any
    given: Any
    run: Callable[[Any, Any, Any], Any] = lambda app, given, config: app.invoke(given, config)
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


def documents() -> list[Document]:
    """One with an id, one that is named by its metadata, one that nothing names."""
    return [
        Document(id="amber", page_content=TEXTS["a"], metadata={"source": "stones.txt", "page": 3}),
        Document(page_content=TEXTS["b"], metadata={"source": "basalt.md"}),
        Document(page_content=TEXTS["d"], metadata={"score": 0.25}),
    ]


def joined(found: Sequence[Document]) -> str:
    return "\n\n".join(each.page_content for each in found)


PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Answer from this context:\n{context}"), ("human", "{question}")]
)


def _named(params: Any) -> Any:
    """OpenTelemetry's instrumentation leaves out models that have no name."""
    return {**params, "ls_provider": "openai", "ls_model_name": "telling-1"}


class Named(Telling):
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return _named(super()._get_ls_params(stop, **kwargs))


class NamedCalling(Calling):
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> Any:
        return _named(super()._get_ls_params(stop, **kwargs))


def model() -> Telling:
    return Named()


def chain_over(retriever: Any) -> Any:
    found: Any = {"context": retriever | joined, "question": RunnablePassthrough()}
    return found | PROMPT | model() | StrOutputParser()


def retrieving() -> Asked:
    return Asked(chain_over(Counting(documents=documents())), QUESTION)


def streaming() -> Asked:
    app = chain_over(Counting(documents=documents()))
    return Asked(app, QUESTION, lambda app, given, config: list(app.stream(given, config)))


def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents(
        [each.model_copy(update={"id": each.id or f"n{place}"}) for place, each in enumerate(documents())]
    )
    return made


def direct() -> Asked:
    kept = store()

    def answer(question: str) -> str:
        found = kept.similarity_search(question, k=3)
        asked = PROMPT.invoke({"context": joined(found), "question": question})
        return model().invoke(asked).text

    return Asked(RunnableLambda(answer), QUESTION)


def agent() -> Asked:
    kept = store()

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search the index."""
        found = kept.similarity_search(query, k=3)
        return joined(found), found

    made = create_agent(NamedCalling(tool="search", query=lambda: "dunes and basalt"), [search])
    return Asked(made, {"messages": [{"role": "user", "content": QUESTION}]})


class Turning(BaseDocumentCompressor):
    """Puts the last document first, and leaves out the one before the last of four."""

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> Any:
        kept = [each for each in reversed(documents) if "Copper" not in each.page_content]
        return [
            each.model_copy(update={"metadata": {**each.metadata, "relevance_score": 1 / place}})
            for place, each in enumerate(kept, start=1)
        ]


def reranked() -> Asked:
    within = [*documents()[:2], Document(page_content=TEXTS["c"], id="copper"), documents()[2]]
    turning: Any = ContextualCompressionRetriever(
        base_compressor=Turning(), base_retriever=Counting(documents=within)
    )
    return Asked(chain_over(turning), QUESTION)


def two_retrievers() -> Asked:
    first, second = Counting(documents=documents()[:2]), Counting(documents=documents()[1:])

    def both(question: str) -> str:
        found = [*first.invoke(question), *second.invoke(question)]
        return joined(list({each.page_content: each for each in found}.values()))

    found: Any = {"context": RunnableLambda(both), "question": RunnablePassthrough()}
    return Asked(found | PROMPT | model() | StrOutputParser(), QUESTION)


def chatting() -> Asked:
    retriever = Counting(documents=documents())
    prompt = ChatPromptTemplate.from_messages(
        [
            ("system", "Answer from this context:\n{context}"),
            ("placeholder", "{chat_history}"),
            ("human", "{input}"),
        ]
    )
    found: Any = RunnablePassthrough.assign(context=(lambda given: given["input"]) | retriever | joined)
    app = found | prompt | model() | StrOutputParser()
    history = [("human", "Do you know stones?"), ("ai", "I know a few.")]
    return Asked(app, {"input": QUESTION, "chat_history": history})


class State(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: str


def workflow() -> Asked:
    retriever = Counting(documents=documents())

    def retrieve(state: State) -> Any:
        return {"context": retriever.invoke(state.get("question", ""))}

    def generate(state: State) -> Any:
        shown = {"context": joined(state.get("context", [])), "question": state.get("question")}
        return {"answer": model().invoke(PROMPT.invoke(shown)).text}

    graph: Any = StateGraph(State)
    graph.add_node("retrieve", retrieve)
    graph.add_node("generate", generate)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "generate")
    graph.add_edge("generate", END)
    return Asked(graph.compile(), {"question": QUESTION})


SHAPES: dict[str, Callable[[], Asked]] = {
    "retriever": retrieving,
    "direct": direct,
    "agent": agent,
    "reranker": reranked,
    "two-retrievers": two_retrievers,
    "chat": chatting,
    "workflow": workflow,
    "streaming": streaming,
}
