"""Instructions, earlier turns, memories and examples as sources, in every framework."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.prompts import ChatPromptTemplate, FewShotChatMessagePromptTemplate
from langchain_core.runnables import RunnableConfig
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex
from plain_rag_rule_explainer import RuleExplainer as OfPlain

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, TEXTS, omission, retention, shown_in
from tests.integrations.langchain.models import Telling
from tests.integrations.llama_index.test_wire import llm_at
from tests.integrations.plain.models import client_of
from tests.support.completions import Completion
from tests.support.messages import Body
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

SYSTEM = f"# Tone\n{TEXTS['a']}\n# Facts\n{TEXTS['b']}\n"
EARLIER = [
    ("user", "What turns green after some decades on a roof?"),
    ("assistant", TEXTS["c"]),
    ("user", "And what is it that wanders with the wind?"),
    ("assistant", TEXTS["d"]),
]
SAID = "It is {} that we have to tell you of today."


def answer(text: str) -> str:
    return SAID.format("bad news" if {"b", "d"} <= set(shown_in(text)) else "good news")


def is_right(explanation: Explanation, blamed: str, *others: str) -> None:
    both = {"instructions: Facts", blamed}
    assert [each.id for each in explanation.sources] == [
        "instructions: Tone",
        "instructions: Facts",
        *others,
    ]
    assert retention(explanation) == {frozenset(both)}
    assert omission(explanation) == {frozenset({each}) for each in both}
    assert explanation.ended
    for probe in explanation.probes:
        assert probe.answers[0].delivered == probe.answers[0].seen == probe.kept


def telling() -> Telling:
    return Telling(says=lambda messages: answer("\n".join(str(each.text) for each in messages)))


@pytest.mark.parametrize("omit", ["remove", "blank"])
def test_turns_and_instructions_of_an_agent(omit: Any) -> None:
    agent = create_agent(telling(), [], system_prompt=SYSTEM)
    asked: Any = {"messages": [*EARLIER, ("user", "So?")]}
    explainer = OfLangChain(agent, BAD, source_kinds=["turns", "instructions"], omit=omit)
    is_right(explainer.explain(asked), "turn 2", "turn 1", "turn 2")


def test_memory_of_a_checkpointer() -> None:
    said = iter([TEXTS["c"], TEXTS["d"]])
    saver, config = InMemorySaver(), RunnableConfig(configurable={"thread_id": "1"})
    for role, text in EARLIER:
        if role == "user":
            first = create_agent(Telling(says=lambda _: next(said)), [], checkpointer=saver)
            # A plain dict, as users pass it.
            first.invoke({"messages": [(role, text)]}, config)  # pyright: ignore[reportArgumentType]
    agent = create_agent(telling(), [], system_prompt=SYSTEM, checkpointer=saver)
    kinds: Any = ["memory", "instructions", "turns"]
    explainer = OfLangChain(agent, BAD, source_kinds=kinds)
    asked: Any = {"messages": [("user", "So?")]}
    explanation = explainer.explain(asked, config)
    is_right(explanation, "memory 2", "memory 1", "memory 2")


@pytest.mark.parametrize("question", ["So?", f"{EARLIER[2][1]} So?"])
def test_examples_of_a_prompt(question: str) -> None:
    pairs = [{"asked": EARLIER[n][1], "said": EARLIER[n + 1][1]} for n in (0, 2)]
    example = ChatPromptTemplate([("user", "{asked}"), ("assistant", "{said}")])
    shown = FewShotChatMessagePromptTemplate(examples=pairs, example_prompt=example)
    prompt = ChatPromptTemplate([("system", SYSTEM), shown, ("user", "{question}")])
    explainer = OfLangChain(prompt | telling(), BAD, source_kinds=["examples", "instructions"])
    is_right(explainer.explain({"question": question}), "example 2", "example 1", "example 2")


def answering(body: Body) -> Completion:
    return Completion(answer("\n".join(str(each.get("content")) for each in body["messages"])))


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with OpenAIServer(answering) as server:
        yield server.base_url


def test_of_the_openai_client(base_url: str) -> None:
    with client_of(base_url) as client:

        def application(messages: Any) -> str:
            system: Any = {"role": "system", "content": SYSTEM}
            reply = client.chat.completions.create(model="m", messages=[system, *messages])
            return reply.choices[0].message.content or ""

        asked = [{"role": role, "content": text} for role, text in (*EARLIER, ("user", "So?"))]
        for replay_of in ("whole_run", "next_action"):
            options: Any = {"source_kinds": ["turns", "instructions"], "replay_of": replay_of}
            is_right(OfPlain(application, BAD, **options).explain(asked), "turn 2", "turn 1", "turn 2")


def test_of_a_chat_engine(base_url: str) -> None:
    with llm_at(base_url, keep_alive=False) as llm:
        history = [ChatMessage(content=text, role=role) for role, text in EARLIER]
        prefix: Any = {"system_prompt": SYSTEM, "chat_history": history}
        engine = SimpleChatEngine.from_defaults(llm=llm, **prefix)
        for replay_of in ("whole_run", "next_action"):
            options: Any = {"source_kinds": ["memory", "instructions"], "replay_of": replay_of}
            is_right(
                OfLlamaIndex(engine, BAD, **options).explain("So?"), "memory 2", "memory 1", "memory 2"
            )


INTERRUPTED = [
    ("user", "What is it?"),
    ("system", "Be brief from now on."),
    ("assistant", TEXTS["b"]),
    ("user", "And then?"),
    ("assistant", TEXTS["d"]),
    ("system", "Be kind from now on."),
    ("user", "So?"),
]


def turns_are_blamed(explanation: Explanation) -> None:
    assert [each.id for each in explanation.sources] == ["turn 1", "turn 2"]
    assert retention(explanation) == {frozenset({"turn 1", "turn 2"})}
    assert omission(explanation) == {frozenset({"turn 1"}), frozenset({"turn 2"})}


def test_turns_around_instructions(base_url: str) -> None:
    shown = list[str]()

    def says(messages: Any) -> str:
        text = "\n".join(str(each.text) for each in messages)
        shown.append(text)
        return answer(text)

    agent = create_agent(Telling(says=says), [])
    asked: Any = {"messages": INTERRUPTED}
    turns_are_blamed(OfLangChain(agent, BAD, source_kinds=["turns"]).explain(asked))
    assert all("Be brief" in each and "Be kind" in each for each in shown)
    with client_of(base_url) as client:

        def application(messages: Any) -> str:
            reply = client.chat.completions.create(model="m", messages=messages)
            return reply.choices[0].message.content or ""

        said = [{"role": role, "content": text} for role, text in INTERRUPTED]
        turns_are_blamed(OfPlain(application, BAD, source_kinds=["turns"]).explain(said))
