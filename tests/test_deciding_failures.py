"""A hundred applications whose replays fail and whose judges are unsure: nothing undecided passes or
fails. Held against all that the missing verdicts could be."""

import random
from collections.abc import Mapping
from itertools import combinations, product

import pytest

from rag_rule_explainer import Explainer, Explanation, Limits, Noise, RuleKind, Source, contains, judged
from rag_rule_explainer.errors import RagRuleError, Undecided
from rag_rule_explainer.predicates.judge import Matter
from rag_rule_explainer.pytest_plugin import assert_no_rule, assert_rule
from rag_rule_explainer.testing import OfflineJudge
from rag_rule_explainer.testing.judges import Decide
from tests.drawing import drawn, examples

NAMES = "abcd"
SUBSETS = [frozenset(kept) for size in range(5) for kept in combinations(NAMES, size)]
Truth = Mapping[frozenset[str], bool | None]


def truth_of(draw: random.Random) -> Truth:
    """None where there never is a verdict: the replay fails, or the judge is unsure."""
    share = draw.choice((0.3, 0.6, 0.9))
    wanted = [frozenset(draw.sample(NAMES, draw.randint(1, 3))) for _ in range(draw.randint(1, 3))]
    monotone = draw.random() < 0.5
    return {
        kept: None
        if draw.random() < 0.15 and len(kept) < 4
        else any(each <= kept for each in wanted)
        if monotone
        else draw.random() < share
        for kept in SUBSETS
    }


class Unsure(OfflineJudge):
    """Has no opinion on what is unclear."""

    def verdict_on(self, matter: Matter) -> Decide:
        return lambda answer: "unsure" if answer == "unclear" else answer == "yes, pay"


def explained(truth: Truth, draw: random.Random) -> Explanation:
    def replay(_question: str, sources: list[Source]) -> str:
        holds = truth[frozenset(source.id for source in sources)]
        if holds is None and len(sources) % 2:
            raise ConnectionError("the model is away")
        return "unclear" if holds is None else "yes, pay" if holds else "no"

    explainer = Explainer(
        replay,  # type: ignore[arg-type] -- values of all kinds
        predicate=judged("it says to pay", Unsure()),
        miner=draw.choice(("exact", "exhaustive", "sampled", "grouped")),
        limits=Limits(draw.choice((None, None, 6, 12))),
        retries=0,
        check_repeatable=False,
    )
    return explainer.explain("?", [Source(name, f"text of {name}") for name in NAMES])


def is_valid(truth: Truth, kind: RuleKind, named: frozenset[str]) -> bool:
    retained = kind is RuleKind.RETENTION
    about = [kept for kept in SUBSETS if (named <= kept if retained else not named & kept)]
    return all(truth[kept] is retained for kept in about)


def completions(truth: Truth) -> list[Truth]:
    missing = [kept for kept, holds in truth.items() if holds is None][:6]
    return [
        {**truth, **dict(zip(missing, filled, strict=True))}
        for filled in product((True, False), repeat=len(missing))
    ]


def outcome(check: object, *given: object, **more: object) -> bool | None:
    try:
        check(*given, **more)  # type: ignore[operator] -- values of all kinds
    except AssertionError:
        return False
    except Undecided:
        return None
    return True


@drawn
def test_what_passes_or_fails_does_so_whatever_is_missing() -> None:
    undecided = passed = failed = 0
    for seed in range(examples(100)):
        draw = random.Random(seed)
        truth = truth_of(draw)
        try:
            explanation = explained(truth, draw)
        except RagRuleError:
            continue
        worlds = completions(truth)
        for kind in RuleKind:
            for size in range(1, 4):
                for named in map(frozenset, combinations(NAMES, size)):
                    side = {"retains" if kind is RuleKind.RETENTION else "omits": named}
                    said = outcome(assert_rule, explanation, **side)
                    could_be = {is_valid(world, kind, named) for world in worlds}
                    assert said is None or could_be == {said}, (seed, kind, named, said)
                    said = outcome(assert_no_rule, explanation, within=named, kind=kind)
                    assert said is None or could_be == {not said}, (seed, kind, named, said)
                    undecided += said is None
                    passed += said is True
                    failed += said is False
    assert min(undecided, passed, failed) > 0


@pytest.mark.parametrize("failures", [range(9), range(1, 9)], ids=["every sample", "all but one"])
@pytest.mark.parametrize("vote", ["every", "border", "sequential"])
def test_a_subset_whose_samples_fail_is_open_under_votes(vote: str, failures: range) -> None:
    asked = dict.fromkeys(range(9), 0)

    def replay(_question: str, sources: list[Source]) -> str:
        kept = {source.id for source in sources}
        if kept == {"memo"}:
            asked[0] += 1
            if asked[0] - 1 in failures:
                raise ConnectionError("the model is away")
        return "HASH" if kept >= {"mail", "wiki"} else "fine"

    noise = Noise(samples=9, vote=vote)  # type: ignore[arg-type] -- values of all kinds
    # Values of all kinds.
    explainer = Explainer(replay, predicate=contains("HASH"), noise=noise, retries=0)  # type: ignore[arg-type]
    explanation = explainer.explain(
        "?", [Source(name, f"text of {name}") for name in ("memo", "mail", "wiki")]
    )
    open_probes = [each for each in explanation.probes if each.kept == ("memo",)]
    assert all(votes.holds + votes.breaks > 0 for each in open_probes for votes in each.votes.values())
    assert outcome(assert_rule, explanation, omits={"mail", "wiki"}) is None
    assert outcome(assert_no_rule, explanation, within={"memo"}, kind="retention") is not False
    assert outcome(assert_rule, explanation, retains={"memo"}) is not True
    read = Explanation.model_validate_json(explanation.model_dump_json())
    assert outcome(assert_rule, read, omits={"mail", "wiki"}) is None
