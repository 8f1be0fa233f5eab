"""Histories that an application reads and writes itself: every run finds them as the baseline did."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.memory import ConversationBufferMemory, ConversationBufferWindowMemory
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_rag_rule_explainer import RuleExplainer, RuleExplanationHandler

from rag_rule_explainer import Explanation
from tests.integrations.known import BAD, omission, retention, sets
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.chats import IN_MEMORY, AwaitedOnly, Chat, InFile, is_async
from tests.integrations.langchain.models import Telling, facts, sent_in
from tests.integrations.langchain.zoo.shapes import joined

pytestmark = pytest.mark.filterwarnings("ignore")
Ask = Callable[[Any], str]
PAST: list[BaseMessage] = [HumanMessage("hello"), AIMessage("hi")]


def added_first(history: Any, question: str, ask: Ask) -> str:
    history.add_user_message(question)
    answer = ask(history.messages)
    history.add_ai_message(answer)
    return answer


def read_first(history: Any, question: str, ask: Ask) -> str:
    answer = ask([*history.messages, HumanMessage(question)])
    history.add_messages([HumanMessage(question), AIMessage(answer)])
    return answer


def in_place(history: Any, question: str, ask: Ask) -> str:
    history.messages.append(HumanMessage(question))
    answer = ask(history.messages)
    history.messages.extend([AIMessage(answer)])
    return answer


def assigned(history: Any, question: str, ask: Ask) -> str:
    history.messages = [*history.messages, HumanMessage(question)]
    answer = ask(history.messages)
    history.messages += [AIMessage(answer)]
    return answer


def told_in_text(history: Any, question: str, ask: Ask) -> str:
    answer = ask([HumanMessage(str(history)), HumanMessage(question)])
    history.add_message(AIMessage(answer))
    return answer


def by_a_method_taken_off(history: Any, question: str, ask: Ask) -> str:
    add = history.add_message
    add(HumanMessage(question))
    answer = ask(list(history.messages))
    add(AIMessage(answer))
    assert answer in str(history)
    assert len(history.messages) >= 2
    return answer


def cleared(history: Any, question: str, ask: Ask) -> str:
    answer = ask([*history.messages, HumanMessage(question)])
    history.clear()
    history.add_message(AIMessage(answer))
    assert [each.text for each in history.messages] == [answer]
    return answer


async def a_awaited(history: Any, question: str, ask: Ask) -> str:
    await history.aadd_messages([HumanMessage(question)])
    answer = ask(await history.aget_messages())
    await history.aadd_messages([AIMessage(answer)])
    return answer


async def a_cleared(history: Any, question: str, ask: Ask) -> str:
    answer = ask([*await history.aget_messages(), HumanMessage(question)])
    await history.aclear()
    await history.aadd_messages([AIMessage(answer)])
    return answer


TURNS = (added_first, read_first, told_in_text, by_a_method_taken_off, cleared, a_awaited, a_cleared)
IN_PLACE = (in_place, assigned)
KINDS = {kind.__name__: kind for kind in IN_MEMORY}


def is_the_truth(explanation: Explanation) -> bool:
    return (retention(explanation), omission(explanation)) == (sets("bd"), sets("b", "d"))


def run(explainer: RuleExplainer[Any, Any], name: str, awaiting: bool) -> Any:
    if awaiting:
        return asyncio.run(getattr(explainer, f"a{name}")("why?"))
    return getattr(explainer, name)("why?")


Made = Callable[[], tuple[Callable[[], Any], Callable[[], str]]]


def check(turn: Any, made: Made, awaiting: bool) -> None:
    """Explains the same application without and with the user's own run. ``made``: how to have its
    history, and its dump."""
    history_of, dump = made()
    chat = Chat(history_of, turn)
    before = dump()
    assert is_the_truth(run(RuleExplainer(chat.app, predicate=BAD), "explain", awaiting))
    assert dump() == before
    assert len(set(chat.shown)) == 1
    plain_of, plain = made()
    ordinary = Chat(plain_of, turn)
    asyncio.run(ordinary.app.ainvoke("why?"))
    assert ordinary.shown[0] == chat.shown[0]
    chat.shown.clear()
    explained = run(RuleExplainer(chat.app, predicate=BAD), "invoke", awaiting)
    assert is_the_truth(explained.explanation)
    assert set(chat.shown) == set(ordinary.shown)
    assert dump() == plain() != before


def every_way(kinds: Iterable[str], turns: Iterable[Any], more: set[tuple[str, Any]]) -> list[Any]:
    """Returns each turn with each kind of history, asked in both ways.

    Each turn with the first kind, asked in its own way, and ``more`` are always run; the rest is slow.
    """
    first, *others = kinds
    ways: list[Any] = []
    for kind in (first, *others):
        for turn in turns:
            for awaiting in (False, True):
                runs = awaiting == is_async(turn) and (kind == first or (kind, turn) in more)
                runs = runs or (kind, turn, awaiting) == (first, added_first, True)
                name = f"{kind}-{turn.__name__}-{'async' if awaiting else 'sync'}"
                marks = () if runs else pytest.mark.slow
                ways.append(pytest.param(kind, turn, awaiting, id=name, marks=marks))
    return ways


@pytest.mark.spread(fast=4, slow=3)
@pytest.mark.parametrize(
    ("kind", "turn", "awaiting"),
    every_way(
        KINDS,
        [*TURNS, *IN_PLACE],
        {
            ("Window", in_place),
            ("Window", a_cleared),
            ("ModelFirst", told_in_text),
            ("Private", by_a_method_taken_off),
        },
    ),
)
def test_a_history_in_memory(kind: str, turn: Any, awaiting: bool) -> None:
    def made() -> tuple[Callable[[], Any], Callable[[], str]]:
        history = KINDS[kind]()
        history.messages = list(PAST)
        return (lambda: history), (lambda: repr(vars(history)))

    check(turn, made, awaiting)


@pytest.mark.spread(fast=4, slow=3)
@pytest.mark.parametrize(
    ("kind", "turn", "awaiting"),
    every_way(["made anew", "kept"], TURNS, {("kept", added_first), ("kept", a_awaited)}),
)
def test_a_history_in_a_file(kind: str, turn: Any, awaiting: bool, tmp_path: Path) -> None:
    numbers = iter(range(9))

    def made() -> tuple[Callable[[], Any], Callable[[], str]]:
        path = tmp_path / f"{next(numbers)}.json"
        history = InFile(path)
        history.add_messages(PAST)
        of = (lambda: history) if kind == "kept" else (lambda: InFile(path))
        return of, lambda: path.read_text(encoding="utf-8")

    check(turn, made, awaiting)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("awaiting", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("turn", [a_awaited, a_cleared], ids=lambda turn: turn.__name__)
def test_a_history_that_is_awaited_only(turn: Any, awaiting: bool) -> None:
    def made() -> tuple[Callable[[], Any], Callable[[], str]]:
        kept = list(PAST)
        history = AwaitedOnly(kept)
        return (lambda: history), (lambda: repr(kept))

    check(turn, made, awaiting)


def test_a_history_that_the_first_run_makes_is_empty_for_all() -> None:
    histories: dict[str, InMemoryChatMessageHistory] = defaultdict(InMemoryChatMessageHistory)
    chat = Chat(lambda: histories["session"], added_first)
    assert is_the_truth(RuleExplainer(chat.app, predicate=BAD).explain("why?"))
    assert set(chat.shown) == {"why?"}
    assert histories["session"].messages == []
    assert is_the_truth(RuleExplainer(chat.app, predicate=BAD).invoke("why?").explanation)
    assert set(chat.shown) == {"why?"}
    assert [each.text for each in histories["session"].messages] == ["why?", "bad news"]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    "kept", ["in memory", pytest.param("in a file", marks=pytest.mark.slow), "in a file, made anew"]
)
def test_a_runnable_with_a_history(kept: str, tmp_path: Path) -> None:
    path = tmp_path / "it"
    history: Any = InMemoryChatMessageHistory() if kept == "in memory" else InFile(path)
    history.add_messages(PAST)
    retriever, shown = Counting(documents=facts("abcd")), list[str]()

    def says(messages: list[BaseMessage]) -> str:
        shown.append(" | ".join(message.text for message in messages[:-1]))
        heard = any("bad" in message.text for message in messages[:-1])
        return "bad news" if heard or {"b", "d"} <= set(sent_in(messages[-1:])) else "good news"

    def context(given: dict[str, Any]) -> str:
        return joined(retriever.invoke(given["question"]))

    prompt = ChatPromptTemplate.from_messages(
        [("placeholder", "{history}"), ("human", "{context}\n\n{question}")]
    )
    chat = RunnableWithMessageHistory(
        RunnablePassthrough.assign(context=context) | prompt | Telling(says=says),
        lambda _session: InFile(path) if kept.endswith("anew") else history,
        input_messages_key="question",
        history_messages_key="history",
    )
    explainer: Any = RuleExplainer(chat, predicate=BAD)
    config: Any = {"configurable": {"session_id": "s"}}
    assert is_the_truth(explainer.explain({"question": "why?"}, config))
    assert len(history.messages) == 2
    assert is_the_truth(explainer.invoke({"question": "why?"}, config).explanation)
    assert set(shown) == {"hello | hi"}
    history.clear()
    handler = RuleExplanationHandler(explainer)
    watched: Any = {**config, "callbacks": [handler]}
    chat.invoke({"question": "why?"}, watched)
    assert len(history.messages) == 2
    shown.clear()
    assert is_the_truth(handler.explain())
    assert set(shown) == {""}
    assert len(history.messages) == 2


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("memory_class", [ConversationBufferMemory, ConversationBufferWindowMemory])
def test_a_classic_memory_and_its_history_are_one(memory_class: Any) -> None:
    memory = memory_class(return_messages=True)

    def turn(_: Any, question: str, ask: Ask) -> str:
        memory.chat_memory.add_user_message("by hand")
        answer = ask([*memory.load_memory_variables({})["history"], HumanMessage(question)])
        memory.save_context({"input": question}, {"output": answer})
        assert memory.chat_memory.messages[-1].text == answer
        assert memory.load_memory_variables({})["history"][-1].text == answer
        return answer

    chat = Chat(lambda: None, turn)
    explainer = RuleExplainer(chat.app, predicate=BAD)
    assert is_the_truth(explainer.explain("why?"))
    assert memory.chat_memory.messages == []
    assert set(chat.shown) == {"by hand | why?"}
    assert is_the_truth(explainer.invoke("why?").explanation)
    assert [m.text for m in memory.chat_memory.messages] == ["by hand", "why?", "bad news"]
    assert set(chat.shown) == {"by hand | why?"}


@pytest.mark.parametrize("kind", ["InMemoryChatMessageHistory", "InFile"])
def test_a_run_that_was_recorded_is_replayed_on_what_was_there_before_it(
    kind: str, tmp_path: Path
) -> None:
    history: Any = InFile(tmp_path / "it") if kind == "InFile" else InMemoryChatMessageHistory()
    history.add_messages(PAST)
    chat = Chat(lambda: history, added_first)
    handler = RuleExplanationHandler(RuleExplainer(chat.app, predicate=BAD))
    chat.app.invoke("why?", RunnableConfig(callbacks=[handler]))
    assert len(history.messages) == 4
    assert is_the_truth(handler.explain())
    assert len(history.messages) == 4
    assert set(chat.shown) == {"hello | hi | why?"}


@pytest.mark.waits
@pytest.mark.parametrize("explaining", ["explain", "invoke"])
def test_other_traffic_on_the_same_history_goes_to_the_real_one(explaining: str) -> None:
    history = InMemoryChatMessageHistory(messages=list(PAST))
    asked, answered = threading.Event(), threading.Event()

    def others() -> None:
        assert asked.wait(120)
        # While the first run is in the middle of its own.
        texts = [message.text for message in history.messages]
        assert texts == ["hello", "hi"] + ["why?"] * (explaining == "invoke")
        history.add_user_message("others")
        answered.set()

    def turn(history: Any, question: str, ask: Ask) -> str:
        history.add_user_message(question)
        asked.set()
        assert answered.wait(120)
        return ask(history.messages)

    traffic = threading.Thread(target=others)
    traffic.start()
    chat = Chat(lambda: history, turn)
    explainer: Any = RuleExplainer(chat.app, predicate=BAD, check_repeatable=False)
    found = getattr(explainer, explaining)("why?")
    traffic.join(120)
    assert answered.is_set()
    assert is_the_truth(getattr(found, "explanation", found))
    texts = [message.text for message in history.messages]
    if explaining == "explain":
        assert texts == ["hello", "hi", "others"]
        assert set(chat.shown) == {"hello | hi | why?"}
    else:
        assert texts == ["hello", "hi", "why?", "others"]
        assert set(chat.shown[1:]) == {"hello | hi | why?"}
