"""Chats that keep what was said in something of their own."""

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from tests.integrations.keeping import (
    append_text,
    read_json,
    read_shelf,
    read_sqlite,
    read_text,
    write_json,
    write_shelf,
    write_sqlite,
)
from tests.integrations.langchain.zoo.heeding import anew, heeding
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.integrations.stateful import SHARED, Made, Stateful

conversation: list[BaseMessage] = []
conversations: dict[str, list[BaseMessage]] = {}


def extended() -> Made:
    """A list of messages, which is extended, and whose tail is sent."""
    retriever, llm, history = retriever_of(), heeding(), list[BaseMessage]()

    def chat(question: str) -> str:
        context = joined(retriever.invoke(question))
        system = SystemMessage(f"Answer from:\n{context}")
        answer = llm.invoke([system, *history[-6:], HumanMessage(question)])
        history.extend([HumanMessage(question), AIMessage(answer.text)])
        return answer.text

    async def achat(question: str) -> str:
        context = joined(await retriever.ainvoke(question))
        system = SystemMessage(f"Answer from:\n{context}")
        answer = await llm.ainvoke([system, *history[-6:], HumanMessage(question)])
        history.extend([HumanMessage(question), AIMessage(answer.text)])
        return answer.text

    return Made(RunnableLambda(chat, achat))


def tuples() -> Made:
    """A list of questions with their answers."""
    retriever, llm, history = retriever_of(), heeding(), list[tuple[str, str]]()

    def chat(question: str) -> str:
        past = "\n".join(f"Human: {asked}\nAssistant: {answer}" for asked, answer in history)
        context = joined(retriever.invoke(question))
        answer = llm.invoke(f"{past}\n\nContext: {context}\n\nHuman: {question}").text
        history.append((question, answer))
        return answer

    return Made(RunnableLambda(chat))


def a_dict() -> Made:
    """The last answer for each user."""
    retriever, llm, last = retriever_of(), heeding(), dict[str, str]()

    def chat(given: dict[str, str]) -> str:
        context = joined(retriever.invoke(given["question"]))
        before = last.get(given["user"], "nothing")
        answer = llm.invoke(f"You last said: {before}\n\n{context}\n\n{given['question']}").text
        last[given["user"]] = answer
        return answer

    return Made(RunnableLambda(chat), {"question": "why?", "user": "u"})


def a_user_for_each_run() -> Made:
    made = a_dict()
    return Made(
        RunnableLambda(
            lambda question: made.application.invoke({"question": question, "user": uuid4().hex})
        )
    )


def closure() -> Made:
    """A variable of the function around."""
    retriever, llm, said = retriever_of(), heeding(), ""

    def chat(question: str) -> str:
        nonlocal said
        context = joined(retriever.invoke(question))
        answer = llm.invoke(f"Previously: {said}\n\n{context}\n\n{question}").text
        said = answer
        return answer

    return Made(RunnableLambda(chat))


def a_global() -> Made:
    """A list of the module."""
    conversation.clear()
    retriever, llm = retriever_of(), heeding()

    def chat(question: str) -> str:
        context = joined(retriever.invoke(question))
        answer = llm.invoke([*conversation[-4:], HumanMessage(f"{context}\n\n{question}")])
        conversation.append(HumanMessage(question))
        conversation.append(answer)
        return answer.text

    return Made(RunnableLambda(chat), after=conversation.clear)


def a_global_by_session() -> Made:
    conversations.clear()
    retriever, llm = retriever_of(), heeding()

    def chat(question: str) -> str:
        mine = conversations.setdefault(uuid4().hex, [])
        context = joined(retriever.invoke(question))
        answer = llm.invoke([*mine[-4:], HumanMessage(f"{context}\n\n{question}")])
        mine.extend([HumanMessage(question), answer])
        return answer.text

    return Made(RunnableLambda(chat), after=conversations.clear)


def class_attribute() -> Made:
    retriever = retriever_of()

    class Bot:
        history: ClassVar[list[str]] = []
        llm = heeding()

        def __call__(self, question: str) -> str:
            context = joined(retriever.invoke(question))
            answer = self.llm.invoke("\n".join([*self.history, context, question])).text
            self.history.append(f"You said: {answer}")
            return answer

    return Made(RunnableLambda(Bot().__call__))


def instance_attribute() -> Made:
    retriever = retriever_of()

    class Bot:
        def __init__(self) -> None:
            self.history: list[dict[str, str]] = []
            self.llm = heeding()

        def ask(self, question: str) -> str:
            context = joined(retriever.invoke(question))
            asked = {"role": "user", "content": f"{context}\n\n{question}"}
            answer = self.llm.invoke([*self.history[-10:], asked]).text
            self.history += [
                {"role": "user", "content": question},
                {"role": "assistant", "content": answer},
            ]
            return answer

    return Made(RunnableLambda(Bot().ask))


def a_deque() -> Made:
    """The last two exchanges."""
    retriever, llm = retriever_of(), heeding()
    history: deque[BaseMessage] = deque(maxlen=4)

    def chat(question: str) -> str:
        context = joined(retriever.invoke(question))
        answer = llm.invoke([*history, HumanMessage(f"{context}\n\n{question}")])
        history.append(HumanMessage(question))
        history.append(answer)
        return answer.text

    return Made(RunnableLambda(chat))


Write = Callable[[Path, str, str], None]


def kept_in(read: Callable[[Path], str], write: Write) -> tuple[Callable[[], Made], Callable[[], Made]]:
    """A chat over one file, and its way out: a file for each run."""

    def over(path: Callable[[Path], Path]) -> Made:
        retriever, llm, folder, lock = retriever_of(), heeding(), TemporaryDirectory(), threading.Lock()

        def chat(question: str) -> str:
            mine = path(Path(folder.name))
            context = joined(retriever.invoke(question))
            with lock:
                past = read(mine)
            answer = llm.invoke(f"{past}\n\nContext: {context}\n\nHuman: {question}").text
            with lock:
                write(mine, question, answer)
            return answer

        return Made(RunnableLambda(chat), after=folder.cleanup)

    return lambda: over(lambda folder: folder / "chat"), lambda: over(lambda folder: folder / uuid4().hex)


text_file, text_files = kept_in(read_text, append_text)
json_file, json_files = kept_in(read_json, write_json)
database, databases = kept_in(read_sqlite, write_sqlite)
shelf, shelves = kept_in(read_shelf, write_shelf)

SHAPES = (
    Stateful("own: a list that is extended, its tail sent", extended, SHARED, anew(extended)),
    Stateful("own: a list of tuples", tuples, SHARED, anew(tuples)),
    Stateful("own: a dict by user", a_dict, SHARED, a_user_for_each_run),
    Stateful("own: a closure's variable", closure, SHARED, anew(closure)),
    Stateful("own: a global of the module", a_global, SHARED, a_global_by_session),
    Stateful("own: an attribute of a class", class_attribute, SHARED, anew(class_attribute)),
    Stateful("own: an attribute of an object", instance_attribute, SHARED, anew(instance_attribute)),
    Stateful("own: a deque", a_deque, SHARED, anew(a_deque)),
    Stateful("own: a text file", text_file, SHARED, text_files),
    Stateful("own: a JSON file", json_file, SHARED, json_files),
    Stateful("own: an SQLite database", database, SHARED, databases),
    Stateful("own: a shelf", shelf, SHARED, shelves),
)
