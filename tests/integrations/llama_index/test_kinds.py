"""What is no application is refused with what to pass in its place."""

from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from llama_index.core import PromptTemplate, SummaryIndex
from llama_index_rag_rule_explainer import RuleExplainer, explained

from rag_rule_explainer import BaselineFailed, InvalidInput
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.llama_index.zoo.agents import RAG


class Made(RAG):
    """A workflow whose class takes nothing, and so is a function that makes one."""

    def __init__(self) -> None:
        super().__init__(retriever_of(), Telling())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            RAG,
            "the class RAG, not an instance of it; pass RAG\\(\\.\\.\\.\\), or a function that makes",
        ),
        (retriever_of(), "a retriever, which answers no questions, but finds nodes; pass an engine"),
        (SummaryIndex([]), "an index, which answers no questions; pass index.as_query_engine\\(\\)"),
        (PromptTemplate("{x}"), "a prompt template, which answers no questions"),
        (Telling(), "a model, which retrieves nothing; pass an engine"),
        (
            RunnableLambda(str),
            "LangChain's or LangGraph's; explain it with langchain_rag_rule_explainer",
        ),
        (lambda first, second: "x", "cannot be called with one question alone; pass a function of one"),
        (3, "this is an int, which answers no questions; pass a query engine"),
    ],
)
@pytest.mark.parametrize("explain", [RuleExplainer, explained])
def test_what_answers_no_questions_is_refused_with_what_to_pass(
    explain: Any, given: Any, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        explain(given, predicate=BAD)


def test_a_class_that_takes_nothing_makes_the_workflow() -> None:
    assert blames_b_and_d(RuleExplainer(Made, predicate=BAD).explain("why?"))


@pytest.mark.parametrize(
    ("application", "told"),
    [
        (lambda _: engine_of(retriever_of()), "a RetrieverQueryEngine in place.*query\\(question\\)"),
        (
            lambda question: (str(each) for each in [engine_of(retriever_of()).query(question)]),
            "a generator, which was not read, in place of an answer; return the whole text",
        ),
        (lambda _: Made(), "a Made in place of an answer; ask it there \\(run\\(question\\)"),
    ],
)
def test_a_function_that_returns_what_answers_says_so(application: Any, told: str) -> None:
    with pytest.raises(BaselineFailed, match=told):
        RuleExplainer(application, predicate=BAD).explain("why?")
