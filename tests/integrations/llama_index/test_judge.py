"""LlamaIndex's own OpenAI LLM as the judge, over HTTP."""

import asyncio
import json
from typing import Any

import pytest
from llama_index.llms.openai import OpenAI
from llama_index_rag_rule_explainer import OfflineLLM, RuleExplainer, judge_of

from rag_rule_explainer import Explainer, InvalidInput, Price, judged, same_answer
from rag_rule_explainer.predicates.judge.request import INSTRUCTIONS
from tests.integrations.known import shown_in
from tests.integrations.llama_index.engines import Counting, engine_of
from tests.integrations.llama_index.models import nodes
from tests.integrations.llama_index.test_wire import PROMPT, llm_at
from tests.judging import DISTINCT, SOURCES, forty_answers
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer
from tests.support.prefix_cache import PrefixCache

# LlamaIndex looks at what Pydantic deprecates.
pytestmark = pytest.mark.filterwarnings("ignore")


def is_good(answer: str) -> bool:
    return answer.startswith("good")


@pytest.mark.waits
def test_hundreds_of_probes_with_forty_answers_cost_forty_judgements() -> None:
    with OpenAIServer(judging(is_good)) as server, llm_at(server.base_url) as llm:
        explainer = Explainer(
            forty_answers,
            predicate=judged("brings good news", llm),
            miner="exhaustive",
            rules="retention",
        )
        explanation = explainer.explain("What news?", SOURCES)
    assert explanation.counts.probes == 256
    assert [rule.sources for rule in explanation.retention_rules] == [("D1", "D3")]
    contents = [body["messages"][-1]["content"] for body in server.requests]
    assert sum(len(json.loads(content)["candidates"]) for content in contents) == DISTINCT
    assert {body["messages"][0]["content"] for body in server.requests} == {INSTRUCTIONS}
    assert "judged by gpt-4o-mini at 127.0.0.1:" in explanation.retention_rules[0].rule


@pytest.mark.waits
@pytest.mark.slow
def test_the_replays_tokens_and_the_judges_are_told_apart() -> None:
    def answers(body: dict[str, Any]) -> str:
        return "bad news" if {"b", "d"} <= set(shown_in(str(body["messages"]))) else "good news"

    with (
        OpenAIServer(answers, cache=PrefixCache(10_000)) as application,
        OpenAIServer(judging(is_good), cache=PrefixCache(10_000)) as server,
        llm_at(application.base_url, keep_alive=False) as llm,
        llm_at(server.base_url) as judge,
    ):
        engine = engine_of(Counting(nodes("abcd")), llm, text_qa_template=PROMPT)
        explainer = RuleExplainer(
            engine,
            predicate=~judged("brings good news", judge),
            answer_without_sources="good news",
            prices={"*": Price(1.0, 1.0)},
        )
        for ask in (explainer.explain, lambda q: asyncio.run(explainer.aexplain(q))):
            before, before_judging = application.tokens, server.tokens
            explanation = ask("why?")
            assert [rule.sources for rule in explanation.retention_rules] == [("b", "d")]
            spent = explanation.spent
            paid = application.tokens.prompt - before.prompt, server.tokens.prompt - before_judging.prompt
            assert (spent.replays["input_tokens"], spent.judge["input_tokens"]) == paid
            assert spent.judge_cost


@pytest.mark.waits
def test_semantic_equality() -> None:
    with OpenAIServer(judging(lambda answer: "28" in answer)) as server, llm_at(server.base_url) as llm:
        explainer = Explainer(
            lambda _q, sources: (
                f"It took 28 days, say {len(sources)}." if len(sources) > 2 else "No idea."
            ),
            predicate=same_answer(judge=llm),
            rules="retention",
        )
        explanation = explainer.explain("How long?", SOURCES[:4])
    assert len(explanation.retention_rules) == 4
    assert {json.loads(b["messages"][-1]["content"])["truth"] for b in server.requests} == {
        "It took 28 days, say 4."
    }


def test_the_same_llm_is_the_same_judge() -> None:
    llm = OfflineLLM()
    assert judge_of(llm) == judge_of(llm)
    assert hash(judge_of(llm)) == hash(judge_of(llm))
    assert judge_of(llm) != judge_of(llm, "another")
    assert judged("is good", llm) == judged("is good", llm)


def test_what_is_no_llm() -> None:
    with pytest.raises(InvalidInput, match="give a LlamaIndex LLM"):
        judge_of(lambda _: "yes")  # type: ignore[arg-type] -- a mistake, on purpose


def test_a_name_tells_what_decides_and_nothing_secret() -> None:
    def name(**settings: Any) -> str | None:
        given: dict[str, Any] = {"model": "gpt-4o", "api_key": "sk-secret", **settings}
        return judge_of(OpenAI(**given)).judge_name

    assert name() == "gpt-4o at api.openai.com, temperature 0.1"
    assert name(temperature=0.7) == "gpt-4o at api.openai.com, temperature 0.7"
    # What is given beside the fields is what is sent.
    more = {"seed": 7, "temperature": 0.5}
    assert name(additional_kwargs=more) == "gpt-4o at api.openai.com, temperature 0.5, seed 7"
    base = "https://sk-user:sk-word@host.example:8443/sk-path/v1?key=sk-2"
    assert name(api_base=base) == "gpt-4o at host.example:8443, temperature 0.1"
    assert judge_of(OpenAI(model="gpt-4o", api_key="sk-secret"), "mine").judge_name == "mine"
