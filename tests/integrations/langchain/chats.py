"""Chat applications that keep their own history of messages, and the kinds of histories they use."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import BaseMessage, HumanMessage, message_to_dict, messages_from_dict
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, Field

from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling, facts, sent_in


class InFile(BaseChatMessageHistory):
    """LangChain's own example of a history in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    # A property, as histories of LangChain have.
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride]
        found = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else []
        return messages_from_dict(found)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        said = [message_to_dict(message) for message in (*self.messages, *messages)]
        self.path.write_text(json.dumps(said), encoding="utf-8")

    def clear(self) -> None:
        self.path.write_text("[]", encoding="utf-8")


class AwaitedOnly(BaseChatMessageHistory):
    """A history that, like those over a network, has no sync entry. What is kept is elsewhere."""

    def __init__(self, kept: list[BaseMessage]) -> None:
        self._read: Callable[[], list[BaseMessage]] = lambda: list(kept)
        self._write: Callable[[Sequence[BaseMessage]], None] = kept.extend
        self._drop: Callable[[], None] = kept.clear

    async def aget_messages(self) -> list[BaseMessage]:
        return self._read()

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._write(messages)

    async def aclear(self) -> None:
        self._drop()

    def clear(self) -> None:
        raise NotImplementedError


class Window(BaseChatMessageHistory, BaseModel):
    """Keeps the last messages only, as in many tutorials."""

    messages: list[BaseMessage] = Field(default_factory=list[BaseMessage])
    k: int = 3

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.messages.extend(messages)
        self.messages = self.messages[-self.k :]

    def clear(self) -> None:
        self.messages = []


class ModelFirst(BaseModel, BaseChatMessageHistory):
    """Its attributes are set by pydantic, before LangChain's own class is asked."""

    messages: list[BaseMessage] = Field(default_factory=list[BaseMessage])

    def add_message(self, message: BaseMessage) -> None:
        self.messages = [*self.messages, message]

    def clear(self) -> None:
        self.messages.clear()


class Private(BaseChatMessageHistory):
    """Keeps its messages in a list of its own, behind a property."""

    def __init__(self) -> None:
        self._said: list[BaseMessage] = []

    @property
    def messages(self) -> list[BaseMessage]:
        return self._said

    @messages.setter
    # A property, as histories of LangChain have.
    def messages(self, messages: list[BaseMessage]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._said = messages

    def add_message(self, message: BaseMessage) -> None:
        self._said.append(message)

    def clear(self) -> None:
        self._said = []


IN_MEMORY: tuple[Callable[[], Any], ...] = (InMemoryChatMessageHistory, Window, ModelFirst, Private)

Turn = Callable[[Any, str, Callable[[list[BaseMessage]], str]], str]
"""What an application does with its history in one run: (history, question, ask) -> answer."""


class Chat:
    """An application with a history; what its model was shown of that, one text each time."""

    def __init__(self, history_of: Callable[[], Any], turn: Any) -> None:
        self.retriever = Counting(documents=facts("abcd"))
        self.shown: list[str] = []
        model = Telling(says=self._says)

        def answer(question: str) -> str:
            found = self.retriever.invoke(question)
            return turn(history_of(), question, lambda messages: ask(messages, found))

        def ask(messages: list[BaseMessage], found: list[Any]) -> str:
            context = HumanMessage("\n".join(each.page_content for each in found))
            return model.invoke([*messages, context]).text

        async def aanswer(question: str) -> str:
            found = await self.retriever.ainvoke(question)
            return await turn(history_of(), question, lambda messages: ask(messages, found))

        self.app: Runnable[Any, Any] = RunnableLambda(aanswer if is_async(turn) else answer)

    def _says(self, messages: list[BaseMessage]) -> str:
        *said, _ = messages
        self.shown.append(" | ".join(message.text for message in said))
        # An application that hears its own bad answer says it again.
        heard = any(message.text == "bad news" for message in said)
        return "bad news" if heard or {"b", "d"} <= set(sent_in(messages[-1:])) else "good news"


def is_async(turn: Any) -> bool:
    return turn.__name__.startswith("a_")
