"""Models that heed what was said before, and what most stateful applications are made of."""

import threading
from collections.abc import Callable
from typing import Any

from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from tests.integrations.known import shown_in
from tests.integrations.langchain.models import Telling
from tests.integrations.stateful import Made

PAST: list[BaseMessage] = [HumanMessage("Good morning."), AIMessage("Good morning to you.")]
GREETING = "Good morning to you."


def text_of(messages: list[BaseMessage]) -> str:
    return "\n".join(message.text for message in messages)


def heeds(messages: list[BaseMessage]) -> str:
    """Bad news where b and d are shown, and once bad news were told."""
    sent = text_of(messages)
    return "bad news" if {"b", "d"} <= set(shown_in(sent)) or "bad news" in sent else "good news"


def heeds_the_past(messages: list[BaseMessage]) -> str:
    """The same for those that it was greeted by; others are told nothing."""
    return heeds(messages) if GREETING in text_of(messages) else "who are you?"


def heeding() -> Telling:
    return Telling(says=heeds)


def greeted() -> Telling:
    return Telling(says=heeds_the_past)


class Rationed:
    """Says the same, so many times: think of a quota."""

    def __init__(self, says: Callable[[list[BaseMessage]], str], most: int) -> None:
        self._says, self._most, self._lock = says, most, threading.Lock()
        self.asked = 0

    def __call__(self, messages: list[BaseMessage]) -> str:
        with self._lock:
            self.asked += 1
            if self.asked > self._most:
                raise RuntimeError("the quota is exceeded")
        return self._says(messages)


def vectors(*texts: str) -> InMemoryVectorStore:
    """A vector store with these texts in it."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts(list(texts))
    return store


def contents(store: InMemoryVectorStore) -> list[str]:
    return sorted(entry["text"] for entry in store.store.values())


def anew(build: Callable[[], Made]) -> Callable[[], Made]:
    """The way out of most: a function that makes the application, anew for every run."""

    def built() -> Made:
        made = build()
        return Made(RunnableLambda(lambda _: build().application), made.given, after=made.after)

    return built


def both(function: Callable[[str], str], awaited: Any = None) -> Any:
    return RunnableLambda(function, awaited) if awaited else RunnableLambda(function)
