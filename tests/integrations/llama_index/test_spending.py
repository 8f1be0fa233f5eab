"""What a call spends over the wire, and that what several have in flight has one bound."""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from llama_index.llms.openai import OpenAI
from llama_index_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, InvalidInput, Limiter, Limits, Price, Retries
from tests.integrations.known import BAD, shown_in
from tests.integrations.llama_index.crossing import crossed
from tests.integrations.llama_index.engines import engine_of, retriever_of
from tests.integrations.llama_index.test_wire import llm_at
from tests.integrations.together import Together
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer
from tests.support.prefix_cache import PrefixCache

# The LLM's async client belongs to loops that are gone; and LlamaIndex looks at what Pydantic deprecates.
pytestmark = [pytest.mark.waits, pytest.mark.filterwarnings("ignore")]

QUICK = Retries(most=2, first_wait=0.0, longest_wait=0.0)
PRICES = {"gpt-4o-mini": Price(1.0, 4.0, cached_input=0.5)}


def script(body: dict[str, Any]) -> str:
    shown = shown_in(str(body["messages"]))
    return "bad news" if {"b", "d"} <= set(shown) else "good news"


def blocking(explainer: Any) -> Explanation:
    return explainer.explain("why?")


def on_a_loop(explainer: Any) -> Explanation:
    return asyncio.run(explainer.aexplain("why?"))


@contextmanager
def served(
    says: Callable[[dict[str, Any]], Any] = script,
) -> Generator[tuple[OpenAIServer, OpenAI]]:
    with (
        OpenAIServer(says, cache=PrefixCache(10_000)) as server,
        llm_at(server.base_url, keep_alive=False) as llm,
    ):
        yield server, llm


def explainer_of(
    llm: OpenAI, names: str = "abd", *, streaming: bool = False, **more: Any
) -> RuleExplainer:
    given: dict[str, Any] = {"predicate": BAD, "prices": PRICES, **more}
    engine = engine_of(retriever_of(names), llm, streaming=streaming)
    return RuleExplainer(engine, answer_without_sources="good news", **given)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("ask", "streaming"),
    crossed([blocking, on_a_loop], [False, True], fast=[(blocking, False), (on_a_loop, True)]),
)
def test_all_tokens_are_told_and_those_out_of_a_cache_apart(
    ask: Callable[[Any], Explanation], streaming: bool
) -> None:
    with served() as (server, llm):
        explanation = ask(explainer_of(llm, streaming=streaming))
    tokens, spent = server.tokens, explanation.spent
    assert tokens.cached > 0
    assert spent.replays == {
        "input_tokens": tokens.prompt,
        "output_tokens": tokens.completion,
        "total_tokens": tokens.prompt + tokens.completion,
        "cached_input_tokens": tokens.cached,
    }
    cost = (tokens.prompt - tokens.cached) * 1.0 + tokens.cached * 0.5 + tokens.completion * 4.0
    assert spent.replays_cost == pytest.approx(cost / 1e6)
    assert (spent.judge, spent.judge_cost) == ({}, 0)


@pytest.mark.slow
@pytest.mark.parametrize("streaming", [False, True])
def test_replies_that_are_none_are_paid_for_all_the_same(streaming: bool) -> None:
    tries: list[str] = []

    def now_and_then(body: dict[str, Any]) -> Any:
        tries.append(shown_in(str(body["messages"])))
        first = tries.count(tries[-1]) == 1
        spoilt = {"abd": "length", "bd": "length", "b": "length"}.get(tries[-1])
        return Completion("bad", finish_reason="length") if first and spoilt else script(body)

    with served(now_and_then) as (server, llm):
        explainer = explainer_of(llm, streaming=streaming, retries=QUICK)
        explanation = explainer.explain("why?")
    assert explanation.complete
    assert explanation.counts.retries == 3
    assert explanation.spent.replays["total_tokens"] == server.tokens.prompt + server.tokens.completion


@pytest.mark.slow
@pytest.mark.parametrize("ask", [blocking, on_a_loop])
def test_the_caps_on_tokens_and_cost_are_exceeded_by_what_is_in_flight_at_most(
    ask: Callable[[Any], Explanation],
) -> None:
    for limits, told in ((Limits(tokens=400), "400 tokens"), (Limits(cost=0.0005), "in cost")):
        with served() as (server, llm):
            explanation = ask(explainer_of(llm, "abcd", limits=limits, concurrency=2))
        assert told in explanation.stop_reason
        assert len(server.requests) == explanation.counts.replays < 16
        each = max(len(str(body["messages"]).split()) for body in server.requests)
        spent = explanation.spent.replays["total_tokens"]
        assert limits.tokens is None or spent <= limits.tokens + 2 * (each + 10)
        assert all({"b", "d"} <= set(rule.sources) for rule in explanation.retention_rules)


def test_a_model_without_a_price_is_told_after_the_baseline() -> None:
    with served() as (server, llm):
        asked = explainer_of(
            llm, prices={"gpt-4": Price(1, 1), "gpt-4o-m": Price(1, 1)}, limits=Limits(cost=1.0)
        )
        with pytest.raises(
            InvalidInput, match=r"no price for every model that was used \('gpt-4o-mini'\)"
        ):
            asked.explain("why?")
        assert len(server.requests) == 1


def test_a_judge_that_is_a_model_is_billed_apart() -> None:
    with served(lambda body: "yes" if "judge" in str(body["messages"]) else script(body)) as (_, llm):

        def judged(case: Any) -> bool:
            return llm.complete(f"judge this: {case.answer.text}").text == "yes"

        explanation = explainer_of(llm, "ab", predicate=judged).explain("why?")
    spent = explanation.spent
    assert spent.judge["total_tokens"] > 0
    assert spent.replays["total_tokens"] > spent.judge["total_tokens"]
    assert spent.judge_cost


def test_two_explainers_share_a_limiter() -> None:
    limiter = Limiter(3)
    # These wait for a fourth one, which does not come.
    with served(Together(4, facts=3).script) as (server, llm):
        explainers = [explainer_of(llm, limiter=limiter, miner="exhaustive") for _ in range(2)]
        asks: list[Callable[[Any], Explanation]] = [blocking, on_a_loop]
        found: list[Explanation] = []
        threads = [
            threading.Thread(target=lambda ask=ask, each=each: found.append(ask(each)))
            for ask, each in zip(asks, explainers, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(200)
        assert server.peak == 3
        assert len(found) == 2
