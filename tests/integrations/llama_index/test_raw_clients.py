"""Applications of LlamaIndex that ask a model by a client of their own: it is seen like LlamaIndex's."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index_rag_rule_explainer import RuleExplainer
from openai import AsyncOpenAI, OpenAI
from typing_extensions import override

from rag_rule_explainer import Explanation, SourceLeak, StateShared
from tests.integrations.known import BAD, TEXTS, blames_b_and_d, kept_delivered_and_seen, shown_in
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.models import Telling
from tests.integrations.plain.models import news
from tests.integrations.plain.zoo.shapes import user

URL = "http://model/v1"


class Provider(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A provider in this process: bad news where it is shown both b and d; it cuts off ``cut``."""

    def __init__(self, cut: str = "none") -> None:
        self.cut = cut

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        names = shown_in(str(json.loads(request.content)["messages"]))
        reason = "length" if names == self.cut else "stop"
        message = {"role": "assistant", "content": news(names)}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        usage = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
        whole = {"id": "1", "model": "m", "created": 1, "choices": [choice], "usage": usage}
        return httpx.Response(200, json=whole)

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def shown_by(found: Any) -> list[Any]:
    return user("\n".join(each.node.get_content() for each in found) or "nothing")


def by_its_client(provider: Provider) -> Callable[[str], str]:
    retriever = retriever_of("abd")
    client = OpenAI(base_url=URL, api_key="none", http_client=httpx.Client(transport=provider))

    def answer(question: str) -> str:
        reply = client.chat.completions.create(model="m", messages=shown_by(retriever.retrieve(question)))
        return reply.choices[0].message.content or ""

    return answer


def by_http(provider: Provider) -> Callable[[str], str]:
    retriever, http = retriever_of("abd"), httpx.Client(transport=provider)

    def answer(question: str) -> str:
        body = {"model": "m", "messages": shown_by(retriever.retrieve(question))}
        reply = http.post(f"{URL}/chat/completions", json=body)
        return str(reply.json()["choices"][0]["message"]["content"])

    return answer


def after_a_model_of_llama_index(provider: Provider) -> Callable[[str], str]:
    """The question is rewritten by one, and answered by the other."""
    answer, rewriter = by_its_client(provider), Telling(says=lambda _: "what is known of it")
    return lambda question: answer(str(rewriter.complete(f"Rewrite: {question}")))


class Awaiting(Workflow):
    def __init__(self, provider: Provider) -> None:
        super().__init__(timeout=None)
        http = httpx.AsyncClient(transport=provider)
        self.client = AsyncOpenAI(base_url=URL, api_key="none", http_client=http)
        self.retriever = retriever_of("abd")

    @step
    async def answer(self, ev: StartEvent) -> StopEvent:
        messages = shown_by(await self.retriever.aretrieve(ev.query))
        reply = await self.client.chat.completions.create(model="m", messages=messages)
        return StopEvent(result=reply.choices[0].message.content)


class Wrapping(CustomLLM):
    """A model of the user's, which asks the provider inside of it."""

    http: Any

    @property
    @override
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000, model_name="m")

    @llm_completion_callback()
    @override
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        reply = self.http.post(f"{URL}/chat/completions", json={"model": "m", "messages": user(prompt)})
        return CompletionResponse(text=reply.json()["choices"][0]["message"]["content"])

    @llm_completion_callback()
    @override
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        yield self.complete(prompt)


def inside_a_model(provider: Provider) -> Any:
    return engine_of(retriever_of("abd"), llm=Wrapping(http=httpx.Client(transport=provider)))


SHAPES: tuple[Callable[[Provider], Any], ...] = (
    by_its_client,
    by_http,
    after_a_model_of_llama_index,
    Awaiting,
    inside_a_model,
)


def explained(application: Any, *, awaiting: bool, **parameters: Any) -> Explanation:
    explainer = RuleExplainer(application, predicate=BAD, miner="exact", **parameters)
    given = {"query": "why?"} if isinstance(application, Workflow) else "why?"
    return asyncio.run(explainer.aexplain(given)) if awaiting else explainer.explain(given)


@pytest.mark.parametrize("awaiting", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda each: each.__name__)
def test_a_client_inside_the_framework_is_seen(shape: Callable[[Provider], Any], awaiting: bool) -> None:
    explanation = explained(shape(Provider()), awaiting=awaiting)
    assert blames_b_and_d(explanation)
    assert explanation.scope == "seen"
    assert all(rule.proved for rule in explanation.rules), explanation.warnings
    kept_delivered_and_seen(explanation)
    # What a model of LlamaIndex sends inside of its call is reported by LlamaIndex, and counts once.
    assert bool(explanation.baseline.models) is (shape is not inside_a_model)


@pytest.mark.parametrize("shape", SHAPES[:4], ids=lambda each: each.__name__)
def test_a_reply_that_is_cut_off_is_no_answer(shape: Callable[[Provider], Any]) -> None:
    explanation = explained(shape(Provider("ab")), awaiting=False, retries=0)
    assert [probe.kept for probe in explanation.probes if probe.error] == [("a", "b")]


def test_a_document_that_reaches_a_client_by_another_way_is_a_leak() -> None:
    retriever, past = retriever_of("abd"), TEXTS["b"]
    client = OpenAI(base_url=URL, api_key="none", http_client=httpx.Client(transport=Provider()))

    def answer(question: str) -> str:
        messages = [*user(past), *shown_by(retriever.retrieve(question))]
        return (
            client.chat.completions.create(model="m", messages=messages).choices[0].message.content or ""
        )

    with pytest.raises(SourceLeak):
        explained(answer, awaiting=False)


def test_a_history_that_a_client_is_sent_is_no_replay_of_the_first_run() -> None:
    retriever, history = retriever_of("abd"), list[Any]()
    client = OpenAI(base_url=URL, api_key="none", http_client=httpx.Client(transport=Provider()))

    def answer(question: str) -> str:
        history.extend(shown_by(retriever.retrieve(question)))
        reply = client.chat.completions.create(model="m", messages=history).choices[0].message
        history.append({"role": "assistant", "content": reply.content})
        return reply.content or ""

    with pytest.raises(StateShared):
        explained(answer, awaiting=False)
