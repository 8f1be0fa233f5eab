"""Indexes that are there before the run, and that a run fills with what it has retrieved."""

from collections.abc import Callable, Iterable
from typing import Any

from langchain_classic.retrievers import EnsembleRetriever, ParentDocumentRetriever
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_rag_rule_explainer import gate
from langchain_text_splitters import RecursiveCharacterTextSplitter
from typing_extensions import override

from tests.integrations.known import TEXTS
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.zoo.shapes import answering, joined, model, retriever_of
from tests.integrations.stateful import SHARED, Made, Stateful

EMBEDDINGS = DeterministicFakeEmbedding(size=8)
Search = Callable[[str], list[Document]]
Filling = Callable[[list[Document], str], list[Document]]
"""Puts what the web had into an index, and searches that."""


def index_of(names: str) -> InMemoryVectorStore:
    return InMemoryVectorStore.from_documents(facts(names), EMBEDDINGS)


def copies(found: Iterable[Document]) -> list[Document]:
    """The documents as a crawler would have them: no ids, and a little more text."""
    return [Document(page_content=f"> {each.page_content}") for each in found]


def filling(fill_and_search: Filling, web: str = "bcd", memory: Callable[[], Any] | None = None) -> Made:
    retriever = retriever_of(web)

    def search(question: str) -> list[Document]:
        return fill_and_search(retriever.invoke(f"the web: {question}"), question)

    return Made(answering(search), memory=memory or (lambda: None))


def texts_in(store: InMemoryVectorStore) -> list[str]:
    return sorted(each["text"] for each in store.store.values())


def one_text() -> Made:
    """All that was found becomes one document of the store."""
    store = index_of("a")

    def fill(found: list[Document], question: str) -> list[Document]:
        store.add_documents([Document(page_content=joined(found) or "nothing")])
        return store.similarity_search(question, k=9)

    return filling(fill, memory=lambda: texts_in(store))


def copied() -> Made:
    store = index_of("ad")

    def fill(found: list[Document], question: str) -> list[Document]:
        if found:
            store.add_documents(copies(found))
        return store.as_retriever(search_kwargs={"k": 9}).invoke(question)

    return filling(fill, "bc", lambda: texts_in(store))


def empty_before() -> Made:
    store = InMemoryVectorStore(EMBEDDINGS)

    def fill(found: list[Document], question: str) -> list[Document]:
        store.add_texts([each.page_content for each in copies(found)])
        return [each for each, _ in store.similarity_search_with_score(question, k=9)]

    return filling(fill, "abcd", lambda: texts_in(store))


def awaited() -> Made:
    store, retriever = index_of("a"), retriever_of("bcd")

    async def answer(question: str) -> str:
        found = copies(await retriever.ainvoke("the web"))
        if found:
            await store.aadd_documents(found)
        return (await model().ainvoke(joined(await store.asimilarity_search(question, k=9)))).text

    return Made(RunnableLambda(answer), memory=lambda: texts_in(store))


def searched_before() -> Made:
    """Corrective: the index is searched, filled from the web, and searched for the same once more."""
    store, web = index_of("ad"), retriever_of("bc")

    def search(question: str) -> list[Document]:
        store.similarity_search(question, k=9)
        store.add_documents(copies(web.invoke(question)))
        return store.similarity_search(question, k=9)

    return Made(answering(search), memory=lambda: texts_in(store))


def parents() -> Made:
    retriever = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(EMBEDDINGS),
        docstore=InMemoryStore(),
        child_splitter=RecursiveCharacterTextSplitter(chunk_size=40, chunk_overlap=0),
        search_kwargs={"k": 99},
    )
    retriever.add_documents(facts("a"))

    def fill(found: list[Document], question: str) -> list[Document]:
        if found:
            retriever.add_documents(copies(found))
        return retriever.invoke(question)

    return filling(fill)


def in_an_ensemble() -> Made:
    store = index_of("a")
    both: list[Any] = [store.as_retriever(search_kwargs={"k": 9}), retriever_of("c")]
    ensemble = EnsembleRetriever(retrievers=both, weights=[0.5, 0.5])

    def fill(found: list[Document], question: str) -> list[Document]:
        store.add_documents(copies(found))
        return ensemble.invoke(question)

    return filling(fill, "bd")


def in_gate() -> Made:
    """The search is a function of the user's own; what it reads is a store of documents by key."""
    store = InMemoryStore()
    store.mset([("a", facts("a")[0])])
    search = gate(lambda _: [each for each in store.mget(list(TEXTS)) if each])

    def fill(found: list[Document], question: str) -> list[Document]:
        store.mset([(str(each.id), copies([each])[0]) for each in found])
        return search(question)

    return filling(fill)


def made_of_both() -> Made:
    """An index of the user's documents and of what was found, made in the run."""
    corpus = facts("a")

    def fill(found: list[Document], question: str) -> list[Document]:
        index = InMemoryVectorStore.from_documents([*corpus, *copies(found)], EMBEDDINGS)
        return index.similarity_search(question, k=9)

    return filling(fill)


class Listing(BaseRetriever):
    """Finds all that is in a list, as a search by keywords over a list might."""

    documents: list[Document]

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return list(self.documents)


def listing() -> Made:
    retriever = Listing(documents=facts("a"))

    def fill(found: list[Document], question: str) -> list[Document]:
        retriever.documents.extend(copies(found))
        return retriever.invoke(question)

    return filling(fill)


def listing_anew() -> Made:
    def fill(found: list[Document], question: str) -> list[Document]:
        retriever = Listing(documents=facts("a"))
        retriever.documents.extend(copies(found))
        return retriever.invoke(question)

    return filling(fill)


def listing_in_gate() -> Made:
    held = facts("a")
    search: Search = gate(lambda _: list(held))

    def fill(found: list[Document], question: str) -> list[Document]:
        held.extend(copies(found))
        return search(question)

    return filling(fill)


def listing_in_gate_anew() -> Made:
    def fill(found: list[Document], question: str) -> list[Document]:
        held = facts("a")
        search: Search = gate(lambda _: list(held))
        held.extend(copies(found))
        return search(question)

    return filling(fill)


class Remote(VectorStore):
    """A store that nobody can copy: what it holds is behind functions."""

    def __init__(self, held: list[Document]) -> None:
        self._client: Any = held.append
        self._held: Callable[[], list[Document]] = lambda: list(held)

    @override
    def add_documents(self, documents: list[Document], **kwargs: Any) -> list[str]:
        for each in documents:
            self._client(each)
        return [str(each.id) for each in documents]

    @override
    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return self._held()

    @classmethod
    @override
    def from_texts(
        cls, texts: list[str], embedding: Any = None, metadatas: Any = None, **kwargs: Any
    ) -> "Remote":
        return cls([Document(page_content=text) for text in texts])


def in_a_store(made: Callable[[], VectorStore], *, anew: bool = False) -> Callable[[], Made]:
    def build() -> Made:
        kept = made()

        def fill(found: list[Document], question: str) -> list[Document]:
            store = made() if anew else kept
            if found:
                store.add_documents(copies(found))
            return store.similarity_search(question, k=9)

        return filling(fill)

    return build


SHAPES = (
    Stateful("filled: a store, with one document of all that was found", one_text),
    Stateful("filled: a store, with copies of what was found", copied),
    Stateful("filled: a store that was empty", empty_before),
    Stateful("filled: a store, awaited", awaited),
    Stateful("filled: a store that was searched before", searched_before),
    Stateful("filled: ParentDocumentRetriever", parents),
    Stateful("filled: a store in an EnsembleRetriever", in_an_ensemble),
    Stateful("filled: a key-value store behind gate", in_gate),
    Stateful("filled: an index that is made of both", made_of_both),
    Stateful("filled: a list of a retriever's own", listing, SHARED, listing_anew),
    Stateful("filled: a list behind gate", listing_in_gate, SHARED, listing_in_gate_anew),
    Stateful(
        "filled: a store that cannot be copied",
        in_a_store(lambda: Remote(facts("a"))),
        SHARED,
        in_a_store(lambda: index_of("a"), anew=True),
    ),
)
