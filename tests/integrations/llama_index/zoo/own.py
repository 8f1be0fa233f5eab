"""Chats that keep what was said in something of their own."""

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from uuid import uuid4

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.query_engine import CustomQueryEngine
from typing_extensions import override

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
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.zoo.agents import texts_of
from tests.integrations.llama_index.zoo.heeding import anew, heeding
from tests.integrations.stateful import SHARED, Made, Stateful

conversation: list[ChatMessage] = []
conversations: dict[str, list[ChatMessage]] = {}


def extended() -> Made:
    """A list of messages, which is extended, and whose tail is sent."""
    retriever, llm, history = retriever_of(), heeding(), list[ChatMessage]()

    def chat(question: str) -> str:
        context = ChatMessage(role="system", content=texts_of(retriever.retrieve(question)) or "nothing")
        user = ChatMessage(role="user", content=question)
        answer = llm.chat([context, *history[-6:], user]).message
        history.extend([user, answer])
        return str(answer.content)

    return Made(chat)


def extended_awaited() -> Made:
    retriever, llm, history = retriever_of(), heeding(), list[ChatMessage]()

    async def chat(question: str) -> str:
        found = texts_of(await retriever.aretrieve(question))
        user = ChatMessage(role="user", content=f"{found}\n\n{question}")
        answer = (await llm.achat([*history[-6:], user])).message
        history.extend([ChatMessage(role="user", content=question), answer])
        return str(answer.content)

    return Made(chat)


def tuples() -> Made:
    """Questions and answers in front of the question that an engine is asked."""
    engine, history = engine_of(retriever_of(), heeding()), list[tuple[str, str]]()

    def chat(question: str) -> str:
        past = "\n".join(f"Q: {asked}\nA: {answer}" for asked, answer in history[-3:])
        answer = str(engine.query(f"{past}\n{question}" if past else question))
        history.append((question, answer))
        return answer

    return Made(chat)


def a_dict() -> Made:
    retriever, llm, last = retriever_of(), heeding(), dict[str, str]()

    def chat(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        before = last.get("answer", "nothing")
        last["answer"] = str(llm.complete(f"You last said: {before}\n\n{found}\n\n{question}"))
        return last["answer"]

    return Made(chat)


def closure() -> Made:
    retriever, llm, said = retriever_of(), heeding(), ""

    def chat(question: str) -> str:
        nonlocal said
        found = texts_of(retriever.retrieve(question))
        said = str(llm.complete(f"Previously: {said}\n\n{found}\n\n{question}"))
        return said

    return Made(chat)


def a_global() -> Made:
    conversation.clear()
    retriever, llm = retriever_of(), heeding()

    def chat(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        asked = ChatMessage(role="user", content=f"{found}\n\n{question}")
        answer = llm.chat([*conversation[-4:], asked]).message
        conversation.append(ChatMessage(role="user", content=question))
        conversation.append(answer)
        return str(answer.content)

    return Made(chat, after=conversation.clear)


def a_global_by_session() -> Made:
    conversations.clear()
    retriever, llm = retriever_of(), heeding()

    def chat(question: str) -> str:
        mine = conversations.setdefault(uuid4().hex, [])
        found = texts_of(retriever.retrieve(question))
        asked = ChatMessage(role="user", content=f"{found}\n\n{question}")
        answer = llm.chat([*mine[-4:], asked]).message
        mine.extend([ChatMessage(role="user", content=question), answer])
        return str(answer.content)

    return Made(chat, after=conversations.clear)


def class_attribute() -> Made:
    class Bot:
        history: ClassVar[list[str]] = []

        def __init__(self) -> None:
            self.retriever, self.llm = retriever_of(), heeding()

        def ask(self, question: str) -> str:
            found = texts_of(self.retriever.retrieve(question))
            answer = str(self.llm.complete("\n".join([*self.history, found, question])))
            self.history.append(f"You said: {answer}")
            return answer

    return Made(Bot().ask)


def anew_class() -> Made:
    """The class itself is made by the function."""
    return Made(lambda: class_attribute().application)


class Conversing(CustomQueryEngine):
    """A query engine of one's own, with a history among its fields."""

    retriever: Any
    llm: Any
    history: list[str]

    @override
    def custom_query(self, query_str: str) -> str:
        found = texts_of(self.retriever.retrieve(query_str))
        answer = str(self.llm.complete("\n".join([*self.history[-4:], found, query_str])))
        self.history.append(f"User: {query_str} You: {answer}")
        return answer


def custom_engine() -> Made:
    return Made(Conversing(retriever=retriever_of(), llm=heeding(), history=[]))


def a_deque() -> Made:
    retriever, llm = retriever_of(), heeding()
    history: deque[str] = deque(maxlen=4)

    def chat(question: str) -> str:
        found = texts_of(retriever.retrieve(question))
        answer = str(llm.complete("\n".join([*history, found, question])))
        history.append(f"User: {question}")
        history.append(f"You: {answer}")
        return answer

    return Made(chat)


Write = Callable[[Path, str, str], None]


def kept_in(read: Callable[[Path], str], write: Write) -> tuple[Callable[[], Made], Callable[[], Made]]:
    """A chat over one file, and its way out: a file for each run."""

    def over(path: Callable[[Path], Path]) -> Made:
        retriever, llm, folder, lock = retriever_of(), heeding(), TemporaryDirectory(), threading.Lock()

        def chat(question: str) -> str:
            mine = path(Path(folder.name))
            found = texts_of(retriever.retrieve(question))
            with lock:
                past = read(mine)
            answer = str(llm.complete(f"{past}\n\nContext: {found}\n\nHuman: {question}"))
            with lock:
                write(mine, question, answer)
            return answer

        return Made(chat, after=folder.cleanup)

    return lambda: over(lambda folder: folder / "chat"), lambda: over(lambda folder: folder / uuid4().hex)


text_file, text_files = kept_in(read_text, append_text)
json_file, json_files = kept_in(read_json, write_json)
database, databases = kept_in(read_sqlite, write_sqlite)
shelf, shelves = kept_in(read_shelf, write_shelf)

SHAPES = (
    Stateful("own: a list that is extended, its tail sent", extended, SHARED, anew(extended)),
    Stateful("own: a list that is extended, awaited", extended_awaited, SHARED, anew(extended_awaited)),
    Stateful("own: a list of tuples before the question of an engine", tuples, SHARED, anew(tuples)),
    Stateful("own: a dict", a_dict, SHARED, anew(a_dict)),
    Stateful("own: a closure's variable", closure, SHARED, anew(closure)),
    Stateful("own: a global of the module", a_global, SHARED, a_global_by_session),
    Stateful("own: an attribute of a class", class_attribute, SHARED, anew_class),
    Stateful("own: a field of a query engine", custom_engine, SHARED, anew(custom_engine)),
    Stateful("own: a deque", a_deque, SHARED, anew(a_deque)),
    Stateful("own: a text file", text_file, SHARED, text_files),
    Stateful("own: a JSON file", json_file, SHARED, json_files),
    Stateful("own: an SQLite database", database, SHARED, databases),
    Stateful("own: a shelf", shelf, SHARED, shelves),
)
