"""A model that needs no source, in applications that do not ask it without one."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer as LangChainExplainer
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import RuleExplainer as LlamaIndexExplainer

from tests.citations.oracles import MEMORY, QUESTION, TEXTS, UNDECIDED
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling
from tests.integrations.llama_index.engines import Counting as CountingNodes
from tests.integrations.llama_index.models import Telling as TellingLLM

SAID = "It takes six weeks [1]."


def engine(names: list[str]) -> Any:
    nodes = [TextNode(id_=name, text=TEXTS[name]) for name in names]
    engines: Any = CitationQueryEngine
    model = TellingLLM(says=lambda prompt: SAID)
    return LlamaIndexExplainer(engines.from_args(None, llm=model, retriever=CountingNodes(nodes)))


def chain(names: list[str], *, early: bool = True) -> Any:
    found = Counting(documents=[Document(id=name, page_content=TEXTS[name]) for name in names])
    model = Telling(says=lambda messages: SAID)

    def run(question: str, config: Any) -> str:
        documents = found.invoke(question, config)
        if early and not documents:
            return "Nothing was found."
        prompt = "\n".join(each.page_content for each in documents)
        return model.invoke(f"{prompt}\n{QUESTION}", config).text

    return LangChainExplainer(RunnableLambda(run))


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("names", [["D1", "D2"], [*TEXTS]], ids=["two", "five"])
@pytest.mark.parametrize("explainer", [engine, chain])
def test_what_is_answered_without_asking_the_model_is_no_evidence(
    explainer: Any, names: list[str]
) -> None:
    (check,) = explainer(names).cite(QUESTION).checks
    assert [each.citation_class for each in check.verdicts] == [UNDECIDED]
    assert check.faithful is check.sufficient is check.smallest_honest is None
    assert check.uncited == ()
    assert "without asking its model" in str(check)


def test_a_model_that_is_asked_says_it_from_memory() -> None:
    (check,) = chain([*TEXTS], early=False).cite(QUESTION).checks
    assert [each.citation_class for each in check.verdicts] == [MEMORY]


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("names", [["D1"], ["D1", "D2"], [*TEXTS]], ids=["one", "two", "five"])
@pytest.mark.parametrize("tokens", [0, 7])
def test_a_request_that_rewrites_the_question_is_no_evidence_that_the_model_was_asked(
    names: list[str], tokens: int
) -> None:
    found = Counting(documents=[Document(id=name, page_content=TEXTS[name]) for name in names])
    model = Telling(says=lambda messages: SAID, spends=tokens)

    def run(question: str, config: Any) -> str:
        model.invoke(f"Rewrite: {question}", config)
        documents = found.invoke(question, config)
        if not documents:
            return "Nothing was found."
        return model.invoke("\n".join(each.page_content for each in documents), config).text

    (check,) = LangChainExplainer(RunnableLambda(run)).cite(QUESTION).checks
    assert [each.citation_class for each in check.verdicts] == [UNDECIDED]
    assert check.faithful is check.sufficient is None
    assert "without asking its model" in str(check)
