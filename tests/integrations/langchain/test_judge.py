"""A real ChatOpenAI as the judge, over HTTP."""

import asyncio
import json
import random
import sys
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from langchain_rag_rule_explainer import OfflineChatModel, RuleExplainer, chat_replay, judge_of
from pydantic import SecretStr

from rag_rule_explainer import (
    Explainer,
    Explanation,
    InvalidInput,
    Price,
    Retries,
    Store,
    Verdict,
    consistent_with,
    contains,
    judged,
)
from rag_rule_explainer.predicates.judge.request import INSTRUCTIONS, shown
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import OfflineJudge
from tests.integrations.known import shown_in
from tests.integrations.langchain.models import facts
from tests.integrations.langchain.test_wire import chain_of, chat_model
from tests.judging import DISTINCT, SOURCES, forty_answers
from tests.predicates.judge.test_request import HOSTILE, injections
from tests.support.completions import Completion
from tests.support.faults import Fault, Faults
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer
from tests.support.prefix_cache import PrefixCache

QUICK = Retries(most=2, first_wait=0.0, longest_wait=0.0)


def is_good(answer: str) -> bool:
    return answer.startswith("good")


def explained(
    predicate: Any, replay: Any = forty_answers, count: int = len(SOURCES), **settings: Any
) -> Explanation:
    given: dict[str, Any] = {"miner": "exhaustive", "rules": "retention", "retries": QUICK, **settings}
    return Explainer(replay, predicate=predicate, **given).explain("What news?", SOURCES[:count])


def candidates(body: dict[str, Any]) -> list[dict[str, Any]]:
    return json.loads(body["messages"][-1]["content"])["candidates"]


def rules(explanation: Explanation) -> list[tuple[str, ...]]:
    return [rule.sources for rule in explanation.retention_rules]


@pytest.mark.waits
def test_hundreds_of_probes_with_forty_answers_cost_forty_judgements_live() -> None:
    with OpenAIServer(judging(is_good)) as server, chat_model(server.base_url) as model:
        explanation = explained(judged("brings good news", model))
    assert explanation.counts.probes == 256
    assert rules(explanation) == [("D1", "D3")]
    assert explanation.retention_rules[0].proved
    assert sum(len(candidates(body)) for body in server.requests) == DISTINCT
    assert len(server.requests) <= DISTINCT
    assert explanation.counts.judge_requests == len(server.requests)
    first = server.requests[0]
    assert first["messages"][0] == {"role": "system", "content": INSTRUCTIONS}
    assert first["response_format"]["type"] == "json_schema"


@pytest.mark.waits
@pytest.mark.parametrize(
    ("batch", "count"), [(6, 7), *(pytest.param(n, 10, marks=pytest.mark.slow) for n in (6, 20))]
)
def test_stored_answers_cost_one_request_a_batch(tmp_path: Path, batch: int, count: int) -> None:
    store = Store(str(tmp_path / "answers.db"), "tests")
    found = explained(contains("good"), count=count, store=store)
    distinct = len({probe.answers[0].text for probe in found.probes})
    assert distinct == DISTINCT or count < len(SOURCES)
    with OpenAIServer(judging(is_good)) as server, chat_model(server.base_url) as model:
        predicate = judged("brings good news", model, batch=batch)
        explanation = explained(predicate, count=count, store=store)
        assert len(server.requests) == ceil(distinct / batch) > 1
        again = explained(predicate, count=count, store=store)
        assert len(server.requests) == ceil(distinct / batch)
    close_all()
    assert rules(again) == rules(explanation) == [("D1", "D3")]
    assert (explanation.counts.replays, again.counts.judge_requests) == (0, 0)


def spoilt(body: dict[str, Any], draw: random.Random) -> str | Completion:
    """Some reply that is not what was asked for, or half of it."""
    good = judging(is_good)(body)
    opinions = json.loads(good)["opinions"]
    turned = json.loads(judging(lambda answer: not is_good(answer))(body))["opinions"]
    return draw.choice(
        [
            "They all look good to me.",
            good[: len(good) // 2],
            f"Sure! {good}",
            json.dumps({"opinions": [*opinions, *turned]}),
            json.dumps({"opinions": [each | {"id": f"x{each['id']}"} for each in turned]}),
            json.dumps({"opinions": [each | {"verdict": "TRUE"} for each in turned]}),
            json.dumps({"opinions": [each | {"verdict": None} for each in opinions]}),
            json.dumps({"opinions": opinions[1:]}),
            json.dumps([]),
            "null",
            Completion(good, fault=Fault.NULL_CONTENT),
            Completion(good, fault=Fault.CUT_OFF),
            Completion(good, fault=Fault.EMPTY_TEXT),
        ]
    )


def test_what_is_said_of_a_chat_models_fresh_answers_is_stored(tmp_path: Path) -> None:
    store, judge = Store(str(tmp_path / "answers.db"), "tests"), OfflineJudge(["1889"])
    sources = ["The tower was built in 1889.", "Soup is hot."]

    def explain() -> Explanation:
        predicate = consistent_with("in the year 1889", judge=judge)
        replay = chat_replay(OfflineChatModel())
        explainer = Explainer(
            replay, predicate=predicate, miner="exhaustive", store=store, check_repeatable=False
        )
        return explainer.explain("When was the tower built?", sources)

    first = explain()
    close_all()
    asked = len(judge.requests)
    again = explain()
    close_all()
    assert asked > 0
    assert len(judge.requests) == asked
    assert (again.counts.replays, again.rules) == (0, first.rules)


@pytest.mark.waits
@pytest.mark.parametrize(
    ("seed", "count"), [(0, 7), *(pytest.param(seed, 8, marks=pytest.mark.slow) for seed in (0, 1, 2))]
)
def test_malformed_replies_never_become_verdicts(tmp_path: Path, seed: int, count: int) -> None:
    draw = random.Random(seed)

    def now_and_then(body: dict[str, Any]) -> Any:
        return spoilt(body, draw) if draw.random() < 0.5 else judging(is_good)(body)

    store = Store(str(tmp_path / "answers.db"), "tests")
    explained(contains("good"), count=count, store=store)
    with OpenAIServer(now_and_then) as server, chat_model(server.base_url) as model:
        explanation = explained(judged("brings good news", model), count=count, store=store)
    close_all()
    seen = [(p.answers[0].text, *p.verdicts.values()) for p in explanation.probes]
    assert len(seen) == 2**count
    for text, judgement in seen:
        right = Verdict.of(is_good(text))
        assert judgement.verdict is right or (
            judgement.verdict is Verdict.UNKNOWN and "judge" in judgement.reason
        )
    assert sum(judgement.verdict is not Verdict.UNKNOWN for _, judgement in seen) > 900 / 1024 * len(seen)


@pytest.mark.waits
def test_always_malformed_ones_leave_no_verdict_at_all() -> None:
    draw = random.Random(0)

    def after_the_first(body: dict[str, Any]) -> Any:
        is_first = candidates(body)[0]["answer"] == forty_answers("", SOURCES)
        return judging(is_good)(body) if is_first else spoilt(body, draw)

    with OpenAIServer(after_the_first) as server, chat_model(server.base_url) as model:
        explanation = explained(judged("brings good news", model))
    assert "the judge all failed" in explanation.stop_reason
    baseline = forty_answers("", SOURCES)
    told = {
        p.answers[0].text
        for p in explanation.probes
        for j in p.verdicts.values()
        if j.verdict is not Verdict.UNKNOWN
    }
    assert told <= {baseline}


@pytest.mark.waits
def test_the_battery_leaves_as_items(real_data: Path, tmp_path: Path) -> None:
    """On the request as it arrives: one item per candidate, intact JSON, nothing outside its item."""
    hostile = [*HOSTILE, *injections(real_data)]
    answers = {f"{n:07b}": each for n, each in enumerate(hostile)}

    def replay(_question: str, sources: Any) -> str:
        kept = {source.id for source in sources}
        return answers.get("".join("01"[s.id in kept] for s in SOURCES[:7]), "good news")

    def explain(predicate: Any) -> Explanation:
        explainer = Explainer(
            replay, predicate=predicate, miner="exhaustive", rules="retention", store=store
        )
        return explainer.explain("What news?", SOURCES[:7])

    store = Store(str(tmp_path / "answers.db"), "tests")
    explain(contains("good"))
    with OpenAIServer(judging(is_good)) as server, chat_model(server.base_url) as model:
        explanation = explain(judged("brings good news", model))
    close_all()
    sent: list[str] = []
    for body in server.requests:
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert body["messages"][0]["content"] == INSTRUCTIONS
        content = body["messages"][1]["content"]
        read = json.loads(content)
        assert [*read] == ["criterion", "question", "candidates"]
        assert (read["criterion"], read["question"]) == ("The answer brings good news", "What news?")
        for item in read["candidates"]:
            assert item.keys() <= {"id", "answer", "left_out"}
            sent.append(item["answer"])
        assert len(content.split("\n")) == 5 + len(read["candidates"])
        rest = content
        for item in read["candidates"]:
            rest = rest.replace(json.dumps(item, ensure_ascii=False), "")
        assert not any(shown(each)[0] in rest for each in hostile if len(each) > 3)
    assert sorted(sent) == sorted({shown(each)[0]: 0 for each in [*hostile, "good news"]})
    assert explanation.complete
    assert not any(
        j.verdict is Verdict.HOLDS
        for p in explanation.probes
        if p.answers[0].text in hostile
        for j in p.verdicts.values()
    )


@pytest.mark.waits
def test_faults_of_the_endpoint_are_tried_again() -> None:
    faults = Faults(0.2, kinds=(Fault.SERVER_ERROR, Fault.RATE_LIMITED, Fault.RESET))
    with (
        OpenAIServer(judging(is_good), faults=faults, retry_after=0) as server,
        chat_model(server.base_url, keep_alive=False) as model,
    ):
        explanation = explained(
            judged("brings good news", model),
            count=7,
            retries=Retries(6, first_wait=0.0, longest_wait=0.0),
        )
    assert server.faults_sent
    assert explanation.complete
    assert rules(explanation) == [("D1", "D3")]


@pytest.mark.waits
def test_the_replays_tokens_and_the_judges_are_told_apart() -> None:
    def answers(body: dict[str, Any]) -> str:
        return "bad news" if {"b", "d"} <= set(shown_in(str(body["messages"]))) else "good news"

    with (
        OpenAIServer(answers, cache=PrefixCache(10_000)) as application,
        OpenAIServer(judging(is_good), cache=PrefixCache(10_000)) as server,
        chat_model(application.base_url, keep_alive=False) as model,
        chat_model(server.base_url) as judge,
    ):
        judge.model_name = "judge"
        prices = {"m": Price(1.0, 1.0), "judge": Price(2.0, 2.0, cached_input=0.0)}
        explainer = RuleExplainer(
            chain_of(model, facts("abcd")), predicate=~judged("brings good news", judge), prices=prices
        )
        for ask in (explainer.explain, lambda q: asyncio.run(explainer.aexplain(q))):
            before, before_judging = application.tokens, server.tokens
            explanation = ask("why?")
            assert rules(explanation) == [("b", "d")]
            spent = explanation.spent
            paid = application.tokens.prompt - before.prompt, server.tokens.prompt - before_judging.prompt
            assert (spent.replays["input_tokens"], spent.judge["input_tokens"]) == paid
            cached = server.tokens.cached - before_judging.cached
            assert spent.judge.get("cached_input_tokens", 0) == cached
            told = server.tokens.completion - before_judging.completion
            assert spent.judge_cost == pytest.approx((paid[1] - cached + told) * 2 / 1e6)


@pytest.mark.waits
def test_a_truth_goes_with_the_request() -> None:
    script: Callable[[dict[str, Any]], str] = judging(lambda answer: "28" in answer)
    with OpenAIServer(script) as server, chat_model(server.base_url) as model:
        predicate = consistent_with("Twenty-eight days", judge=model)
        explanation = explained(
            predicate, lambda _q, s: "It took 28 days." if len(s) == len(SOURCES) else "No idea."
        )
    assert [json.loads(b["messages"][1]["content"])["truth"] for b in server.requests] == [
        "Twenty-eight days"
    ] * 2
    assert rules(explanation) == [tuple(source.id for source in SOURCES)]


@pytest.mark.waits
def test_structured_output_by_a_tool_call() -> None:
    def calls(body: dict[str, Any]) -> Completion:
        name = body["tools"][0]["function"]["name"]
        function = {"name": name, "arguments": judging(is_good)(body)}
        call = {"id": "1", "type": "function", "function": function}
        return Completion(None, "tool_calls", (call,))

    with OpenAIServer(calls) as server, chat_model(server.base_url) as model:
        judge = judge_of(model, method="function_calling")
        assert rules(explained(judged("brings good news", judge), count=7)) == [("D1", "D3")]


def test_a_model_without_structured_output_is_asked_in_words() -> None:
    model = FakeListChatModel(responses=["not JSON"])
    judge = judge_of(model, "mine")
    assert judge.judge_name == "mine"
    with pytest.raises(Exception, match="no well-formed opinion"):
        explained(judged("brings good news", judge))


def test_the_same_model_is_the_same_judge() -> None:
    model = OfflineChatModel()
    assert judge_of(model) == judge_of(model)
    assert hash(judge_of(model)) == hash(judge_of(model))
    assert judge_of(model) != judge_of(model, "another")
    assert judged("is good", model) == judged("is good", model)
    assert judge_of(model).judge_name is None


def test_what_is_no_chat_model() -> None:
    with pytest.raises(InvalidInput, match="give a LangChain chat model"):
        judge_of(lambda _: "yes")  # type: ignore[arg-type] -- a mistake, on purpose


class TestNames:
    """What is stored under a judge's name is that judge's alone."""

    def model(self, **settings: Any) -> ChatOpenAI:
        given: dict[str, Any] = {"model": "gpt-4o", "api_key": SecretStr("sk-secret"), **settings}
        return ChatOpenAI(**given)

    def test_they_tell_what_decides_and_nothing_secret(self) -> None:
        told = {
            "gpt-4o at api.openai.com": self.model(),
            "gpt-4o at api.openai.com, temperature 0, seed 7": self.model(temperature=0.0, seed=7),
            "gpt-4o at host.example:8443, temperature 0.5": self.model(
                temperature=0.5, base_url="https://sk-user:sk-word@host.example:8443/sk-path/v1?key=sk-2"
            ),
            "o3 at api.openai.com, top_k 3, reasoning effort low": self.model(
                model="o3", reasoning_effort="low", model_kwargs={"top_k": 3}
            ),
            "gpt-4o at x.openai.azure.com, deployment d": AzureChatOpenAI(
                model="gpt-4o",
                azure_deployment="d",
                azure_endpoint="https://x.openai.azure.com",
                api_key=SecretStr("sk-secret"),
                api_version="2024-06-01",
            ),
        }
        assert [judge_of(model).judge_name for model in told.values()] == [*told]
        called = judge_of(self.model(), method="function_calling", strict=True)
        assert called.judge_name == "gpt-4o at api.openai.com, method function_calling, strict True"
        assert judge_of(self.model(), "mine").judge_name == "mine"
        named = judged("is good", self.model(temperature=1))
        assert str(named) == "the answer is good (judged by gpt-4o at api.openai.com, temperature 1)"

    @pytest.mark.waits
    def test_another_judge_is_asked_anew(self, tmp_path: Path) -> None:
        store = Store(str(tmp_path / "answers.db"), "tests")
        few = SOURCES[:2]

        def paid(model: ChatOpenAI) -> int:
            explainer = Explainer(forty_answers, predicate=judged("brings news", model), store=store)
            return explainer.explain("What news?", few).counts.judge_requests

        with (
            OpenAIServer(judging(is_good)) as one,
            OpenAIServer(judging(is_good)) as other,
            chat_model(one.base_url) as model,
            chat_model(other.base_url) as elsewhere,
        ):
            warm = model.model_copy(update={"temperature": 1.0})
            seeded = model.model_copy(update={"seed": 7})
            newer = model.model_copy(update={"model_name": "newer"})
            judges = (model, warm, seeded, newer, elsewhere)
            assert all(paid(judge) for judge in judges)
            assert not any(paid(judge) for judge in judges)
        close_all()

    def test_another_prompt_is_another_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        predicate = judged("is good", self.model())
        before = predicate.remembered_as
        assert before == judged("is good", self.model()).remembered_as
        # By its name, as the package has a function of that name.
        room = sys.modules["rag_rule_explainer.predicates.judge.judged"]
        monkeypatch.setattr(room, "INSTRUCTIONS", "Judge.")
        assert before != predicate.remembered_as

    def test_the_price_is_that_of_the_model(self) -> None:
        predicate = judged("is good", self.model(temperature=0))
        explainer = Explainer(predicate=predicate, prices={"gpt-4o": Price(1.0, 1.0)})
        estimate = explainer.estimate("?", ["a source"]).judge
        assert estimate is not None
        assert estimate.cost
