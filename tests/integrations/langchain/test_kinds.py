"""What is no application is refused with what to pass in its place."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypedDict, cast

import pytest
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer, explained
from langgraph.graph import END, START, StateGraph
from llama_index.core.llms import MockLLM

from rag_rule_explainer import BaselineFailed, InvalidInput
from tests.integrations.known import BAD, blames_b_and_d
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.representing import SELDOM


class Talk(TypedDict):
    question: str


def graph() -> Any:
    made: Any = StateGraph(Talk)
    made.add_node("answer", lambda state: state)
    made.add_edge(START, "answer")
    made.add_edge("answer", END)
    return made


def chain() -> Any:
    return retriever_of() | RunnableLambda(joined) | Telling()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (graph(), "this StateGraph is not compiled; pass what its compile\\(\\) returns"),
        (retriever_of(), "is a retriever, which finds documents and answers nothing; pass the chain"),
        (ChatPromptTemplate.from_template("{x}"), "is a prompt template, which only words a request"),
        (Telling, "the class Telling, not an instance of it; pass Telling\\(\\.\\.\\.\\)"),
        ("chain", "this is a str, which LangChain cannot run; pass a chain"),
    ],
)
@pytest.mark.parametrize("explain", [RuleExplainer, explained])
def test_what_answers_no_questions_is_refused_with_what_to_pass(
    explain: Any, given: Any, told: str
) -> None:
    with pytest.raises(InvalidInput, match=told):
        explain(given, predicate=BAD)


def test_a_part_may_answer_where_its_output_is_read_by_the_caller() -> None:
    found: Any = RuleExplainer(retriever_of(), predicate=BAD, answer_of=lambda found: joined(found))
    assert found.application


def test_a_function_may_return_the_chain_that_answers() -> None:
    # LangChain runs it.
    assert blames_b_and_d(RuleExplainer(lambda _: chain(), predicate=BAD).explain("why?"))


@pytest.mark.parametrize("awaiting", SELDOM)
def test_a_function_of_nothing_makes_the_chain_anew_for_every_run(awaiting: bool) -> None:
    made: list[Any] = []

    def make() -> Any:
        made.append(chain())
        return made[-1]

    explainer = RuleExplainer(make, predicate=BAD)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert blames_b_and_d(explanation)
    assert len(made) == explanation.counts.replays
    *_, last = explained(make, predicate=BAD).stream("why?")
    assert last.response_metadata["rag_rules"]["retention_rules"]


def test_a_function_of_nothing_that_makes_no_chain_is_told_what_to_be() -> None:
    with pytest.raises(InvalidInput, match=r"\(\) takes no input, and returned a str; pass a func"):
        RuleExplainer(cast("Any", lambda: "bad"), predicate=BAD).explain("why?")


class Bot:
    """Remembers what was said to it, so it is made anew."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def __call__(self, question: str) -> str:
        found = joined(retriever_of().invoke(question))
        reply = Telling().invoke(f"{found} {self.said}").text
        self.said.append(reply)
        return reply


def a_closure() -> Callable[[str], str]:
    bot = Bot()
    return lambda question: bot(question)


def an_async_closure() -> Callable[[str], Awaitable[str]]:
    bot = Bot()

    async def answer(question: str) -> str:
        return await asyncio.to_thread(bot, question)

    return answer


@pytest.mark.parametrize("awaiting", SELDOM)
@pytest.mark.parametrize("make", [lambda: Bot(), a_closure, an_async_closure])
def test_a_function_of_nothing_may_make_what_is_called(make: Any, awaiting: bool) -> None:
    explainer = RuleExplainer(make, predicate=BAD)
    explanation = asyncio.run(explainer.aexplain("why?")) if awaiting else explainer.explain("why?")
    assert blames_b_and_d(explanation)
    assert all(rule.proved for rule in explanation.rules)


def test_a_generator_function_that_takes_its_input_for_a_text_is_told_what_it_is_given() -> None:
    def answer(question: Any) -> Iterator[str]:
        yield chain().invoke(question.lower()).text

    with pytest.raises(BaselineFailed, match=r"pass a function that returns the whole text: lambda"):
        RuleExplainer(answer, predicate=BAD).explain("why?")
    whole = RuleExplainer(lambda question: "".join(answer(question)), predicate=BAD)
    assert blames_b_and_d(whole.explain("why?"))


def test_a_stream_that_nobody_reads_is_no_answer() -> None:
    explainer = RuleExplainer(lambda question: (chain().stream(question),)[0], predicate=BAD)
    with pytest.raises(BaselineFailed, match="which was not read, in place of an answer; return the"):
        explainer.explain("why?")


def test_an_engine_is_for_the_other_integration() -> None:
    with pytest.raises(InvalidInput, match="explain it with llama_index_rag_rule_explainer"):
        RuleExplainer(cast("Any", MockLLM()), predicate=BAD)


def test_a_coroutine_that_nobody_awaits_is_no_answer() -> None:
    explainer = RuleExplainer(lambda question: (chain().ainvoke(question),)[0], predicate=BAD)
    with pytest.raises(BaselineFailed, match="returned a coroutine in place of an answer; make it"):
        explainer.explain("why?")
