"""The question out of an input, the answer out of an output."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.runnables import Runnable, RunnableGenerator
from langchain_rag_rule_explainer import RuleExplainer
from langchain_rag_rule_explainer.reading import answer_in
from pydantic import BaseModel
from typing_extensions import TypedDict

from rag_rule_explainer import Answer, InvalidInput, json_path
from tests.integrations.known import BAD, retention, sets
from tests.integrations.langchain.chains import bad_with, retriever_of, step


class ModelState(BaseModel):
    question: str
    answer: str = ""


@dataclass
class DataState:
    messages: list[BaseMessage]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    "given",
    [
        "why?",
        HumanMessage("why?"),
        HumanMessage([{"type": "text", "text": "why?"}]),
        [SystemMessage("be brief"), HumanMessage("why?")],
        {"question": "why?"},
        {"input": "why?", "chat_history": []},
        {"query": "why?"},
        {"messages": [HumanMessage("who?"), AIMessage("you"), HumanMessage("why?")]},
        ModelState(question="why?"),
        DataState([HumanMessage("why?")]),
    ],
    ids=repr,
)
def test_the_question_is_read_out_of_the_usual_inputs(given: Any) -> None:
    chain = step(str) | retriever_of("ab") | bad_with("b")
    assert RuleExplainer(chain, predicate=BAD).explain(given).question == "why?"


@pytest.mark.parametrize(
    "wrap",
    [
        step(lambda text: text),
        step(AIMessage),
        step(lambda text: [HumanMessage("?"), AIMessage(text)]),
        step(lambda text: {"answer": text, "context": []}),
        step(lambda text: {"output": AIMessage(text)}),
        step(lambda text: {"result": text, "source_documents": []}),
        step(lambda text: {"messages": [HumanMessage("?"), AIMessage(text)]}),
    ],
    ids=["str", "message", "messages", "answer", "output", "result", "state"],
)
def test_the_answer_is_read_out_of_the_usual_outputs(wrap: Runnable[Any, Any]) -> None:
    chain = retriever_of("ab") | bad_with("b") | wrap
    explanation = RuleExplainer(chain, predicate=BAD).explain("?")
    assert explanation.baseline.text == "bad"
    assert retention(explanation) == sets("b")


@pytest.mark.parametrize("given", [5, None, [], {"topic": "why?"}, {"question": 5}])
def test_an_input_without_a_question_names_the_way_out(given: Any) -> None:
    retriever = retriever_of("ab")
    explainer = RuleExplainer(step(str) | retriever | bad_with("b"))
    with pytest.raises(InvalidInput, match="question_of="):
        explainer.explain(given)
    assert retriever.live == []


@pytest.mark.parametrize("output", [5, None, [], {"said": "bad"}])
def test_an_output_without_an_answer_names_the_way_out(output: Any) -> None:
    chain = retriever_of("ab") | step(lambda _: output)
    with pytest.raises(InvalidInput, match="answer_of="):
        RuleExplainer(chain).explain("?")


ITEMS = ["calcium", "zinc"]
SEVERAL: list[tuple[Any, str]] = [
    (ITEMS, "calcium\nzinc"),
    (tuple(ITEMS), "calcium\nzinc"),
    ({"answer": ITEMS}, "calcium\nzinc"),
    ([AIMessage("calcium"), HumanMessage("thanks")], "calcium"),
    ({"messages": [AIMessage("Let me see."), ToolMessage("calcium", tool_call_id="1")]}, "calcium"),
    ({"messages": [("human", "What?"), ("ai", "calcium")]}, "calcium"),
]


@pytest.mark.parametrize(("output", "text"), SEVERAL)
def test_a_list_is_judged_by_all_its_texts_or_by_the_last_reply_in_it(output: Any, text: str) -> None:
    assert answer_in(output).text == text


def test_a_list_of_anything_else_is_no_answer() -> None:
    with pytest.raises(InvalidInput, match="pass answer_of="):
        answer_in([{"name": "calcium"}, {"answer": "zinc"}])
    documents: list[Any] = [[{"text": "calcium"}], {"text": "calcium"}]
    for each in documents:
        with pytest.raises(InvalidInput, match="pass answer_of="):
            answer_in((each, {"score": 1}))


def test_functions_of_ones_own_read_question_and_answer() -> None:
    chain = (
        step(lambda given: given["topic"])
        | retriever_of("ab")
        | bad_with("b")
        | step(lambda text: {"said": text})
    )
    explainer = RuleExplainer(
        chain,
        predicate=BAD,
        question_of=lambda given: given["topic"],
        answer_of=lambda output: Answer(output["said"], finish_reason="eos"),
    )
    explained = explainer.invoke({"topic": "rivers"})
    assert explained.output == {"said": "bad"}
    assert explained.explanation.question == "rivers"
    assert explained.explanation.raw_input == {"topic": "rivers"}
    assert explained.explanation.baseline.finish_reason == "eos"
    assert retention(explained.explanation) == sets("b")


class Dose(BaseModel):
    unit: str
    milligrams: int


@pytest.mark.parametrize(
    "wrap",
    [
        step(lambda unit: Dose(unit=unit, milligrams=5)),
        step(lambda unit: {"raw": AIMessage(""), "parsed": Dose(unit=unit, milligrams=5)}),
        step(
            lambda unit: {
                "messages": [HumanMessage("?"), AIMessage("")],
                "structured_response": Dose(unit=unit, milligrams=5),
            }
        ),
    ],
    ids=["object", "with the raw message", "an agent's"],
)
def test_structured_output_is_judged_as_such(wrap: Runnable[Any, Any]) -> None:
    chain = retriever_of("abc") | bad_with("b") | wrap
    explainer = RuleExplainer(chain, predicate=json_path("$.unit", equals="bad"))
    explanation = explainer.explain("?")
    assert explanation.baseline.value == {"unit": "bad", "milligrams": 5}
    assert retention(explanation) == sets("b")
    # What the answer is compared by says it as well.
    assert RuleExplainer(chain).explain("?").baseline.text == '{"unit":"bad","milligrams":5}'
    assert retention(RuleExplainer(chain).explain("?")) == sets("b")


def test_a_structured_answer_is_read_beside_what_was_retrieved() -> None:
    """As of chains that cite: the documents, and an object with the answer and its citations."""
    cited = ModelState(question="[1]", answer="It is calcium.")
    answer = answer_in({"question": "which?", "context": ["a text"], "answer": cited})
    assert (answer.text, answer.value) == (cited.model_dump_json(), cited.model_dump())
    assert answer_in({"answer": AIMessage("calcium")}) == Answer("calcium")


def test_a_structured_output_keeps_what_the_message_says_and_spent() -> None:
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    message = AIMessage("five", usage_metadata=usage)
    answer = answer_in({"raw": message, "parsed": Dose(unit="mg", milligrams=5), "parsing_error": None})
    assert (answer.text, answer.value) == ("five", {"unit": "mg", "milligrams": 5})
    assert answer.usage == usage


def test_what_could_not_be_parsed_is_judged_by_its_text() -> None:
    answer = answer_in({"raw": AIMessage("five?"), "parsed": None, "parsing_error": ValueError("no")})
    assert (answer.text, answer.value) == ("five?", None)


class Parts(TypedDict):
    unit: str


@pytest.mark.parametrize(
    "output",
    [
        {"raw": AIMessage(""), "parsed": {"unit": "mg"}, "parsing_error": None},
        {"messages": [HumanMessage("?"), AIMessage("")], "structured_response": Parts(unit="mg")},
    ],
    ids=["with the raw message", "an agent's"],
)
def test_structured_output_may_be_a_dict(output: Any) -> None:
    answer = answer_in(output)
    assert (answer.text, answer.value) == ('{"unit": "mg"}', {"unit": "mg"})


def test_an_entry_of_the_applications_own_is_no_structured_output() -> None:
    answer = answer_in({"answer": "five", "parsed": {"topic": "doses"}})
    assert (answer.text, answer.value) == ("five", None)


REPLY = '{{"answer": "{}", "doses": [5]}}'


@pytest.mark.parametrize("path", ["$.answer", "$.doses"])
def test_json_path_judges_the_entries_of_what_an_output_parser_returns(path: str) -> None:
    parsing = step(REPLY.format) | JsonOutputParser()
    chain = retriever_of("ab") | bad_with("b") | parsing.with_config(tags=["parsing"])
    explainer = RuleExplainer(chain, predicate=json_path("$.answer", equals="bad") & json_path(path))
    explanation = explainer.explain("?")
    assert retention(explanation) == sets("b")
    assert explanation.baseline.value == {"answer": "bad", "doses": [5]}
    assert explanation.baseline.text == "bad"


def test_the_json_of_what_an_output_parser_returns_is_the_text_of_the_answer() -> None:
    chain = retriever_of("ab") | bad_with("b") | step('["{}", 5]'.format) | JsonOutputParser()
    explanation = RuleExplainer(chain, predicate=BAD).explain("?")
    assert explanation.baseline.text == '["bad", 5]'
    assert retention(explanation) == sets("b")


def test_a_streamed_answer_is_the_last_of_the_chunks_that_a_parser_repeats() -> None:
    def piecewise(given: Iterator[str]) -> Iterator[str]:
        yield from REPLY.format("".join(given))

    chain = retriever_of("ab") | bad_with("b") | RunnableGenerator(piecewise) | JsonOutputParser()
    explainer = RuleExplainer(chain, predicate=json_path("$.answer", equals="bad"))
    *chunks, last = explainer.stream("?")
    assert len(chunks) > 2
    assert last.output == {"answer": "bad", "doses": [5]}
    assert retention(last.explanation) == sets("b")


@pytest.mark.parametrize("output", [{"context": "...", "said": "bad"}, [{"said": "bad"}]])
def test_a_dict_that_a_function_makes_may_hold_more_than_the_answer(output: Any) -> None:
    chain = retriever_of("ab") | step(lambda _: output)
    with pytest.raises(InvalidInput, match="to judge entries with json_path, answer_of="):
        RuleExplainer(chain).explain("?")


@pytest.mark.parametrize(
    "output",
    [
        {"question": "?", "generation": "bad", "documents": ["..."]},
        {"messages": [HumanMessage("?")], "generation": "bad"},
        {"messages": [HumanMessage("?"), AIMessage("bad")], "response": "bad"},
        {"response": "bad", "status": "ok"},
        {"final_answer": AIMessage("bad"), "text": "what was read"},
        {"answer": "bad", "generation": "a draft"},
        {"generation": "", "final_response": "bad"},
        {"output_text": "bad"},
        {"text": "bad"},
    ],
)
def test_the_usual_names_of_answers_in_the_states_of_graphs_are_read(output: Any) -> None:
    assert answer_in(output).text == "bad"


@pytest.mark.parametrize(
    "output",
    [
        {"generation": "bad", "final_answer": "good"},
        {"output": "bad", "response": "good"},
        {"messages": [HumanMessage("?"), AIMessage("bad")], "generation": "good"},
    ],
)
def test_two_entries_that_may_both_be_the_answer_are_ambiguous(output: Any) -> None:
    with pytest.raises(InvalidInput, match=r"several texts that may be the answer, under .*answer_of="):
        answer_in(output)
