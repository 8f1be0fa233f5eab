"""Models that heed what was said before, and what most stateful applications are made of."""

import threading
from collections.abc import Callable
from typing import Any

from llama_index.core.base.llms.types import ChatMessage

from tests.integrations.known import shown_in
from tests.integrations.llama_index.models import Telling
from tests.integrations.stateful import Made

GREETING = "Good morning to you."
PAST = [
    ChatMessage(role="user", content="Good morning."),
    ChatMessage(role="assistant", content=GREETING),
]


def heeds(prompt: str) -> str:
    """Bad news where b and d are shown, and once bad news were told."""
    return "bad news" if {"b", "d"} <= set(shown_in(prompt)) or "bad news" in prompt else "good news"


def heeds_the_past(prompt: str) -> str:
    """The same for those that it was greeted by; others are told nothing."""
    return heeds(prompt) if GREETING in prompt else "who are you?"


def heeding(**parameters: Any) -> Telling:
    return Telling(says=heeds, **parameters)


def greeted(**parameters: Any) -> Telling:
    return Telling(says=heeds_the_past, **parameters)


class Rationed:
    """Says the same, so many times: think of a quota."""

    def __init__(self, says: Callable[[str], str], most: int) -> None:
        self._says, self._most, self._lock = says, most, threading.Lock()
        self.asked = 0

    def __call__(self, prompt: str) -> str:
        with self._lock:
            self.asked += 1
            if self.asked > self._most:
                raise RuntimeError("the quota is exceeded")
        return self._says(prompt)


def anew(build: Callable[[], Made]) -> Callable[[], Made]:
    """The way out of most: a function without parameters, which makes the application for every run."""

    def built() -> Made:
        made = build()
        return Made(lambda: build().application, made.given, after=made.after)

    return built


def contents(messages: list[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role.value, str(message.content)) for message in messages]
