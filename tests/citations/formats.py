"""Applications of each framework that cite in each format, and whose behaviour is known."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import httpx
import plain_rag_rule_explainer as plain
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_rag_rule_explainer import RuleExplainer as LangChainExplainer
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CitationBlock, TextBlock
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index_rag_rule_explainer import RuleExplainer as LlamaIndexExplainer
from openai import AsyncOpenAI, OpenAI

from tests.citations.oracles import QUESTION, Oracle
from tests.integrations.langchain.chains import Counting
from tests.integrations.langchain.models import Telling
from tests.integrations.llama_index.engines import Counting as CountingNodes
from tests.integrations.llama_index.models import Telling as TellingLLM

Shown = Sequence[tuple[str, str]]
"""The ids and texts that the model is shown, in their order."""
PATTERN = r"<<([^<>]+)>>"


def numbered(oracle: Oracle, shown: Shown) -> str:
    ids = [each for each, _ in shown]
    return oracle.statement(ids, lambda name: f"[{ids.index(name) + 1 if name in ids else 9}]")


def by_id(oracle: Oracle, shown: Shown) -> str:
    return oracle.statement([each for each, _ in shown], "[{}]".format)


def worded(oracle: Oracle, shown: Shown) -> str:
    ids = [each for each, _ in shown]
    return oracle.statement(ids, lambda name: f"(Source {ids.index(name) + 1})")


def footnoted(oracle: Oracle, shown: Shown) -> str:
    notes = list[str]()

    def mark(name: str) -> str:
        notes.append(name)
        return f"[^{len(notes)}]"

    said = oracle.statement([each for each, _ in shown], mark)
    return said + "".join(f"\n\n[^{place}]: {name}" for place, name in enumerate(notes, 1))


def patterned(oracle: Oracle, shown: Shown) -> str:
    ids = [each for each, _ in shown]
    return oracle.statement(ids, lambda name: f"<<{ids.index(name) + 1}>>")


class Beside(NamedTuple):
    """An answer whose citations stand beside its text."""

    text: str
    cited: tuple[tuple[int, str, str], ...]


def beside(oracle: Oracle, shown: Shown) -> Beside:
    ids = [each for each, _ in shown]
    text = oracle.statement(ids, lambda name: "").replace(" .", ".")
    cited = oracle.cites(frozenset(ids)) if oracle.needs(frozenset(ids)) else ()
    return Beside(text, tuple((ids.index(each), each, dict(shown)[each]) for each in cited))


def of_message(oracle: Oracle, shown: Shown) -> AIMessage:
    """Anthropic's locations, as LangChain keeps them."""
    told = beside(oracle, shown)
    locations = [
        {"type": "char_location", "document_index": place, "document_title": name, "cited_text": text}
        for place, name, text in told.cited
    ]
    return AIMessage(content=[{"type": "text", "text": told.text, "citations": locations}])


def of_blocks(oracle: Oracle, shown: Shown) -> ChatResponse:
    told = beside(oracle, shown)
    cited = [
        CitationBlock(
            cited_content=TextBlock(text=text), source=name, title=name, additional_location_info={}
        )
        for _, name, text in told.cited
    ]
    message = ChatMessage(role="assistant", blocks=[TextBlock(text=told.text), *cited])
    return ChatResponse(message=message)


def of_dict(oracle: Oracle, shown: Shown) -> dict[str, Any]:
    told = beside(oracle, shown)
    return {"answer": told.text, "citations": [place + 1 for place, _, _ in told.cited]}


Render = Callable[[Oracle, Shown], Any]
TEXTUAL: dict[str, Render] = {
    "numbers": numbered,
    "ids": by_id,
    "worded": worded,
    "footnotes": footnoted,
    "a pattern": patterned,
}
BESIDE: dict[str, Render] = {"langchain": of_message, "llama_index": of_blocks, "plain": of_dict}
FORMATS = (*TEXTUAL, "beside the text")


def render_of(framework: str, form: str) -> Render:
    return TEXTUAL.get(form) or BESIDE[framework]


PROMPTED = re.compile(r"^<(\w+)> (.*)$", re.MULTILINE)


def prompt_of(shown: Shown) -> str:
    return "\n".join([*(f"<{name}> {text}" for name, text in shown), QUESTION])


def told_by(oracle: Oracle, render: Render, prompt: str) -> str:
    """What the model says to a prompt: what stands beside it is added by its provider."""
    told = render(oracle, PROMPTED.findall(prompt))
    return told if isinstance(told, str) else beside(oracle, PROMPTED.findall(prompt)).text


def chain_of(oracle: Oracle, render: Render) -> Runnable[Any, Any]:
    documents = [Document(id=each.id, page_content=each.text) for each in oracle.sources]
    model = Telling(says=lambda messages: told_by(oracle, render, str(messages[-1].text)))

    def prompt(found: list[Document]) -> str:
        return prompt_of([(str(each.id), each.page_content) for each in found])

    def annotated(said: dict[str, Any]) -> Any:
        told = render(oracle, PROMPTED.findall(said["prompt"]))
        return said["reply"] if isinstance(told, str) else told

    prompted = Counting(documents=documents) | RunnableLambda(prompt)
    return prompted | {"reply": model, "prompt": RunnablePassthrough()} | RunnableLambda(annotated)


class Engine(NamedTuple):
    """A retriever and a model of LlamaIndex, and what is made of its reply."""

    oracle: Oracle
    render: Render
    found: CountingNodes
    model: TellingLLM

    def __call__(self, question: str) -> Any:
        shown = shown_by(self.found.retrieve(question))
        return self.told(shown, self.model.complete(prompt_of(shown)).text)

    def told(self, shown: Shown, said: str) -> Any:
        told = self.render(self.oracle, shown)
        return Response(said) if isinstance(told, str) else told


def shown_by(nodes: Sequence[NodeWithScore]) -> Shown:
    return [(each.node_id, each.get_content()) for each in nodes]


def engine_of(oracle: Oracle, render: Render) -> Engine:
    found = CountingNodes([TextNode(id_=each.id, text=each.text) for each in oracle.sources])
    return Engine(oracle, render, found, TellingLLM(says=lambda prompt: told_by(oracle, render, prompt)))


def async_engine_of(oracle: Oracle, render: Render) -> Callable[[str], Any]:
    engine = engine_of(oracle, render)

    async def ask(question: str) -> Any:
        shown = shown_by(await engine.found.aretrieve(question))
        return engine.told(shown, (await engine.model.acomplete(prompt_of(shown))).text)

    return ask


def replies(oracle: Oracle, render: Render) -> httpx.MockTransport:
    """Answers the requests of the real client in this process."""

    def reply(request: httpx.Request) -> httpx.Response:
        prompt = json.loads(request.content)["messages"][-1]["content"]
        message = {"role": "assistant", "content": told_by(oracle, render, prompt)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return httpx.Response(200, json=body)

    return httpx.MockTransport(reply)


CLIENT: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "api_key": "none", "max_retries": 0}


def function_of(oracle: Oracle, render: Render) -> Callable[[str], Any]:
    client = OpenAI(**CLIENT, http_client=httpx.Client(transport=replies(oracle, render)))

    @plain.gate
    def search(question: str) -> list[dict[str, str]]:
        return [{"id": each.id, "text": each.text} for each in oracle.sources]

    def ask(question: str) -> Any:
        shown = [(each["id"], each["text"]) for each in search(question)]
        messages: Any = [{"role": "user", "content": prompt_of(shown)}]
        said = client.chat.completions.create(model="m", messages=messages)
        told = render(oracle, shown)
        return said.choices[0].message.content if isinstance(told, str) else told

    return ask


def async_function_of(oracle: Oracle, render: Render) -> Callable[[str], Any]:
    http = httpx.AsyncClient(transport=replies(oracle, render))
    client = AsyncOpenAI(**CLIENT, http_client=http)

    @plain.gate
    async def search(question: str) -> list[dict[str, str]]:
        return [{"id": each.id, "text": each.text} for each in oracle.sources]

    async def ask(question: str) -> Any:
        shown = [(each["id"], each["text"]) for each in await search(question)]
        messages: Any = [{"role": "user", "content": prompt_of(shown)}]
        said = await client.chat.completions.create(model="m", messages=messages)
        told = render(oracle, shown)
        return said.choices[0].message.content if isinstance(told, str) else told

    return ask


Explaining = Callable[[Oracle, Render], Any]
EXPLAINERS: dict[str, Explaining] = {
    "langchain": lambda oracle, render: LangChainExplainer(chain_of(oracle, render)),
    "llama_index": lambda oracle, render: LlamaIndexExplainer(engine_of(oracle, render)),
    "plain": lambda oracle, render: plain.RuleExplainer(function_of(oracle, render)),
}
ASYNC_EXPLAINERS: dict[str, Explaining] = {
    "langchain": EXPLAINERS["langchain"],  # a chain has both entries
    "llama_index": lambda oracle, render: LlamaIndexExplainer(async_engine_of(oracle, render)),
    "plain": lambda oracle, render: plain.RuleExplainer(async_function_of(oracle, render)),
}
