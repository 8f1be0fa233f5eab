"""Chats that keep their messages in LangChain's own histories, read and added to by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from langchain_classic.memory import (
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ConversationSummaryMemory,
)
from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    messages_from_dict,
    messages_to_dict,
    trim_messages,
)
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import BaseModel, Field
from typing_extensions import override

from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.heeding import GREETING, PAST, greeted, heeding, text_of
from tests.integrations.langchain.zoo.shapes import joined, retriever_of
from tests.integrations.stateful import SHARED, Made, Stateful


def by_hand() -> Made:
    """The chat of most tutorials: the tail of the history, then the question, then both are added."""
    retriever, llm, history = retriever_of(), greeted(), InMemoryChatMessageHistory(messages=list(PAST))

    def chat(question: str) -> str:
        context = joined(retriever.invoke(question))
        reply = llm.invoke([*history.messages[-4:], HumanMessage(f"{context}\n\n{question}")])
        history.add_user_message(question)
        history.add_ai_message(reply.text)
        return reply.text

    return Made(RunnableLambda(chat), memory=lambda: list(history.messages))


def by_hand_awaited() -> Made:
    """The same where all is awaited, and the question is added first."""
    retriever, llm, history = retriever_of(), greeted(), InMemoryChatMessageHistory(messages=list(PAST))

    async def chat(question: str) -> str:
        await history.aadd_messages([HumanMessage(question)])
        context = joined(await retriever.ainvoke(question))
        messages = await history.aget_messages()
        reply = await llm.ainvoke([HumanMessage(f"Context:\n{context}"), *messages[-5:]])
        await history.aadd_messages([AIMessage(reply.text)])
        return reply.text

    return Made(RunnableLambda(chat), memory=lambda: list(history.messages))


def by_session() -> Made:
    """A history for each session, in a dict."""
    retriever, llm = retriever_of(), heeding()
    sessions: dict[str, InMemoryChatMessageHistory] = {}

    def history_of(session: str) -> InMemoryChatMessageHistory:
        if session not in sessions:
            sessions[session] = InMemoryChatMessageHistory()
        return sessions[session]

    def chat(given: dict[str, str]) -> str:
        history = history_of(given["session_id"])
        context = joined(retriever.invoke(given["question"]))
        reply = llm.invoke([*history.messages, HumanMessage(f"{context}\n\n{given['question']}")])
        history.add_messages([HumanMessage(given["question"]), reply])
        return reply.text

    given = {"question": "why?", "session_id": "s1"}
    return Made(
        RunnableLambda(chat),
        given,
        memory=lambda: {s: list(h.messages) for s, h in sessions.items() if h.messages},
    )


class ListHistory(BaseChatMessageHistory, BaseModel):
    """As LangChain's guide writes one."""

    messages: list[BaseMessage] = Field(default_factory=list[BaseMessage])

    @override
    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.messages.extend(messages)

    @override
    def clear(self) -> None:
        self.messages = []


def in_a_template() -> Made:
    """A history of one's own class, whose messages go through a template, trimmed."""
    retriever, llm, history = retriever_of(), greeted(), ListHistory(messages=list(PAST))
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Answer from:\n{context}"), MessagesPlaceholder("history"), ("human", "{question}")]
    )
    trimmer = trim_messages(max_tokens=8, strategy="last", token_counter=len, include_system=True)

    def remembered(_: Any) -> list[BaseMessage]:
        return trimmer.invoke(history.messages)

    def remember(given: dict[str, Any]) -> str:
        history.add_user_message(given["question"])
        history.add_ai_message(given["answer"])
        return given["answer"]

    chain = (
        {"context": retriever | joined, "question": RunnablePassthrough(), "history": remembered}
        | RunnablePassthrough.assign(answer=prompt | llm | StrOutputParser())
        | remember
    )
    return Made(chain, memory=lambda: list(history.messages))


class JsonHistory(BaseChatMessageHistory):
    """Keeps its messages in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            path.write_text("[]", encoding="utf-8")

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride] -- a property, as in LangChain's own
        return messages_from_dict(json.loads(self.path.read_text(encoding="utf-8")))

    @override
    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        kept = [*self.messages, *messages]
        self.path.write_text(json.dumps(messages_to_dict(kept)), encoding="utf-8")

    @override
    def clear(self) -> None:
        self.path.write_text("[]", encoding="utf-8")


def in_a_file() -> Made:
    retriever, llm, folder = retriever_of(), greeted(), TemporaryDirectory()
    history = JsonHistory(Path(folder.name) / "history.json")
    history.add_messages(PAST)

    def chat(question: str) -> str:
        context = joined(retriever.invoke(question))
        said = "\n".join(f"{message.type}: {message.text}" for message in history.messages[-6:])
        reply = llm.invoke(f"Conversation:\n{said}\n\nContext:\n{context}\n\nQuestion: {question}").text
        history.add_user_message(question)
        history.add_ai_message(reply)
        return reply

    return Made(RunnableLambda(chat), memory=history.path.read_text, after=folder.cleanup)


def in_one_of_several() -> Made:
    """One object with a history among its attributes, called by its method."""
    retriever = retriever_of()

    class Assistant:
        def __init__(self) -> None:
            self.history = InMemoryChatMessageHistory(messages=list(PAST))
            self.llm = greeted()

        def ask(self, question: str) -> str:
            found = joined(retriever.invoke(question))
            self.history.add_user_message(f"{question}")
            reply = self.llm.invoke([HumanMessage(found or "nothing"), *self.history.messages])
            self.history.add_message(reply)
            return reply.text

    assistant = Assistant()
    return Made(RunnableLambda(assistant.ask), memory=lambda: list(assistant.history.messages))


def appended_to_messages() -> Made:
    """The list inside the history is appended to, past all methods."""
    retriever, llm, history = retriever_of(), heeding(), InMemoryChatMessageHistory()

    def chat(question: str) -> str:
        context = joined(retriever.invoke(question))
        reply = llm.invoke([*history.messages, HumanMessage(f"{context}\n\n{question}")])
        history.messages.append(HumanMessage(question))
        history.messages.append(AIMessage(reply.text))
        return reply.text

    return Made(RunnableLambda(chat))


def a_session_for_each_run() -> Made:
    retriever, llm = retriever_of(), heeding()
    sessions: dict[str, InMemoryChatMessageHistory] = {}

    def chat(question: str) -> str:
        history = sessions.setdefault(uuid4().hex, InMemoryChatMessageHistory())
        context = joined(retriever.invoke(question))
        reply = llm.invoke([*history.messages, HumanMessage(f"{context}\n\n{question}")])
        history.messages.append(HumanMessage(question))
        history.messages.append(AIMessage(reply.text))
        return reply.text

    return Made(RunnableLambda(chat))


def buffered(memory: Any) -> Any:
    """A memory of classic LangChain, loaded and saved by hand."""

    def build() -> Made:
        retriever, llm, own = retriever_of(), greeted(), memory()

        def chat(question: str) -> str:
            said = own.load_memory_variables({})["history"]
            context = joined(retriever.invoke(question))
            reply = llm.invoke(f"{said}\n\nContext:\n{context}\n\nHuman: {question}").text
            own.save_context({"input": question}, {"output": reply})
            return reply

        return Made(RunnableLambda(chat), memory=lambda: list(own.chat_memory.messages))

    return build


def buffer() -> Any:
    memory = ConversationBufferMemory()
    memory.save_context({"input": "Good morning."}, {"output": GREETING})
    return memory


def window() -> Any:
    memory = ConversationBufferWindowMemory(k=2)
    memory.save_context({"input": "Good morning."}, {"output": GREETING})
    return memory


def summary() -> Any:
    def summed_up(messages: list[BaseMessage]) -> str:
        return (
            f"{GREETING} Then bad news were told: bad news."
            if "bad news" in text_of(messages)
            else GREETING
        )

    return ConversationSummaryMemory(llm=Telling(says=summed_up), buffer=GREETING)


def summarized_by_hand() -> Made:
    """A running summary, in a variable."""
    retriever, llm = retriever_of(), heeding()
    summarizer, so_far = Telling(says=lambda messages: text_of(messages)[-200:]), [""]

    def chat(question: str) -> str:
        context = joined(retriever.invoke(question))
        reply = llm.invoke(f"Summary: {so_far[0]}\n\nContext:\n{context}\n\n{question}").text
        so_far[0] = summarizer.invoke(f"Sum up: {so_far[0]}\nUser: {question}\nYou: {reply}").text
        return reply

    return Made(RunnableLambda(chat))


def summarized_anew() -> Made:
    return Made(RunnableLambda(lambda _: summarized_by_hand().application))


SHAPES = (
    Stateful("history: add_user_message, add_ai_message, messages[-4:]", by_hand),
    Stateful("history: aget_messages, aadd_messages, the question first", by_hand_awaited),
    Stateful("history: one for each session in a dict", by_session),
    Stateful("history: of a class of one's own, trimmed, in a template", in_a_template),
    Stateful("history: of a class of one's own, in a file", in_a_file),
    Stateful("history: an attribute of an assistant", in_one_of_several),
    Stateful("history: its list is appended to", appended_to_messages, SHARED, a_session_for_each_run),
    Stateful("ConversationBufferMemory by hand", buffered(buffer)),
    Stateful("ConversationBufferWindowMemory by hand", buffered(window)),
    Stateful("ConversationSummaryMemory by hand", buffered(summary)),
    Stateful("a running summary in a variable", summarized_by_hand, SHARED, summarized_anew),
)
