"""Applications that search and ask a model once, in every way that the client has."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from plain_rag_rule_explainer import gate
from pydantic import BaseModel

from rag_rule_explainer import Explanation
from tests.integrations.known import TEXTS
from tests.integrations.plain.models import Models
from tests.integrations.plain.zoo.shapes import Built, Index, Shape, chat, live, shown, user


def one_function(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> str:
        return chat(models, shown(index.search(question), question))

    return Built(answer, live(index))


def put_together_from_a_stream(models: Models) -> Built:
    index = Index()

    def answer(given: dict[str, str]) -> dict[str, Any]:
        found = index.search(given["question"])
        stream = models.client.chat.completions.create(
            model="m", messages=user(shown(found)), stream=True
        )
        pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
        return {"answer": "".join(pieces), "sources": found}

    return Built(answer, live(index), {"question": "why?"})


def streaming(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> Iterator[str]:
        found = index.search(question)
        with models.client.chat.completions.stream(model="m", messages=user(shown(found))) as stream:
            for event in stream:
                if event.type == "content.delta":
                    yield event.delta

    return Built(answer, live(index))


def awaiting(models: Models) -> Built:
    searches: list[str] = []

    @gate
    async def search(query: str) -> list[str]:
        searches.append(query)
        return list(TEXTS.values())

    async def answer(question: str) -> Any:
        content = "\n".join(await search(question))
        return await models.aclient.chat.completions.create(model="m", messages=user(content))

    return Built(answer, lambda: len(searches))


def streaming_asynchronously(models: Models) -> Built:
    index = Index()

    async def answer(question: str) -> AsyncIterator[Any]:
        messages = user(shown(index.search(question)))
        stream = await models.aclient.chat.completions.create(model="m", messages=messages, stream=True)
        async for chunk in stream:
            yield chunk

    return Built(answer, live(index))


def asked_by_responses(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> Any:
        return models.responses.responses.create(model="m", input=shown(index.search(question), question))

    return Built(answer, live(index))


def asked_by_streamed_responses(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> Any:
        given: Any = [{"role": "user", "content": shown(index.search(question), question)}]
        return models.responses.responses.create(model="m", input=given, stream=True)

    return Built(answer, live(index))


class News(BaseModel):
    news: str


def with_structured_output(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> tuple[Any, list[dict[str, str]]]:
        found = index.search(question)
        reply = models.client.chat.completions.parse(
            model="m", messages=user(shown(found)), response_format=News
        )
        return reply.choices[0].message.parsed, found

    return Built(answer, live(index))


def is_structured(explanation: Explanation) -> None:
    assert explanation.baseline.value == {"news": "There is bad news today."}


def raw_response(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> str:
        raw = models.client.chat.completions.with_raw_response.create(
            model="m", messages=user(shown(index.search(question)))
        )
        return raw.parse().choices[0].message.content or ""

    return Built(answer, live(index))


class Assistant:
    """An application with its search as a method."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self.searches = 0

    @gate(text_of=lambda pair: pair[1])
    def look_up(self, query: str) -> list[tuple[str, str]]:
        self.searches += 1
        return list(TEXTS.items())

    def __call__(self, question: str) -> str:
        return chat(self.models, "\n".join(text for _, text in self.look_up(question)))


def gated_method(models: Models) -> Built:
    assistant = Assistant(models)
    return Built(assistant, live(assistant))


def by_text(explanation: Explanation) -> None:
    """That the sources which no id names are those that are blamed."""
    told = {source.id: source.text for source in explanation.sources}
    (rule,) = explanation.retention_rules
    assert {told[each] for each in rule.sources} == {TEXTS["b"], TEXTS["d"]}


SHAPES = (
    Shape("a function that searches and asks", one_function),
    Shape("an answer put together from a stream", put_together_from_a_stream),
    Shape("a generator around the client's own stream", streaming),
    Shape("an async function and the async client", awaiting, more=by_text),
    Shape("an async generator of chunks", streaming_asynchronously),
    Shape("responses", asked_by_responses),
    Shape("responses, streamed", asked_by_streamed_responses),
    Shape("structured output, with the sources beside it", with_structured_output, more=is_structured),
    Shape("a raw response", raw_response),
    Shape("an object whose search is a method", gated_method, more=by_text),
)
