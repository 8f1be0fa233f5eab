"""Divide and conquer through the front door: what it costs, and that it reads as no more than it is."""

import pytest

from rag_rule_explainer import (
    Assumptions,
    Explainer,
    Explanation,
    InvalidInput,
    Limits,
    Noise,
    Settings,
    Source,
    contains,
    diff,
)
from rag_rule_explainer.explanation.origin import MinerRecord
from rag_rule_explainer.report import as_text
from rag_rule_explainer.testing import ScriptedReplay
from tests.noisy import PAIR, THREE, Truth, study


def sources(count: int) -> list[Source]:
    return [Source(f"D{place}", f"text {place}") for place in range(1, count + 1)]


def pair(*ids: str) -> ScriptedReplay:
    return ScriptedReplay(lambda shown: "postponed" if {*ids} <= shown else "on time")


def test_the_papers_fifty_sources() -> None:
    replay = pair("D8", "D44")
    explainer = Explainer(replay, predicate=contains("postponed"), rules="retention", miner="grouped")
    explanation = explainer.explain("?", sources(50), baseline="postponed")
    (rule,) = explanation.retention_rules
    assert rule.sources == ("D8", "D44")
    assert (rule.claim, rule.minimal, rule.applicable) == ("relative", True, 2**48)
    assert set(rule.kept) >= {"D8", "D44"}
    # The baseline is made once more for the repeat check, whose answer is that of the first probe.
    assert explanation.counts.probes <= 27
    assert len(replay.calls) <= 33
    assert explanation.ended
    assert not explanation.complete  # the other groups were dropped
    # What was dropped may change anything.
    assert not explanation.importance
    assert not explanation.counterfactuals


def test_both_kinds_and_what_the_report_says_of_them() -> None:
    explainer = Explainer(pair("D8", "D44"), predicate=contains("postponed"), miner="grouped")
    explanation = explainer.explain("?", sources(50))
    assert {rule.sources for rule in explanation.omission_rules} == {("D8",), ("D44",)}
    report = as_text(explanation)
    kept = ", ".join(explanation.retention_rules[0].kept[:-1])
    assert f"relative to {kept} and " in report
    assert "dropped sources left out, and by itself with them retained" in report
    assert "dropped sources retained, and by itself with them left out" in report
    assert "complete: no other rule of the sources that were looked at closely was found" in report
    assert "there may be rules that name others" in report
    assert "all the rules there are" not in report
    assert not any(rule.proved or rule.relation == "relative" for rule in explanation.rules)
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def test_of_one_condition_it_does_not_deny_the_rules_of_the_other_kind() -> None:
    condition = contains("postponed")
    explainer = Explainer(
        pair("D8", "D44"), predicate=condition, omission_predicate=condition, miner="grouped"
    )
    (rule,) = explainer.explain("?", sources(50)).rules
    assert (rule.sources, rule.relation) == (("D8", "D44"), None)


def test_another_seed_draws_other_subsets_of_many_groups() -> None:
    twelve = [f"D{place}" for place in range(1, 25, 2)]

    def asked(seed: int) -> list[frozenset[str]]:
        replay = pair(*twelve)
        Explainer(
            replay,
            predicate=contains("postponed"),
            rules="retention",
            miner="grouped",
            seed=seed,
            concurrency=1,
        ).explain("?", sources(24))
        return replay.calls

    assert asked(0) == asked(0) != asked(1)


def test_what_it_does_not_report_is_not_denied() -> None:
    """Where either half of the sources has a rule of its own, what names both is never looked at."""
    replay = ScriptedReplay(lambda shown: "yes" if {"D1", "D8"} <= shown or "D2" in shown else "no")
    asked = Settings(rules="retention")
    exact, grouped = (
        Explainer(replay, predicate=contains("yes"), settings=asked, miner=miner).explain("?", sources(8))
        for miner in ("exact", "grouped")
    )
    assert {rule.sources for rule in exact.retention_rules} == {("D2",), ("D1", "D8")}
    assert {rule.sources for rule in grouped.retention_rules} == {("D2",)}
    assert {change.what for change in diff(exact, grouped).changes} == {"perhaps lost"}


def test_few_sources_none_of_which_is_dropped_are_proved() -> None:
    explainer = Explainer(pair("D1", "D3"), predicate=contains("postponed"), miner="grouped")
    explanation = explainer.explain("?", sources(3))
    assert [rule.claim for rule in explanation.retention_rules] == ["proved"]


@pytest.mark.parametrize("replays", range(1, 40, 3))
def test_stopped_anywhere_what_is_said_is_unverified_or_true(replays: int) -> None:
    explainer = Explainer(
        pair("D8", "D44"),
        predicate=contains("postponed"),
        rules="retention",
        miner="grouped",
        limits=Limits(replays=replays),
        concurrency=3,
    )
    explanation = explainer.explain("?", sources(50))
    for rule in explanation.retention_rules:
        assert {"D8", "D44"} <= set(rule.sources)
        if not explanation.ended:
            assert rule.claim == "relative" or "UNVERIFIED" in str(rule)
    if explanation.ended:
        return
    assert "not complete" in as_text(explanation)
    assert str(replays) in explanation.stop_reason


def test_the_later_it_is_stopped_the_smaller_is_what_a_rule_is_known_to_be_in() -> None:
    rules = ({"D2", "D7"}, {"D15"})
    replay = ScriptedReplay(lambda shown: "yes" if any(rule <= shown for rule in rules) else "no")
    smallest = [20, 20]
    for replays in range(3, 130, 12):
        explainer = Explainer(
            replay,
            predicate=contains("yes"),
            rules="retention",
            miner="grouped",
            limits=Limits(replays=replays),
            concurrency=1,
        )
        explanation = explainer.explain("?", sources(20), baseline="yes")
        assert "of 1 groups" not in str(explanation)
        found = [set(rule.sources) for rule in explanation.rules]
        for place, rule in enumerate(rules):
            size = min(len(each) for each in found if rule <= each)
            assert size <= smallest[place], (replays, explanation)
            smallest[place] = size
    assert smallest == [2, 1]


@pytest.mark.spread(slow=3)
@pytest.mark.parametrize(
    ("truth", "wrong", "calls"),
    [(PAIR.among(30), 0.02, 220), (PAIR.among(30), 0.05, 240), (THREE, 0.02, 1200)],
    ids=lambda each: getattr(each, "name", None),
)
@pytest.mark.slow
def test_under_votes_the_rules_are_found(truth: Truth, wrong: float, calls: float) -> None:
    outcome = study(truth, wrong, Settings(miner="grouped", noise=Noise(samples=9)), runs=60)
    assert outcome.exact >= 0.95, outcome
    assert outcome.calls <= calls, outcome


def test_under_votes_it_has_a_cap_and_says_what_it_rests_on() -> None:
    explainer = Explainer(
        pair("D8", "D44"), predicate=contains("postponed"), miner="grouped", noise=Noise(samples=5)
    )
    explanation = explainer.explain("?", sources(20), baseline="on time")
    assert "capped at 2000 replays" in explanation.miner.reason
    explanation = Explainer(
        pair("D3", "D14"),
        predicate=contains("postponed"),
        rules="retention",
        miner="grouped",
        noise=Noise(samples=5),
    ).explain("?", sources(20))
    (rule,) = explanation.retention_rules
    assert rule.sources == ("D3", "D14")
    assert "relative to " in rule.evidence
    assert "majority of 5 at the border" in rule.evidence
    assert "no other rule of the sources that were looked at closely won the vote" in as_text(explanation)


def test_what_it_costs_is_estimated_by_looking_on() -> None:
    explainer = Explainer(miner="grouped", rules="retention", predicate=contains("postponed"))
    estimate = explainer.estimate("?", sources(50), assuming=Assumptions(answer_tokens=10))
    assert estimate.best.replays < estimate.typical.replays < estimate.worst.replays
    replay = pair("D13", "D38")
    real = Explainer(replay, miner="grouped", rules="retention", predicate=contains("postponed"))
    assert real.explain("?", sources(50)).counts.replays == estimate.typical.replays
    assert "only groups that rules name are divided" in str(estimate)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"minimal": False}, "minimal=False"), ({"noise": Noise(min_confidence=0.9)}, "min_confidence")],
)
def test_what_it_cannot_do_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        Settings(miner="grouped", **wrong)  # pyright: ignore[reportArgumentType] -- on purpose
    assert "grouped" in str(refused.value)


def chunks(documents: int, each: int) -> list[Source]:
    """Of so many documents, two to a domain."""
    return [
        Source(f"{place}.{chunk}", "text", {"document": place, "domain": f"site {place // 2}"})
        for place in range(documents)
        for chunk in range(each)
    ]


def test_only_the_documents_that_rules_name_are_divided() -> None:
    replay = pair("3.1", "6.0")
    explainer = Explainer(
        replay, predicate=contains("postponed"), rules="retention", granularity=("domain", "document")
    )
    explanation = explainer.explain("?", chunks(8, 5))
    (rule,) = explanation.retention_rules
    assert rule.sources == ("3.1", "6.0")
    assert {kept.split(".")[0] for kept in rule.kept} == {"3", "6"}
    assert explanation.counts.probes <= 27
    assert explanation.miner.name == "grouped"
    assert explanation.miner.reason.endswith("groups: 4 by domain, 8 by document")
    # Whole documents until it is known which ones matter.
    first = [set(ids) for ids in replay.calls[:8]]
    assert all(len({each.split(".")[0] for each in ids}) * 5 == len(ids) for ids in first)


def test_a_source_without_the_key_is_a_group_of_its_own_and_a_pinned_one_is_in_none() -> None:
    sources = [*chunks(2, 3), Source("lone", "text"), Source("system", "text", {"document": 0})]
    explainer = Explainer(pair("lone"), predicate=contains("postponed"), granularity="document")
    explanation = explainer.explain("?", sources, pinned=["system"])
    assert {rule.sources for rule in explanation.rules} == {("lone",)}
    assert explanation.miner.reason.endswith("groups: 3 by document")


def test_a_document_is_known_by_its_value_whatever_that_is() -> None:
    sources = [Source(f"{n}", "text", {"document": value}) for n, value in enumerate(([1], [1], 1, "1"))]
    explanation = Explainer(pair("0"), granularity="document").explain("?", sources)
    assert explanation.miner.reason.endswith("groups: 3 by document")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"granularity": ("document", 1)}, "keys of the sources' metadata"),
        ({"granularity": ("",)}, "keys of the sources' metadata"),
        ({"granularity": "document", "miner": "exact"}, "miner='grouped'"),
        ({"granularity": "document", "minimal": False}, "grouped"),
    ],
)
def test_a_granularity_that_cannot_be_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Settings(**wrong)  # pyright: ignore[reportArgumentType] -- on purpose


def test_a_key_that_no_source_has_is_refused_with_those_there_are() -> None:
    explainer = Explainer(pair("0.1"), granularity="documnt")
    with pytest.raises(InvalidInput, match=r"'documnt'.*'document', 'domain'"):
        explainer.explain("?", chunks(2, 2))


def test_whatever_the_miner_is_said_to_be_relative_rules_are_not_all_there_are() -> None:
    explainer = Explainer(pair("D8", "D44"), predicate=contains("postponed"), miner="grouped")
    explanation = explainer.explain("?", sources(50))
    renamed = explanation.model_copy(update={"miner": MinerRecord("exact", "of another's making")})
    assert "there may be rules that name others" in as_text(renamed)
