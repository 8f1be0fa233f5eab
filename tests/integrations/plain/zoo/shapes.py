"""What a shape of application is: how to build one, and what is known to be true of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from plain_rag_rule_explainer import gate

from rag_rule_explainer import Explanation
from tests.integrations.known import TEXTS, Rules, nothing_more, sets
from tests.integrations.plain.models import Models

QUESTION = "why?"


@dataclass(frozen=True)
class Built:
    """An application, and how often it has really searched so far."""

    application: Callable[..., Any]
    live: Callable[[], int]
    given: Any = QUESTION
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Shape:
    """A shape, and what is true of it. ``live``: real searches of one explanation; None where every
    replay asks in words of its own, and so searches again. ``more``: what else is true of its
    explanation."""

    name: str
    build: Callable[[Models], Built]
    retention: Rules = field(default_factory=lambda: sets("bd"))
    omission: Rules = field(default_factory=lambda: sets("b", "d"))
    live: int | None = 1
    more: Callable[[Explanation], None] = nothing_more


class Index:
    """Finds the facts of these names, and counts how often it is asked."""

    def __init__(self, names: str = "abcd") -> None:
        self.names = names
        self.searches = 0
        self.search = gate(self.find)

    def find(self, query: str) -> list[dict[str, str]]:
        self.searches += 1
        return [{"id": name, "text": TEXTS[name]} for name in self.names]


def live(index: Any) -> Callable[[], int]:
    """How often it was asked; no code of the application reads that."""
    return lambda: index.searches


def shown(found: Any, question: str = QUESTION) -> str:
    """What was found as a prompt shows it."""
    return "\n\n".join([*(each["text"] for each in found), f"Question: {question}"])


def user(content: str) -> list[Any]:
    return [{"role": "user", "content": content}]


def chat(models: Models, content: str) -> str:
    """What a model says to one message."""
    reply = models.client.chat.completions.create(model="m", messages=user(content))
    return reply.choices[0].message.content or ""
