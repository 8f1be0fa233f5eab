"""The chains and retrievers of langchain_classic."""

from typing import Any

from langchain_classic.chains import (
    RetrievalQA,
    create_history_aware_retriever,
    create_retrieval_chain,
)
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MultiQueryRetriever,
    ParentDocumentRetriever,
)
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.stores import InMemoryStore
from langchain_text_splitters import CharacterTextSplitter

from tests.integrations.langchain.models import Telling, facts
from tests.integrations.langchain.zoo.lcel import PARSED, answering
from tests.integrations.langchain.zoo.shapes import (
    Built,
    Shape,
    Store,
    asked,
    joined,
    model,
    retriever_of,
)

PROMPT = ChatPromptTemplate.from_template("{context}\n\n{input}")


def retrieval_chain() -> Built:
    retriever = retriever_of()
    chain = create_retrieval_chain(retriever, create_stuff_documents_chain(model(), PROMPT))
    return Built(chain, {"input": "why?"}, asked(retriever))


def retrieval_qa() -> Built:
    retriever = retriever_of()
    return Built(
        RetrievalQA.from_chain_type(model(), retriever=retriever), {"query": "why?"}, asked(retriever)
    )


def ensemble() -> Built:
    one, two = retriever_of("abc"), retriever_of("bcd")
    both = EnsembleRetriever(retrievers=[one, two], weights=[0.5, 0.5])
    return Built(answering(both | joined), "why?", asked(one, two))


class LastLetters(BaseDocumentCompressor):
    """Keeps what is neither x nor y, as a reranker inside the retriever would."""

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return [document for document in documents if document.id != "a"]


def compressed() -> Built:
    retriever = retriever_of()
    compressing = ContextualCompressionRetriever(base_compressor=LastLetters(), base_retriever=retriever)
    return Built(answering(compressing | joined), "why?", asked(retriever))


def multi_query() -> Built:
    retriever = retriever_of()
    writer = Telling(says=lambda _: "why so?\nhow come?")
    several = MultiQueryRetriever.from_llm(retriever=retriever, llm=writer)
    return Built(answering(several | joined), "why?", asked(retriever))


def parent_document() -> Built:
    store = Store("")
    retriever = ParentDocumentRetriever(
        vectorstore=store,
        docstore=InMemoryStore(),
        child_splitter=CharacterTextSplitter(separator=" ", chunk_size=40, chunk_overlap=0),
        search_kwargs={"k": 40},
    )
    retriever.add_documents(facts("abcd"), ids=list("abcd"))
    return Built(answering(retriever | joined), "why?", lambda: store.searches)


def history_aware() -> Built:
    retriever = retriever_of()
    rephrase = ChatPromptTemplate.from_messages([("placeholder", "{chat_history}"), ("human", "{input}")])
    writer = Telling(says=lambda _: "why exactly?")
    aware = create_history_aware_retriever(writer, retriever, rephrase)
    chain = create_retrieval_chain(aware, create_stuff_documents_chain(model(), PROMPT))
    history = [HumanMessage("Are you there?"), AIMessage("Yes.")]
    return Built(chain, {"input": "why?", "chat_history": history}, asked(retriever))


def message_history() -> Built:
    from langchain_core.chat_history import InMemoryChatMessageHistory

    retriever, histories = retriever_of(), {"s": InMemoryChatMessageHistory()}
    prompt = ChatPromptTemplate.from_messages(
        [("placeholder", "{history}"), ("human", "{context}\n\n{question}")]
    )

    def context(given: dict[str, Any]) -> str:
        return joined(retriever.invoke(given["question"]))

    def history_of(session_id: str) -> InMemoryChatMessageHistory:
        return histories[session_id]

    chain = RunnableWithMessageHistory(
        RunnablePassthrough.assign(context=context) | prompt | model() | PARSED,
        history_of,
        input_messages_key="question",
        history_messages_key="history",
    )
    config = {"configurable": {"session_id": "s"}}
    return Built(chain, {"question": "why?"}, asked(retriever), config=config)


SHAPES = (
    Shape("`create_retrieval_chain`", retrieval_chain),
    Shape("`RetrievalQA`", retrieval_qa),
    Shape("`EnsembleRetriever`", ensemble, live=2),
    Shape("`ContextualCompressionRetriever`", compressed),
    Shape("`MultiQueryRetriever`", multi_query, live=2),
    Shape("`ParentDocumentRetriever`", parent_document),
    Shape("history-aware retriever", history_aware),
    Shape("`RunnableWithMessageHistory`", message_history),
)
