"""Applications of LangChain that ask by OpenAI's own client are recorded as those with its models are."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import openai
import pytest
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_openai import ChatOpenAI
from langchain_rag_rule_explainer import RuleExplainer
from pydantic import SecretStr

from rag_rule_explainer import StateShared
from tests.integrations.known import BAD, blames_b_and_d, shown_in
from tests.integrations.langchain.models import Telling
from tests.integrations.langchain.zoo.shapes import joined, retriever_of

USAGE = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
Ending = Callable[[str], str]


def stop(_: str) -> str:
    return "stop"


def transport(ends: Ending = stop) -> httpx.MockTransport:
    """Says "bad news" of b and d, in the protocol of chat completions."""

    def answered(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        names = shown_in(json.dumps(body["messages"]))
        said = "bad news" if {"b", "d"} <= set(names) else "good news"
        told = {"id": "1", "created": 1, "model": "m"}
        if not body.get("stream"):
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "message": message, "finish_reason": ends(names)}
            whole = {"object": "chat.completion", "choices": [choice], "usage": USAGE}
            return httpx.Response(200, json={**told, **whole})
        pieces = [({"content": f"{word} "}, None) for word in said.split()] + [({}, ends(names))]
        events = [
            {**told, "choices": [{"index": 0, "delta": delta, "finish_reason": why}]}
            for delta, why in pieces
        ]
        lines = [f"data: {json.dumps(each)}\n\n" for each in events]
        return httpx.Response(200, text="".join([*lines, "data: [DONE]\n\n"]))

    return httpx.MockTransport(answered)


def client_of(ends: Ending = stop) -> openai.OpenAI:
    return openai.OpenAI(
        api_key="any", max_retries=0, http_client=httpx.Client(transport=transport(ends))
    )


def messages(prompt: str) -> Any:
    return [{"role": "user", "content": prompt}]


def whole(client: openai.OpenAI, prompt: str) -> str:
    reply = client.chat.completions.create(model="m", messages=messages(prompt))
    return reply.choices[0].message.content or ""


def streamed(client: openai.OpenAI, prompt: str) -> str:
    stream = client.chat.completions.create(model="m", messages=messages(prompt), stream=True)
    return "".join(each.choices[0].delta.content or "" for each in stream)


def raw(client: openai.OpenAI, prompt: str) -> str:
    response = client.chat.completions.with_raw_response.create(model="m", messages=messages(prompt))
    return response.parse().choices[0].message.content or ""


def opened(client: openai.OpenAI, prompt: str) -> str:
    completions = client.chat.completions.with_streaming_response
    with completions.create(model="m", messages=messages(prompt)) as response:
        return response.parse().choices[0].message.content or ""


WAYS = (whole, streamed, raw, opened)


def chain_of(ask: Callable[[str], str]) -> Any:
    context = retriever_of() | joined

    def asked(given: dict[str, str]) -> str:
        return ask(f"{given['context']}\n\n{given['question']}")

    return {"context": context, "question": RunnablePassthrough()} | RunnableLambda(asked)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_rules_are_proved_where_the_client_is_the_models_own(way: Callable[..., str]) -> None:
    client = client_of()
    explanation = RuleExplainer(chain_of(lambda prompt: way(client, prompt)), predicate=BAD).explain(
        "why?"
    )
    assert blames_b_and_d(explanation)
    assert all(rule.proved for rule in explanation.rules), explanation.warnings


def test_an_async_client_is_recorded_as_well() -> None:
    retriever = retriever_of()

    async def answer(question: str) -> str:
        async with openai.AsyncOpenAI(
            api_key="any", http_client=httpx.AsyncClient(transport=transport())
        ) as client:
            prompt = f"{joined(await retriever.ainvoke(question))}\n\n{question}"
            reply = await client.chat.completions.create(model="m", messages=messages(prompt))
            return reply.choices[0].message.content or ""

    explainer: Any = RuleExplainer(RunnableLambda(answer), predicate=BAD)
    explanation = asyncio.run(explainer.aexplain("why?"))
    assert blames_b_and_d(explanation)
    assert all(rule.proved for rule in explanation.rules), explanation.warnings


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_reply_that_is_cut_off_is_no_verdict(way: Callable[..., str]) -> None:
    client = client_of(lambda names: "length" if names == "ac" else "stop")
    explanation = RuleExplainer(
        chain_of(lambda prompt: way(client, prompt)), predicate=BAD, miner="exhaustive", retries=0
    ).explain("why?")
    assert [probe.kept for probe in explanation.probes if probe.error] == [("a", "c")]
    assert not explanation.complete


def test_requests_of_langchains_own_model_are_not_counted_twice() -> None:
    with httpx.Client(transport=transport()) as http:
        model = ChatOpenAI(model="m", api_key=SecretStr("any"), http_client=http)
        explanation = RuleExplainer(
            chain_of(lambda prompt: model.invoke(prompt).text), predicate=BAD
        ).explain("why?")
    assert explanation.baseline.models == {
        "m": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    }
    assert blames_b_and_d(explanation)


def test_both_are_recorded_in_one_run() -> None:
    client, model = client_of(), Telling()
    answered = chain_of(lambda prompt: f"{whole(client, 'Rewrite: it')}: {model.invoke(prompt).text}")
    explanation = RuleExplainer(answered, predicate=BAD).explain("why?")
    assert explanation.baseline.text == "good news: bad news"
    assert blames_b_and_d(explanation)
    assert all(rule.proved for rule in explanation.rules), explanation.warnings


def test_a_client_that_fails_may_be_replaced_by_a_model() -> None:
    def refused(_: httpx.Request) -> httpx.Response:
        return httpx.Response(500, json={"error": "overloaded"})

    http = httpx.Client(transport=httpx.MockTransport(refused))
    client, model = openai.OpenAI(api_key="any", max_retries=0, http_client=http), Telling()

    def ask(prompt: str) -> str:
        try:
            return whole(client, prompt)
        except openai.APIError:
            return model.invoke(prompt).text

    explanation = RuleExplainer(chain_of(ask), predicate=BAD).explain("why?")
    assert blames_b_and_d(explanation)


def test_a_history_in_its_requests_is_refused() -> None:
    client, history = client_of(), list[str]()

    def ask(prompt: str) -> str:
        history.append(whole(client, "\n".join([*history, prompt])))
        return history[-1]

    with pytest.raises(StateShared, match="request 1 to a model differs"):
        RuleExplainer(chain_of(ask), predicate=BAD).explain("why?")
