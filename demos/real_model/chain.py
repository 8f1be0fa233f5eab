"""An ordinary chain: a vector store with real embeddings, a prompt, OpenAI's client, a parser."""

from collections.abc import Iterable, Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from demos.real_model.asked import Asked
from demos.real_model.runtime import Endpoint

SYSTEM = "Answer from the context, in one short sentence."
"""The shorter the better: a model of this size repeats a long prompt instead of following it."""
USER = "{context}\n\nQuestion: {question}"
LONGEST = 40
"""The tokens of an answer; what is longer is cut off."""


def retriever_over(questions: Iterable[Asked], embeddings: Embeddings, k: int = 4) -> BaseRetriever:
    """Returns the search over the documents of all questions."""
    documents = [
        Document(id=name, page_content=text)
        for each in questions
        for name, text in each.documents.items()
    ]
    return InMemoryVectorStore.from_documents(documents, embeddings).as_retriever(search_kwargs={"k": k})


def model_at(endpoint: Endpoint) -> ChatOpenAI:
    """Returns OpenAI's client for a model that is served elsewhere."""
    return ChatOpenAI(
        model=endpoint.name,
        base_url=endpoint.url,
        api_key=SecretStr(endpoint.key),
        temperature=0,
        seed=1,
        max_completion_tokens=LONGEST,
        # Where a server reads parts of a prompt from its cache, numbers are added in another order.
        extra_body={"cache_prompt": False} if endpoint.own else None,
    )


def shown(documents: Sequence[Document]) -> str:
    """Returns the context. The best document stands last, beside the question: small models read the end
    best."""
    return "\n".join(document.page_content for document in reversed(documents))


def chain_of(retriever: BaseRetriever, endpoint: Endpoint) -> Runnable[str, str]:
    prompt = ChatPromptTemplate.from_messages([("system", SYSTEM), ("user", USER)])
    question: Runnable[str, str] = RunnablePassthrough()
    return (
        {"context": retriever | shown, "question": question}
        | prompt
        | model_at(endpoint)
        | StrOutputParser()
    )
