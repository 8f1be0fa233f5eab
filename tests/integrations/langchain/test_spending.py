"""What a call spends over the wire, and that what several have in flight has one bound."""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from langchain_rag_rule_explainer import RuleExplainer

from rag_rule_explainer import Explanation, InvalidInput, Limiter, Limits, Price, Retries
from tests.integrations.known import BAD, shown_in
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.test_wire import chain_of, chat_model
from tests.integrations.together import Together
from tests.support.completions import Completion
from tests.support.openai_server import OpenAIServer
from tests.support.prefix_cache import PrefixCache

pytestmark = pytest.mark.waits

QUICK = Retries(most=2, first_wait=0.0, longest_wait=0.0)
PRICES = {"m": Price(1.0, 4.0, cached_input=0.5)}


def script(body: dict[str, Any]) -> str:
    shown = shown_in(str(body["messages"]))
    return "bad news" if {"b", "d"} <= set(shown) else "good news"


def blocking(explainer: Any) -> Explanation:
    return explainer.explain("why?")


def on_a_loop(explainer: Any) -> Explanation:
    return asyncio.run(explainer.aexplain("why?"))


@contextmanager
def served(
    says: Callable[[dict[str, Any]], Any] = script, *, streaming: bool = False
) -> Generator[tuple[OpenAIServer, ChatOpenAI]]:
    with (
        OpenAIServer(says, cache=PrefixCache(10_000)) as server,
        chat_model(server.base_url, keep_alive=False) as model,
    ):
        model.streaming = streaming
        yield server, model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ask", "streaming"),
    [
        (blocking, False),
        pytest.param(blocking, True, marks=pytest.mark.slow),
        pytest.param(on_a_loop, False, marks=pytest.mark.slow),
        (on_a_loop, True),
    ],
)
def test_all_tokens_are_told_and_those_out_of_a_cache_apart(
    ask: Callable[[Any], Explanation], streaming: bool
) -> None:
    with served(streaming=streaming) as (server, model):
        explanation = ask(RuleExplainer(chain_of(model, facts("abcd")), predicate=BAD, prices=PRICES))
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


@pytest.mark.parametrize("streaming", [pytest.param(False, marks=pytest.mark.slow), True])
def test_replies_that_are_none_are_paid_for_all_the_same(streaming: bool) -> None:
    tries: list[str] = []

    def now_and_then(body: dict[str, Any]) -> Any:
        tries.append(shown_in(str(body["messages"])))
        first = tries.count(tries[-1]) == 1
        spoilt = {"abcd": "length", "bd": "length", "": "length"}.get(tries[-1])
        return Completion("bad", finish_reason="length") if first and spoilt else script(body)

    with served(now_and_then, streaming=streaming) as (server, model):
        explainer = RuleExplainer(chain_of(model, facts("abcd")), predicate=BAD, retries=QUICK)
        explanation = explainer.explain("why?")
    assert explanation.complete
    assert explanation.counts.retries == 3
    assert explanation.spent.replays["total_tokens"] == server.tokens.prompt + server.tokens.completion


@pytest.mark.parametrize("ask", [blocking, pytest.param(on_a_loop, marks=pytest.mark.slow)])
def test_the_caps_on_tokens_and_cost_are_exceeded_by_what_is_in_flight_at_most(
    ask: Callable[[Any], Explanation],
) -> None:
    for limits, told in ((Limits(tokens=400), "400 tokens"), (Limits(cost=0.0005), "in cost")):
        with served() as (server, model):
            chain = chain_of(model, facts("abcd"))
            explanation = ask(
                RuleExplainer(chain, predicate=BAD, prices=PRICES, limits=limits, concurrency=2)
            )
        assert told in explanation.stop_reason
        assert len(server.requests) == explanation.counts.replays < 16
        each = max(len(str(body["messages"]).split()) for body in server.requests)
        spent = explanation.spent.replays["total_tokens"]
        assert limits.tokens is None or spent <= limits.tokens + 2 * (each + 10)
        assert all({"b", "d"} <= set(rule.sources) for rule in explanation.retention_rules)


def test_a_model_without_a_price_is_told_after_the_baseline() -> None:
    with served() as (server, model):
        chain = chain_of(model, facts("abcd"))
        asked = RuleExplainer(
            chain, predicate=BAD, prices={"gpt-4o": Price(1, 1)}, limits=Limits(cost=1.0)
        )
        with pytest.raises(InvalidInput, match=r"no price for every model that was used \('m'\)"):
            asked.explain("why?")
        assert len(server.requests) == 1


def test_a_judge_that_is_a_model_is_billed_apart() -> None:
    with served(lambda body: "yes" if "judge" in str(body["messages"]) else script(body)) as (_, model):

        def judged(case: Any) -> bool:
            return model.invoke(f"judge this: {case.answer.text}").text == "yes"

        chain = chain_of(model, facts("ab"))
        explanation = RuleExplainer(chain, predicate=judged, prices=PRICES).explain("why?")
    spent = explanation.spent
    assert spent.judge["total_tokens"] > 0
    assert spent.replays["total_tokens"] > spent.judge["total_tokens"]
    assert spent.judge_cost


@pytest.mark.slow
def test_two_explainers_share_a_limiter_and_a_config_has_its_own() -> None:
    limiter = Limiter(3)
    # These wait for a fourth one, which does not come.
    with served(Together(4).script) as (server, model):
        chain = chain_of(model, facts("abcd"))
        explainers = [
            RuleExplainer(chain, predicate=BAD, limiter=limiter, miner="exhaustive") for _ in range(2)
        ]
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
    with served(Together(4).script) as (server, model):
        explainer = RuleExplainer(chain_of(model, facts("abcd")), predicate=BAD, limiter=Limiter(8))
        assert explainer.explain("why?", {"max_concurrency": 3}).complete
        assert server.peak == 3
