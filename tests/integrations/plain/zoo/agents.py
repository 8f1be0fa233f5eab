"""Applications that ask models several times: agents with OpenAI's tools, chains of requests, threads."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from plain_rag_rule_explainer import gate, tool

from tests.integrations.known import TEXTS
from tests.integrations.plain.models import Models
from tests.integrations.plain.zoo.shapes import Built, Index, Shape, chat, live, shown, user


def described(name: str) -> Any:
    query = {"type": "object", "properties": {"query": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": query}}


def agent(models: Models, tools: dict[str, Callable[..., str]]) -> Callable[[str], str]:
    """The loop that every tutorial has."""

    def answer(question: str) -> str:
        messages: list[Any] = [{"role": "system", "content": "Use your tools."}, *user(question)]
        while True:
            reply = models.client.chat.completions.create(
                model="m", messages=messages, tools=list(map(described, tools))
            )
            message: Any = reply.choices[0].message
            if not message.tool_calls:
                return message.content
            messages.append(message)
            for call in message.tool_calls:
                result = tools[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    return answer


def with_tools(models: Models) -> Built:
    index = Index()

    def look_up(query: str) -> str:
        return json.dumps({"results": index.search(query)})

    return Built(agent(models, {"look_up": look_up}), live(index))


def with_a_tool_that_acts(models: Models) -> Built:
    index, sent = Index(), list[str]()

    @tool
    def send(query: str) -> str:
        sent.append(query)
        return "sent"

    def look_up(query: str) -> str:
        return json.dumps(index.search(query))

    application = agent(models, {"send": send, "look_up": look_up})
    return Built(application, live(index), parameters={"stub_tools": {"send": "sent"}})


def tools_at_once(models: Models) -> Built:
    found: list[str] = []

    @gate
    async def search(names: str) -> list[dict[str, str]]:
        found.append(names)
        await asyncio.sleep(0)
        return [{"id": name, "text": TEXTS[name]} for name in names]

    async def result(call: Any) -> Any:
        names = {"first": "ab", "second": "cd"}[call.function.name]
        content = shown(await search(names))
        return {"role": "tool", "tool_call_id": call.id, "content": content}

    async def answer(question: str) -> str:
        messages: list[Any] = user(question)
        tools = [described("first"), described("second")]
        reply = await models.aclient.chat.completions.create(model="m", messages=messages, tools=tools)
        message: Any = reply.choices[0].message
        messages += [message, *await asyncio.gather(*map(result, message.tool_calls))]
        reply = await models.aclient.chat.completions.create(model="m", messages=messages, tools=tools)
        return reply.choices[0].message.content or ""

    return Built(answer, lambda: len(found))


def rewritten(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> str:
        query = chat(models, f"Rewrite: {question}")
        return chat(models, shown(index.search(query), question))

    return Built(answer, live(index))


def ranked_by_a_model(models: Models) -> Built:
    """What the ranking model is shown is the search's own affair."""
    searches: list[str] = []

    @gate
    def search(query: str) -> list[dict[str, str]]:
        searches.append(query)
        order = chat(models, "Rank\n" + "\n".join(TEXTS.values()))
        return [{"id": name, "text": TEXTS[name]} for name in order.split(", ")]

    def answer(question: str) -> str:
        return chat(models, shown(search(question), question))

    return Built(answer, lambda: len(searches))


def mapped_in_threads(models: Models) -> Built:
    index = Index()

    def answer(question: str) -> str:
        with ThreadPoolExecutor(4) as pool:
            notes = pool.map(lambda each: chat(models, f"Note {each['text']}"), index.search(question))
        return chat(models, "\n".join(["Reduce", *notes]))

    return Built(answer, live(index))


class Collection:
    """Answers as Chroma's does."""

    def __init__(self) -> None:
        self.searches = 0

    def query(self, query_texts: list[str], n_results: int = 4) -> dict[str, Any]:
        self.searches += 1
        return {
            "ids": [list(TEXTS)],
            "documents": [list(TEXTS.values())],
            "distances": [[0.1, 0.2, 0.3, 0.4]],
            "metadatas": None,
        }


def of_a_raw_client(models: Models) -> Built:
    collection = Collection()
    query = gate(collection.query)

    def answer(question: str) -> str:
        return chat(models, "\n".join(query(query_texts=[question], n_results=4)["documents"][0]))

    return Built(answer, live(collection))


SHAPES = (
    Shape("an agent with a tool", with_tools),
    Shape("an agent with a tool that acts, stubbed", with_a_tool_that_acts),
    Shape("an async agent whose tools run at once", tools_at_once, live=2),
    Shape("a query that a model rewrites", rewritten),
    Shape("a search that a model ranks", ranked_by_a_model),
    Shape("a request for each source, in threads", mapped_in_threads),
    Shape("a raw client's response", of_a_raw_client),
)
