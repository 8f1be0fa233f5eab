"""LangChain's own standard tests for retrievers, on the gate retriever."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_rag_rule_explainer import BM25Retriever, GatedRetriever, gate
from langchain_tests.integration_tests import RetrieversIntegrationTests

CORPUS = [Document(id=f"d{n}", page_content=f"Entry {n} of the archive lists maps") for n in range(6)]


def gated(k: int = 4) -> BaseRetriever:
    return gate(BM25Retriever(documents=CORPUS, k=k))


class TestGatedRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> Any:
        return gated

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {}

    @property
    def retriever_query_example(self) -> str:
        return "maps of the archive"


def test_what_is_tested_is_the_gate_retriever() -> None:
    assert isinstance(gated(), GatedRetriever)
