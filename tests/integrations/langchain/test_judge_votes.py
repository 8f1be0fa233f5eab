"""Votes that a real ChatOpenAI decides, over HTTP: what they cost, and what never becomes a vote."""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from rag_rule_explainer import (
    Explainer,
    Explanation,
    Limits,
    Noise,
    Retries,
    Source,
    Store,
    Verdict,
    judged,
)
from rag_rule_explainer.probing.vote_rules import Count
from rag_rule_explainer.storing.opened import close_all
from tests.integrations.langchain.test_judge import candidates, is_good, spoilt
from tests.integrations.langchain.test_wire import chat_model
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 5)]
Vote = Literal["border", "every", "sequential"]


class Wordy:
    """Good news with D1 and D3, now and then not; never worded twice alike."""

    def __init__(self, noise: float) -> None:
        self.noise = noise
        self.asked = Counter[str]()
        self._draw = random.Random(4)

    async def __call__(self, _question: str, sources: Sequence[Source]) -> str:
        kept = "".join(source.id for source in sources)
        self.asked[kept] += 1
        good = {"D1", "D3"} <= {source.id for source in sources}
        word = "good" if good != (self._draw.random() < self.noise) else "bad"
        return f"{word} news of {kept}, telling {self.asked[kept]}"


def explained(replay: Wordy, predicate: Any, noise: Noise, **settings: Any) -> Explanation:
    given: dict[str, Any] = {"miner": "exact", "rules": "retention", "concurrency": 1, **settings}
    explainer = Explainer(replay, predicate=predicate, noise=noise, retries=Retries(0), **given)
    return explainer.explain("What news?", SOURCES, "good news")


def rules(explanation: Explanation) -> list[tuple[str, ...]]:
    return [rule.sources for rule in explanation.retention_rules]


def blocks(count: Count, answers: Sequence[str]) -> int:
    """How many blocks a vote with these samples has."""
    drawn = number = 0
    while True:
        holds = sum(map(is_good, answers[:drawn]))
        if count.outcome(holds, drawn - holds) is not None:
            return number
        drawn += count.soonest(holds, drawn - holds)
        number += 1


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize(
    ("vote", "samples"), [("border", 10), ("every", 5), ("sequential", 10), ("every", 10)]
)
def test_a_block_of_samples_is_one_request(vote: Vote, samples: int) -> None:
    noise = Noise(samples=samples, vote=vote, margin=0.4)
    with OpenAIServer(judging(is_good)) as server, chat_model(server.base_url) as model:
        replay = Wordy(0.1)
        explanation = explained(replay, judged("brings good news", model, batch=20), noise)
    # What was judged among others is not proved, nor voted.
    assert [rule.claim for rule in explanation.retention_rules] == ["unverified"]
    assert rules(explanation) == [("D1", "D3")]
    requests = defaultdict[str, list[list[str]]](list)
    for body in server.requests[1:]:  # the first one is about the baseline
        shown = [each["answer"] for each in candidates(body)]
        (kept,) = {answer.partition(" of ")[2].partition(",")[0] for answer in shown}
        requests[kept].append(shown)
    for probe in explanation.probes:
        about = requests["".join(probe.kept)]
        if not probe.votes:
            assert [len(shown) for shown in about] == [1]
            continue
        answers = [answer.text for answer in probe.answers]
        # One was judged before there was a vote: at the border, and of all sources for the log's sake.
        before = vote != "every" or len(probe.kept) == len(SOURCES)
        assert len(about) <= blocks(noise.count, answers) + before
        assert sorted(text for shown in about for text in shown) == sorted(answers)
        verdicts = [Verdict.of(is_good(text)) for text in answers]
        seen = [Counter(verdicts[:n]) for n in range(len(verdicts) + 1)]
        outcomes = [noise.count.outcome(s[Verdict.HOLDS], s[Verdict.BREAKS]) for s in seen]
        (told,) = probe.verdicts.values()
        # Decided by the last of them, and by none before.
        assert [outcome for outcome in outcomes if outcome] == [told.verdict]
    assert explanation.counts.judge_requests == len(server.requests)


@pytest.mark.parametrize(
    ("samples", "batch", "drawn", "requests"),
    [
        (5, 20, (3, 3), (1, 1)),
        pytest.param(10, 20, (5, 6), (1, 2), marks=pytest.mark.slow),
        (5, 1, (3, 3), (3, 3)),
        pytest.param(10, 1, (5, 6), (5, 6), marks=pytest.mark.slow),
    ],
)
def test_who_agree_cost_one_request_a_block_or_an_answer(
    samples: int, batch: int, drawn: tuple[int, int], requests: tuple[int, int]
) -> None:
    with OpenAIServer(judging(is_good)) as server, chat_model(server.base_url) as model:
        replay = Wordy(0)
        noise = Noise(samples=samples, vote="every")
        predicate = judged("brings good news", model, batch=batch)
        explanation = explained(replay, predicate, noise, miner="exhaustive")
    good, bad = 4, 12
    assert sorted(replay.asked.values()) == sorted([drawn[0]] * good + [drawn[1]] * bad)
    # The logged answer is judged beforehand, and so is what is said now on all sources: that is one of a
    # block, which is a request less where each of a block is one.
    assert len(server.requests) == 1 + (batch > 1) + requests[0] * good + requests[1] * bad
    assert explanation.counts.replays == drawn[0] * good + drawn[1] * bad


@pytest.mark.slow
@pytest.mark.parametrize(
    ("vote", "concurrency"),
    [
        ("border", 16),
        pytest.param("every", 1, marks=pytest.mark.slow),
        pytest.param("sequential", 16, marks=pytest.mark.slow),
    ],
)
def test_malformed_replies_never_become_votes(vote: Vote, concurrency: int) -> None:
    draw = random.Random(7)

    def now_and_then(body: dict[str, Any]) -> Any:
        is_baseline = candidates(body)[0]["answer"] == "good news"
        spoils = draw.random() < 0.6 and not is_baseline
        return spoilt(body, draw) if spoils else judging(is_good)(body)

    noise = Noise(samples=7, vote=vote)
    with OpenAIServer(now_and_then) as server, chat_model(server.base_url) as model:
        explanation = explained(
            Wordy(0),
            judged("brings good news", model),
            noise,
            miner="exhaustive",
            concurrency=concurrency,
            limits=Limits(failures=None),
        )
    unknown = 0
    for probe in explanation.probes:
        right = Verdict.of({"D1", "D3"} <= set(probe.kept))
        for votes in probe.votes.values():
            against = votes.breaks if right is Verdict.HOLDS else votes.holds
            assert against == 0
            unknown += len(probe.answers) - votes.holds - votes.breaks
        assert {told.verdict for told in probe.verdicts.values()} <= {right, Verdict.UNKNOWN}
    assert unknown > 0


@pytest.mark.parametrize("vote", ["border", pytest.param("every", marks=pytest.mark.slow)])
def test_a_rerun_with_a_store_pays_nothing(tmp_path: Path, vote: Vote) -> None:
    store = Store(str(tmp_path / "answers.db"), "tests")
    noise = Noise(samples=7, vote=vote)
    with OpenAIServer(judging(is_good)) as server, chat_model(server.base_url) as model:
        predicate = judged("brings good news", model)
        first = explained(Wordy(0.1), predicate, noise, store=store)
        paid = len(server.requests)
        replay = Wordy(0.1)
        again = explained(replay, predicate, noise, store=store)
        assert (len(server.requests), sum(replay.asked.values())) == (paid, 0)
        # A criterion of its own: what is stored is judged together, and so are the few samples more.
        another = judged("has good news", model, batch=20)
        other = explained(replay, another, noise, store=store)
    close_all()
    assert rules(again) == rules(first) == rules(other) == [("D1", "D3")]
    assert (again.counts.replays, again.counts.judge_requests) == (0, 0)
    assert 0 < other.counts.judge_requests < first.counts.judge_requests
    assert [probe.votes for probe in again.probes] == [probe.votes for probe in first.probes]


def test_a_cap_within_a_block_ends_it_and_what_is_stored_is_not_paid_again(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "answers.db"), "tests")
    noise = Noise(samples=9, vote="every")
    with OpenAIServer(judging(is_good)) as server, chat_model(server.base_url) as model:
        predicate = judged("brings good news", model)
        cut = explained(Wordy(0), predicate, noise, store=store, limits=Limits(replays=13))
        assert "the limit of 13 replays is reached" in cut.stop_reason
        assert [len(probe.answers) for probe in cut.probes] == [5, 5]
        whole = explained(Wordy(0), predicate, noise, store=store)
    close_all()
    assert rules(whole) == [("D1", "D3")]
    assert (whole.counts.stored, whole.counts.replays) == (13, 5 * whole.counts.probes - 13)
