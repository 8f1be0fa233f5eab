"""Replies of OpenAI and Azure that are cut off, over the wire to LlamaIndex's real LLMs for them."""

import asyncio
from collections import Counter
from collections.abc import Callable

import httpx
import pytest
from llama_index.llms.openai import OpenAI, OpenAIResponses
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, Retries
from rag_rule_explainer.probing.wholeness import HALF
from tests.integrations.endings import PREDICATE, Always, Cutting, explained_all, unknown_of
from tests.integrations.llama_index.crossing import crossed
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.openai_endings import ENDPOINTS, FILTERED_PROMPT
from tests.integrations.spoilt import Spoilt

# The LLM's async client belongs to loops that are gone; and LlamaIndex looks at what Pydantic deprecates.
pytestmark = pytest.mark.filterwarnings("ignore")

LLMS = {"chat": OpenAI, "responses": OpenAIResponses}
WAYS = ["sync", "async", "streamed", "async streamed"]


def explained(way: str, endpoint: str) -> Callable[[Cutting, Retries], Explanation]:
    def explain(cutting: Cutting, retries: Retries) -> Explanation:
        limits = httpx.Limits(max_keepalive_connections=0)
        with ENDPOINTS[endpoint][0](cutting) as base_url, httpx.Client(limits=limits) as client:
            llm = LLMS[endpoint](
                model="gpt-4o-mini",
                api_base=base_url,
                api_key="any will do",
                http_client=client,
                async_http_client=httpx.AsyncClient(limits=limits),
                max_retries=0,
            )
            engine = engine_of(retriever_of(cutting.case.names), llm, streaming="streamed" in way)
            explainer = RuleExplainer(
                engine,
                predicate=PREDICATE,
                retries=retries,
                # Without nodes, LlamaIndex asks no model.
                answer_without_sources=cutting.case.answer(""),
            )
            return asyncio.run(explainer.aexplain("?")) if "async" in way else explainer.explain("?")

    return explain


@pytest.mark.slow  # LangChain's fast tests ask the same of the same client.
@pytest.mark.parametrize("way", ["sync", pytest.param("streamed", marks=pytest.mark.slow)])
def test_each_way_to_cut_a_reply_off_makes_its_probe_unknown_and_is_named(way: str) -> None:
    chat = {end: unknown_of(explained(way, "chat"), end) for end in ENDPOINTS["chat"][1]}
    responses = {end: unknown_of(explained(way, "responses"), end) for end in ENDPOINTS["responses"][1]}
    assert chat["half"] == HALF
    assert "refused" in chat["refusal after half"]
    assert "accept_finish_reasons=('wobbly',)" in chat["wobbly"]
    for reasons in (chat, responses):
        assert "content filter (finish reason 'content_filter')" in reasons["content_filter"]
    if way == "sync":  # a stream drops what it refuses with
        assert "refused" in chat["refusal"]
    assert "length limit" in chat["length"]
    assert "length limit" in responses["max_output_tokens"]


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("way", "endpoint"),
    crossed(
        WAYS,
        list(ENDPOINTS),
        fast=[
            ("sync", "chat"),
            ("async", "responses"),
            ("streamed", "responses"),
            ("async streamed", "chat"),
        ],
    ),
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


@pytest.mark.nightly
@pytest.mark.timeout(1500)  # a busy machine takes more than five minutes
def test_over_a_hundred_and_sixty_explanations_no_reply_that_is_cut_off_becomes_a_verdict() -> None:
    cut = Counter[str]()
    for endpoint, (_, ends) in ENDPOINTS.items():
        for way in WAYS:
            cut += explained_all(explained(way, endpoint), ends, 20, start=500 * (1 + WAYS.index(way)))
    print(f"{cut.total()} replies were cut off in {len(cut)} ways")
    assert set(cut) == {end for _, ends in ENDPOINTS.values() for end in ends}
