"""Applications whose model no client shows: a function in this process, marked with ``model``."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from plain_rag_rule_explainer import gate, model

from tests.integrations.known import shown_in
from tests.integrations.plain.models import Models, news
from tests.integrations.plain.zoo.shapes import Built, Index, Shape, live, shown, user


def local(prompt: str, temperature: float = 0.0) -> str:
    """Stands for a model in this process."""
    return news(shown_in(prompt))


def in_this_process(_: Models) -> Built:
    index, ask = Index(), model(local)
    return Built(lambda question: ask(shown(index.search(question), question)), live(index))


class Chat:
    """A client of a provider that nothing else reads."""

    def __init__(self) -> None:
        self.asked = 0

    @model
    def create(self, *, messages: list[dict[str, str]], **_: Any) -> dict[str, Any]:
        self.asked += 1
        return {"text": news(shown_in(str(messages))), "usage": {"total": len(messages)}}


def by_a_client_of_its_own(_: Models) -> Built:
    index, client = Index(), Chat()

    def answer(question: str) -> str:
        reply = client.create(messages=user(shown(index.search(question))), temperature=0)
        return str(reply["text"])

    return Built(answer, live(index))


def streaming(_: Models) -> Built:
    index = Index()

    @model
    def ask(prompt: str) -> Iterator[str]:
        yield from local(prompt).partition(" ")

    return Built(lambda question: ask(shown(index.search(question), question)), live(index))


def awaited_and_streaming(_: Models) -> Built:
    index = Index()

    @model
    async def ask(prompt: str) -> AsyncIterator[str]:
        for piece in local(prompt).partition(" "):
            yield piece

    @model
    async def rewritten(question: str) -> str:
        return f"what is known of {question}"

    async def answer(question: str) -> str:
        found = index.search(await rewritten(question))
        return "".join([piece async for piece in ask(shown(found, question))])

    return Built(answer, live(index))


def around_the_client(models: Models) -> Built:
    """What the client sends inside is the same request, and counts once."""
    index = Index()

    @model
    def ask(prompt: str) -> Any:
        reply: Any = models.client.chat.completions.create(model="m", messages=user(prompt))
        return reply.choices[0].message.content

    return Built(lambda question: ask(shown(index.search(question), question)), live(index))


def without_any_model(_: Models) -> Built:
    """Words are looked up; nothing is asked."""
    index = Index()

    @model
    def told(texts: list[str]) -> str:
        words = {word for text in texts for word in text.lower().split()}
        return "bad news" if {"basalt", "dunes"} <= words else "good news"

    def answer(question: str) -> str:
        return told([each["text"] for each in index.search(question)])

    return Built(answer, live(index))


def gated(_: Models) -> Built:
    """A model ranks inside of the search, where it is shown everything."""
    index, ask = Index(), model(local)

    @gate
    def search(question: str) -> list[dict[str, str]]:
        ask("Rank:\n" + shown(index.find(question)))
        return index.find(question)

    return Built(lambda question: ask(shown(search(question), question)), lambda: 1)


SHAPES = (
    Shape("a model in this process, marked", in_this_process),
    Shape("a client of its own, marked as a method", by_a_client_of_its_own),
    Shape("a marked model that streams", streaming),
    Shape("a marked model, awaited and streamed", awaited_and_streaming),
    Shape("a marked function around the client", around_the_client),
    Shape("no model, and a marked function", without_any_model),
    Shape("a marked model inside the search as well", gated),
)
