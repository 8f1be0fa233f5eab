"""Replies of OpenAI and Azure that are cut off, over the wire to the real ChatOpenAI."""

import asyncio
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version

import httpx
import pytest
from langchain_openai import ChatOpenAI
from langchain_rag_rule_explainer import RuleExplainer, chat_replay
from pydantic import SecretStr

from rag_rule_explainer import Explainer, Explanation, Retries, Source
from rag_rule_explainer.probing.wholeness import HALF
from tests.drawing import examples
from tests.integrations.endings import PREDICATE, Always, Cutting, explained_all, unknown_of
from tests.integrations.known import TEXTS
from tests.integrations.langchain.test_endings import app_with
from tests.integrations.openai_endings import ENDPOINTS, FILTERED_PROMPT
from tests.integrations.spoilt import Spoilt

OLD = tuple(map(int, version("langchain-openai").split(".")[:2])) < (1, 1)
WAYS = ["sync", "async", "streamed", "async streamed", "chat_replay"]


def explained(way: str, endpoint: str) -> Callable[[Cutting, Retries], Explanation]:
    def explain(cutting: Cutting, retries: Retries) -> Explanation:
        limits = httpx.Limits(max_keepalive_connections=0)
        with ENDPOINTS[endpoint][0](cutting) as base_url, httpx.Client(limits=limits) as client:
            model = ChatOpenAI(
                model="m",
                base_url=base_url,
                api_key=SecretStr("any will do"),
                http_client=client,
                http_async_client=httpx.AsyncClient(limits=limits),
                max_retries=0,
                use_responses_api=endpoint == "responses",
            )
            if way == "chat_replay":
                sources = [Source(name, TEXTS[name]) for name in cutting.case.names]
                explainer = Explainer(chat_replay(model), predicate=PREDICATE, retries=retries)
                return explainer.explain("?", sources)
            app = app_with(model, cutting.case.names, streaming="streamed" in way)
            rules = RuleExplainer(app, predicate=PREDICATE, retries=retries)
            return asyncio.run(rules.aexplain("?")) if "async" in way else rules.explain("?")

    return explain


@pytest.mark.parametrize("way", ["sync", pytest.param("streamed", marks=pytest.mark.slow)])
def test_each_way_to_cut_a_reply_off_makes_its_probe_unknown_and_is_named(way: str) -> None:
    chat = {end: unknown_of(explained(way, "chat"), end) for end in ENDPOINTS["chat"][1]}
    responses = {end: unknown_of(explained(way, "responses"), end) for end in ENDPOINTS["responses"][1]}
    assert chat["half"] == HALF
    assert "refused" in chat["refusal after half"]
    assert "accept_finish_reasons=('wobbly',)" in chat["wobbly"]
    for reasons in (chat, responses):
        if way == "streamed" and reasons is responses and OLD:
            # Releases of that time leave the reason out at the end of a stream, which is no whole reply.
            assert reasons["content_filter"] == HALF
            continue
        assert "content filter (finish reason 'content_filter')" in reasons["content_filter"]
        if way == "sync" or reasons is responses:  # a stream of completions drops what it refuses with
            assert "refused" in reasons["refusal"]
    assert "length limit" in chat["length"]
    at_length = responses["max_output_tokens"]
    assert at_length == HALF if way == "streamed" and OLD else "length limit" in at_length


ALWAYS = {
    ("chat", "async"),
    ("chat", "streamed"),
    ("chat", "chat_replay"),
    ("responses", "sync"),
    ("responses", "async streamed"),
}
"""Each way with one of the endpoints; with the other one it is slow."""


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("endpoint", "way"),
    [
        pytest.param(each, way, marks=() if (each, way) in ALWAYS else pytest.mark.slow)
        for each in ENDPOINTS
        for way in WAYS
    ],
)
def test_no_reply_that_is_cut_off_becomes_a_verdict(way: str, endpoint: str) -> None:
    ends = ENDPOINTS[endpoint][1]
    cut = explained_all(explained(way, endpoint), ends, 2, 52 + 10 * WAYS.index(way), share=0.5)
    assert cut.total() > 0


def test_a_prompt_that_azure_filters_is_not_sent_again() -> None:
    cutting = Always(Spoilt("ab", "pair"), (FILTERED_PROMPT,))
    explanation = explained("sync", "chat")(cutting, Retries(2, first_wait=0))
    (failed,) = [probe for probe in explanation.probes if probe.error]
    assert failed.kept == ("a",)
    assert "content management policy" in failed.error
    assert explanation.counts.retries == 0


@pytest.mark.slow
def test_over_two_hundred_explanations_no_reply_that_is_cut_off_becomes_a_verdict() -> None:
    cut = Counter[str]()
    for endpoint, (_, ends) in ENDPOINTS.items():
        for way in WAYS:
            cut += explained_all(
                explained(way, endpoint), ends, examples(20), start=500 * (1 + WAYS.index(way))
            )
    print(f"{cut.total()} replies were cut off in {len(cut)} ways")
    assert set(cut) == {end for _, ends in ENDPOINTS.values() for end in ends}
