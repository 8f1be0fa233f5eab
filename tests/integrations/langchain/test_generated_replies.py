"""Requests that an application sends by ``generate`` and the like, as chains of the former kind do, have
sources as others have."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_classic.chains import ConversationChain, LLMChain
from langchain_classic.memory import ConversationBufferMemory
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, contains
from tests.integrations.known import omission, retention
from tests.integrations.langchain.models import Telling
from tests.integrations.later_shapes import QUESTION, TURNS

pytestmark = pytest.mark.filterwarnings("ignore")

MODEL = Telling(says=lambda messages: "It is paid." if "Bonn" in str(messages) else "It is open.")
Messages = list[BaseMessage]
RULES = ({frozenset({"turn 2"})},) * 2


def text_of(result: Any) -> str:
    return str(result.generations[0][0].text)


def chain(messages: Messages) -> str:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("said")])
    return str(LLMChain(llm=MODEL, prompt=prompt).invoke({"said": messages})["text"])


WAYS: dict[str, Callable[[Messages], str]] = {
    "generate": lambda messages: text_of(MODEL.generate([messages])),
    "generate_prompt": lambda given: text_of(MODEL.generate_prompt([ChatPromptValue(messages=given)])),
    "agenerate": lambda messages: text_of(asyncio.run(MODEL.agenerate([messages]))),
    "LLMChain": chain,
    "invoke": lambda messages: MODEL.invoke(messages).text,
    "stream": lambda messages: "".join(str(each.text) for each in MODEL.stream(messages)),
}


def rules(explanation: Explanation) -> tuple[Any, ...]:
    assert not explanation.warnings
    assert {str(each.claim) for each in explanation.rules} == {"proved"}
    return retention(explanation), omission(explanation)


def explained(application: Any, given: Any, kind: Any) -> tuple[Any, ...]:
    explainer = RuleExplainer(application, contains("is paid"), source_kinds=[kind], miner="exact")
    return rules(explainer.explain(given))


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_turns_are_sources_in_every_way(way: Callable[[Messages], str]) -> None:
    def answer(given: Any) -> str:
        return way(convert_to_messages(given))

    assert explained(RunnableLambda(answer), [*TURNS, QUESTION], "turns") == RULES


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_constants_are_taken_out_of_these_requests(way: Callable[[Messages], str]) -> None:
    system = "# Tone\nBe kind.\n# Refunds\nSend them to Bonn."

    def answer(asked: Any) -> str:
        return way(convert_to_messages([("system", system), asked]))

    refunds = {frozenset({"instructions: Refunds"})}
    assert explained(RunnableLambda(answer), QUESTION, "instructions") == (refunds, refunds)


def test_turns_of_the_memory_of_a_conversation_chain_are_sources() -> None:
    memory = ConversationBufferMemory(return_messages=True, memory_key="history")
    memory.chat_memory.messages = convert_to_messages(TURNS)
    parts = [("system", "Be kind."), MessagesPlaceholder("history"), ("human", "{input}")]
    prompt = ChatPromptTemplate.from_messages(parts)
    application = ConversationChain(llm=MODEL, memory=memory, prompt=prompt)
    second = {frozenset({"memory 2"})}
    assert explained(application, {"input": QUESTION[1]}, "memory") == (second, second)
