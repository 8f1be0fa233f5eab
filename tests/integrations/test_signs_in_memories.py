"""Memories whose texts have line ends, quotes and other signs, which descriptions of objects escape."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_rag_rule_explainer import RuleExplainer as OfLangChain
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index_rag_rule_explainer import RuleExplainer as OfLlamaIndex

from rag_rule_explainer import Explanation, contains
from tests.integrations.known import omission, retention, sets
from tests.integrations.langchain.models import Telling
from tests.integrations.test_texts_made_of_turns import Chatting

SIGNS = {
    "line ends": "Rooms:\n- 4711\r\n- 4712",
    "tabs and backslashes": "C:\\keys\t4711 \\n",
    "quotes": "The \"room\" isn't 'there'.",
    "other writing": "Zimmer größer — 部屋 🔑\u00a04711",
}
ASKED = "What is new?"


def said(prompt: str) -> str:
    return "It is paid." if "Ann of Bonn" in prompt else "It is open."


def remembered(text: str) -> list[BaseMessage]:
    return [HumanMessage("Where?"), AIMessage(text), HumanMessage("Who?"), AIMessage("Ann of Bonn.")]


def in_a_thread(text: str) -> Explanation:
    model = Telling(says=lambda messages: said(str([each.text for each in messages])))

    def answer(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph: Any = StateGraph(MessagesState).add_node("answer", answer)
    graph = graph.set_entry_point("answer").compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    graph.update_state(config, {"messages": remembered(text)}, as_node="answer")
    explainer = OfLangChain(graph, contains("is paid"), source_kinds=["memory"])
    return explainer.explain({"messages": [("user", ASKED)]}, config)


def in_a_history(text: str) -> Explanation:
    model = Telling(says=lambda messages: said(str([each.text for each in messages])))
    history = InMemoryChatMessageHistory(messages=remembered(text))

    def answer(given: Any) -> str:
        return model.invoke([*given["history"], HumanMessage(given["question"])]).text

    names: Any = {"input_messages_key": "question", "history_messages_key": "history"}
    chain: Any = RunnableWithMessageHistory(RunnableLambda(answer), lambda: history, **names)
    explainer = OfLangChain(chain, contains("is paid"), source_kinds=["memory"])
    return explainer.explain({"question": ASKED})


def in_a_buffer(text: str) -> Explanation:
    llm = Chatting(tell=lambda messages: said(str(messages)))
    roles = (MessageRole.USER, MessageRole.ASSISTANT) * 2
    texts = ("Where?", text, "Who?", "Ann of Bonn.")
    kept = [ChatMessage(each, role=role) for role, each in zip(roles, texts, strict=True)]
    memory = ChatMemoryBuffer.from_defaults(chat_history=kept, token_limit=10_000)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    explainer: Any = OfLlamaIndex(engine, contains("is paid"), source_kinds=["memory"])
    return explainer.explain(ASKED)


@pytest.mark.spread(fast="each")
@pytest.mark.waits
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("explained", [in_a_thread, in_a_history, in_a_buffer])
def test_turns_with_such_signs_are_memories(explained: Callable[[str], Explanation], signs: str) -> None:
    explanation = explained(SIGNS[signs])
    assert [each.id for each in explanation.sources] == ["memory 1", "memory 2"]
    assert retention(explanation) == sets(["memory 2"])
    assert omission(explanation) == sets(["memory 2"])
    assert all(each.proved for each in explanation.rules)
