"""The chains and retrievers of langchain_classic."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from langchain_classic.chains import (
    ConversationalRetrievalChain,
    RetrievalQA,
    create_history_aware_retriever,
    create_retrieval_chain,
)
from langchain_classic.chains.combine_documents import create_stuff_documents_chain
from langchain_classic.memory import ConversationBufferMemory
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MergerRetriever,
    MultiQueryRetriever,
    MultiVectorRetriever,
    ParentDocumentRetriever,
)
from langchain_classic.retrievers.document_compressors import LLMChainFilter
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.stores import InMemoryStore
from langchain_text_splitters import CharacterTextSplitter

from tests.integrations.langchain.models import Telling, facts, sent_in
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


class LaterLetters(BaseDocumentCompressor):
    """Keeps all but the first, as a score cut inside the retriever would."""

    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return [document for document in documents if document.id != "a"]


def compressed() -> Built:
    retriever = retriever_of()
    compressing = ContextualCompressionRetriever(base_compressor=LaterLetters(), base_retriever=retriever)
    return Built(answering(compressing | joined), "why?", asked(retriever))


def filtered_by_a_model() -> Built:
    """Its model is shown each document by itself, to say whether it is of any use."""
    retriever, judge = retriever_of(), Telling(says=lambda _: "YES")
    compressing = ContextualCompressionRetriever(
        base_compressor=LLMChainFilter.from_llm(judge), base_retriever=retriever
    )
    return Built(answering(compressing | joined), "why?", asked(retriever))


def merged() -> Built:
    one, two = retriever_of("ab"), retriever_of("cd")
    return Built(answering(MergerRetriever(retrievers=[one, two]) | joined), "why?", asked(one, two))


def multi_vector() -> Built:
    store, originals = Store(""), InMemoryStore()
    store.add_documents(
        [Document(f"What {name} is about.", metadata={"doc_id": name}) for name in "abcd"]
    )
    originals.mset([(each.id or "", each) for each in facts("abcd")])
    retriever = MultiVectorRetriever(vectorstore=store, docstore=originals)
    return Built(answering(retriever | joined), "why?", lambda: store.searches)


class Noting(Telling):
    """Notes of each document that it is shown which one it is, and answers from such notes."""

    says: Callable[[list[BaseMessage]], str] = lambda messages: noting(messages)

    def get_num_tokens(self, text: str) -> int:
        return len(text.split())


def noting(messages: list[BaseMessage]) -> str:
    sent = " ".join(message.text for message in messages)
    if shown := sent_in(messages):
        return " ".join(f"noted-{name}" for name in shown)
    return "bad news" if {"noted-b", "noted-d"} <= set(sent.split()) else "good news"


def map_reduced() -> Built:
    retriever = retriever_of()
    chain = RetrievalQA.from_chain_type(Noting(), retriever=retriever, chain_type="map_reduce")
    return Built(chain, {"query": "why?"}, asked(retriever))


def conversation() -> Built:
    retriever = retriever_of()
    memory = ConversationBufferMemory(memory_key="chat_history", return_messages=True)
    chain = ConversationalRetrievalChain.from_llm(model(), retriever=retriever, memory=memory)
    return Built(chain, {"question": "why?"}, asked(retriever))


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
    retriever = retriever_of()
    histories: dict[str, InMemoryChatMessageHistory] = defaultdict(InMemoryChatMessageHistory)
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
    config = {"configurable": {"session_id": "t"}}
    return Built(chain, {"question": "why?"}, asked(retriever), config=config)


SHAPES = (
    Shape("`create_retrieval_chain`", retrieval_chain),
    Shape("`RetrievalQA`", retrieval_qa),
    Shape("`RetrievalQA`, map_reduce", map_reduced),
    Shape("`ConversationalRetrievalChain` with a memory", conversation),
    Shape("`EnsembleRetriever`", ensemble, live=2),
    Shape("`ContextualCompressionRetriever`", compressed),
    Shape("`LLMChainFilter`, a model inside the retriever", filtered_by_a_model),
    Shape("`MergerRetriever`", merged, live=2),
    Shape("`MultiQueryRetriever`", multi_query, live=2),
    Shape("`MultiVectorRetriever`", multi_vector),
    Shape("`ParentDocumentRetriever`", parent_document),
    Shape("history-aware retriever", history_aware),
    Shape("`RunnableWithMessageHistory`", message_history),
)
