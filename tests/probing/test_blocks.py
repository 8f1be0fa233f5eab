"""The samples of a vote before a judge: in blocks, with the verdict and the number of one by one."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest

from rag_rule_explainer import Case, JudgeRequest, Limiter, Limits, Noise, Retries, Source, Verdict
from rag_rule_explainer.predicates import (
    Predicate,
    condition,
    consistent_with,
    contains,
    judged,
    same_answer,
)
from rag_rule_explainer.probing.answer_cache import AnswerCache
from rag_rule_explainer.probing.budget import Budget
from rag_rule_explainer.probing.judge_batcher import JudgeBatcher
from rag_rule_explainer.probing.judge_requests import JudgeRequests
from rag_rule_explainer.probing.judging import judgings
from rag_rule_explainer.probing.limits import LimitReached
from rag_rule_explainer.probing.prober import Ballot, Prober
from rag_rule_explainer.probing.replayer import Replayer
from rag_rule_explainer.probing.sampler import Sampler
from rag_rule_explainer.probing.vote_rules import Count, Majority, Sequential
from rag_rule_explainer.probing.voting import Voting
from rag_rule_explainer.sources import Arrangement
from rag_rule_explainer.verdicts import Answer

HOLDS, BREAKS, UNKNOWN = Verdict.HOLDS, Verdict.BREAKS, Verdict.UNKNOWN
WORDS = {HOLDS: "good", BREAKS: "bad", UNKNOWN: "torn"}
HERE = Arrangement((Source("D1", "text"),))


class Scribe:
    """A judge by the first word, who writes down what it is shown."""

    def __init__(self) -> None:
        self.shown: list[list[str]] = []

    async def __call__(self, request: JudgeRequest) -> dict[str, object]:
        self.shown.append([each.answer for each in request.candidates])
        said = {"good": "yes", "bad": "no"}
        return {each.id: said.get(each.answer.split()[0], "unsure") for each in request.candidates}


class Room:
    """A vote on one arrangement, with a batcher of its own. The answers come in the order given."""

    def __init__(self, answers: Sequence[str], predicate: Predicate, noise: Noise, **budget: Any) -> None:
        self.said = iter(answers)
        self.drawn = 0
        limiter, self.budget = Limiter(8), Budget(Limits(**budget))
        self.replayer = Replayer("?", self._answer, limiter, self.budget, Retries(0))
        cache = AnswerCache(self.budget, remember=True)
        self.prober = Prober(Sampler(self.replayer, cache), Answer("the truth"))
        self.requests = JudgeRequests(limiter, self.budget, Retries(0), self.replayer.stopper)
        self.voting = Voting(self.prober, noise)
        (self.judging,) = judgings([predicate])

    async def _answer(self, _question: str, _sources: Sequence[Source]) -> str:
        self.drawn += 1
        return next(self.said)

    async def ballot(self) -> Ballot:
        with JudgeBatcher(self.requests).at_work():
            ballot = (await self.voting.poll(HERE, self.judging)).ballot
        assert ballot is not None
        return ballot


def blocks_of(count: Count, votes: Sequence[Verdict]) -> list[int]:
    """How many samples are drawn in each block: the least number that could decide."""
    sizes: list[int] = []
    while True:
        seen = Counter(votes[: sum(sizes)])
        tally = seen[HOLDS], seen[BREAKS], seen[UNKNOWN]
        if count.outcome(*tally) is not None:
            return sizes
        sizes.append(count.soonest(*tally))


def one_by_one(count: Count, votes: Sequence[Verdict]) -> tuple[Verdict, int]:
    """The outcome, and how many samples it takes who judges each before the next is drawn."""
    for drawn in range(len(votes) + 1):
        seen = Counter(votes[:drawn])
        outcome = count.outcome(seen[HOLDS], seen[BREAKS], seen[UNKNOWN])
        if outcome is not None:
            return outcome, drawn
    raise AssertionError(votes)


async def check(noise: Noise, votes: Sequence[Verdict]) -> None:
    judge = Scribe()
    answers = [f"{WORDS[vote]} {n}" for n, vote in enumerate(votes)]
    room = Room(answers, judged("is good", judge, batch=20), noise)
    ballot = await room.ballot()
    verdict, drawn = one_by_one(noise.count, votes)
    assert (ballot.outcome.verdict, room.drawn) == (verdict, drawn)
    assert (ballot.holds, ballot.breaks) == tuple(map(votes[:drawn].count, (HOLDS, BREAKS)))
    starts = blocks_of(noise.count, votes)
    assert [len(each) for each in judge.shown] == starts
    assert [answer for each in judge.shown for answer in sorted(each, key=answers.index)] == answers[
        :drawn
    ]


@pytest.mark.parametrize("most", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
async def test_every_sequence_of_outcomes_ends_as_one_by_one(most: int) -> None:
    for votes in product((HOLDS, BREAKS, UNKNOWN), repeat=most):
        await check(Noise(samples=most, vote="every"), votes)


async def test_eight_samples_of_each_side_end_as_one_by_one() -> None:
    for votes in product((HOLDS, BREAKS), repeat=8):
        # What comes after the decision makes no difference.
        _, drawn = one_by_one(Majority(8), votes)
        if votes[drawn:] == (HOLDS,) * (8 - drawn):
            await check(Noise(samples=8, vote="every"), votes)


async def test_a_sequential_test_ends_as_one_by_one() -> None:
    noise = Noise(samples=5, vote="sequential", false_holds=0.1, false_breaks=0.05)
    assert isinstance(noise.count, Sequential)
    for votes in product((HOLDS, BREAKS, UNKNOWN), repeat=5):
        _, drawn = one_by_one(noise.count, votes)
        if votes[drawn:] == (HOLDS,) * (5 - drawn):
            await check(noise, votes)


@pytest.mark.parametrize(
    ("samples", "word", "blocks"),
    [(5, "good", [3]), (5, "bad", [3]), (10, "good", [5]), (10, "bad", [5, 1])],
)
async def test_who_agree_are_judged_once(samples: int, word: str, blocks: list[int]) -> None:
    judge = Scribe()
    room = Room(
        [f"{word} {n}" for n in range(9)], judged("is good", judge, batch=20), Noise(samples=samples)
    )
    await room.ballot()
    assert [len(each) for each in judge.shown] == blocks
    assert room.drawn == sum(blocks)


Made = Callable[[Scribe], Predicate]
MADE: dict[str, Made] = {
    "judged": lambda judge: judged("is good", judge, batch=20),
    "a negation": lambda judge: ~judged("is good", judge, batch=20),
    "and": lambda judge: ~contains("never said") & judged("is good", judge, batch=20),
    "or": lambda judge: contains("never said") | judged("is good", judge, batch=20),
    "consistent_with": lambda judge: consistent_with("the truth", judge=judge, batch=20),
    "same_answer": lambda judge: same_answer(judge=judge, batch=20),
    "never remembered": lambda judge: condition(lambda _: True) & judged("is good", judge, batch=20),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
async def test_wherever_the_judge_sits(made: Made) -> None:
    judge = Scribe()
    room = Room(["good 1", "bad 2", "good 3", "good 4", "bad 5"], made(judge), Noise(samples=5))
    ballot = await room.ballot()
    assert (ballot.holds, ballot.breaks, room.drawn) == (3, 1, 4)
    assert [sorted(each) for each in judge.shown] == [["bad 2", "good 1", "good 3"], ["good 4"]]


@pytest.mark.waits
async def test_by_default_each_sample_has_a_request_of_its_own_and_all_of_a_block_go_at_once() -> None:
    """The block's requests meet in the judge: were they made one after the other, none would return."""
    shown: list[list[str]] = []
    all_here = asyncio.Event()

    async def judge(request: JudgeRequest) -> dict[str, bool]:
        shown.append([each.answer for each in request.candidates])
        if len(shown) == 3:
            all_here.set()
        await all_here.wait()
        return {each.id: each.answer.startswith("good") for each in request.candidates}

    answers = ["good 1", "bad 2", "good 3", "good 4", "bad 5"]
    room = Room(answers, judged("is good", judge), Noise(samples=5))
    ballot = await asyncio.wait_for(room.ballot(), 120)
    assert (ballot.holds, ballot.breaks, room.drawn) == (3, 1, 4)
    assert sorted(shown) == [["bad 2"], ["good 1"], ["good 3"], ["good 4"]]
    assert not room.judging.rests_on_batches


async def test_two_judges_are_asked_once_each() -> None:
    first, second = Scribe(), Scribe()
    predicate = judged("is good", first, batch=20) & judged("is kind", second, batch=20)
    room = Room(["good 1", "bad 2", "good 3", "good 4"], predicate, Noise(samples=5))
    await room.ballot()
    assert [len(each) for each in first.shown] == [3, 1]
    # Of what breaks the first it is not asked.
    assert [sorted(each) for each in second.shown] == [["good 1", "good 3"], ["good 4"]]


async def test_several_opinions_are_a_request_each() -> None:
    judge = Scribe()
    predicate = judged("is good", judge, judge_samples=3, batch=20)
    await Room(["good 1", "good 2", "good 3"], predicate, Noise(samples=5)).ballot()
    assert [len(each) for each in judge.shown] == [3, 3]


async def test_identical_answers_are_judged_once() -> None:
    judge = Scribe()
    room = Room(["good", "bad", "good", "good"], judged("is good", judge, batch=20), Noise(samples=5))
    ballot = await room.ballot()
    assert (ballot.holds, ballot.breaks) == (3, 1)
    assert [sorted(each) for each in judge.shown] == [["bad", "good"]]


async def test_without_a_judge_nothing_goes_together() -> None:
    running, peak = 0, 0

    async def is_good(case: Case) -> bool:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        running -= 1
        return case.answer.text.startswith("good")

    room = Room([f"good {n}" for n in range(5)], condition(is_good), Noise(samples=5))
    assert (await room.ballot()).holds == 3
    assert peak == 1


async def test_malformed_opinions_are_no_votes() -> None:
    told: list[int] = []

    async def broken(request: JudgeRequest) -> object:
        told.append(len(request.candidates))
        return {each.id: "yes" for each in request.candidates if each.answer.startswith("good")}

    room = Room(
        ["good 1", "odd", "odd", "odd", "good 2"], judged("is good", broken, batch=20), Noise(samples=5)
    )
    ballot = await room.ballot()
    assert (ballot.holds, ballot.breaks, ballot.outcome.verdict) == (1, 0, UNKNOWN)
    # One more for it would not be enough any more.
    assert "undecided after 4 samples: 1 for it, 0 against" in ballot.outcome.reason
    # Both, then once more what has no opinion yet; and the next block, which has it again.
    assert told == [2, 1, 1, 1]


async def test_a_cap_within_a_block_ends_the_vote() -> None:
    judge = Scribe()
    room = Room(
        [f"bad {n}" for n in range(9)], judged("is good", judge, batch=20), Noise(samples=9), replays=7
    )
    room.budget.samples = 4
    with pytest.raises(LimitReached, match="the limit of 7 replays is reached"):
        await room.ballot()
    assert (room.drawn, judge.shown) == (3, [])


async def test_a_stop_leaves_no_block_without_its_judgement() -> None:
    judge = Scribe()
    room = Room(["good 1", "good 2", "good 3"], judged("is good", judge, batch=20), Noise(samples=5))
    answer = room._answer  # pyright: ignore[reportPrivateUsage] -- nothing public shows it

    async def stopping(question: str, sources: Sequence[Source]) -> str:
        said = await answer(question, sources)
        if room.drawn == 3:
            room.replayer.stopper.stop("interrupted")
        return said

    room.replayer._ask = stopping  # pyright: ignore[reportPrivateUsage] -- nothing public shows it
    assert (await room.ballot()).outcome.verdict is HOLDS
    assert [len(each) for each in judge.shown] == [3]


@pytest.mark.waits
async def test_who_waits_for_another_votes_judgement_does_not_hold_up_the_rest() -> None:
    """One block has an answer that the other one has judged already: its own goes out at once."""
    shown: list[set[str]] = []
    first_asked, second_asked = asyncio.Event(), asyncio.Event()

    async def judge(request: JudgeRequest) -> dict[str, bool]:
        shown.append({each.answer for each in request.candidates})
        if len(shown) == 1:
            first_asked.set()
            await second_asked.wait()
        else:
            second_asked.set()
        return {each.id: True for each in request.candidates}

    room = Room([], judged("is good", judge, batch=20), Noise(samples=5))
    cases = [
        [room.prober.case(HERE, Answer(text)) for text in texts]
        for texts in (("one", "two"), ("two", "three"))
    ]
    with JudgeBatcher(room.requests).at_work():
        first = asyncio.create_task(room.judging.judge_all(cases[0]))
        await first_asked.wait()
        judgements = await asyncio.wait_for(room.judging.judge_all(cases[1]), 60)
    assert {each.verdict for each in [*judgements, *await first]} == {HOLDS}
    assert shown == [{"one", "two"}, {"three"}]


@pytest.mark.parametrize(("most", "at_most"), [(5, 3), (9, 5), (10, 6)])
def test_how_many_blocks_there_are(most: int, at_most: int) -> None:
    """The price of drawing none in vain: a judge may be asked several times, but hardly ever is."""
    count, mean = Majority(most), {0.95: 0.0, 0.05: 0.0}
    worst = 0
    for votes in product((HOLDS, BREAKS), repeat=most):
        number = len(blocks_of(count, votes))
        worst = max(worst, number)
        for share in mean:
            mean[share] += number * share ** votes.count(HOLDS) * (1 - share) ** votes.count(BREAKS)
    assert worst == at_most
    # With an even number, one more than a half has to break.
    assert mean[0.95] < 1.25
    assert mean[0.05] < (2.1 if most == 10 else 1.25)
