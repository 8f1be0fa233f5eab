"""Batches through the front door: one baseline, one budget, and rules that say what they rest on."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from rag_rule_explainer import (
    Explainer,
    Explanation,
    InvalidInput,
    Limits,
    Noise,
    Partition,
    Settings,
    Source,
    Store,
    TooManySources,
    Update,
    contains,
)
from rag_rule_explainer.mining.partition import Others
from rag_rule_explainer.report import as_text
from rag_rule_explainer.testing import ScriptedReplay


def sources(count: int) -> list[Source]:
    return [
        Source(f"D{place}", f"text {place}", {"document": f"of {(place - 1) // 5}"})
        for place in range(1, count + 1)
    ]


def pair(*ids: str) -> ScriptedReplay:
    return ScriptedReplay(lambda shown: "postponed" if {*ids} <= shown else "on time")


def partitioned(replay: ScriptedReplay, **fields: object) -> Explainer:
    asked = {"predicate": contains("postponed"), "partition": 10, **fields}
    return Explainer(replay, **asked)  # pyright: ignore[reportArgumentType] -- of several types


def test_both_kinds_over_fifty_sources() -> None:
    replay = pair("D8", "D4")
    explanation = partitioned(replay).explain("?", sources(50))
    assert [rule.sources for rule in explanation.retention_rules] == [("D4", "D8")]
    assert [rule.sources for rule in explanation.omission_rules] == [("D4",), ("D8",)]
    for rule in explanation.rules:
        assert (rule.claim, rule.minimal, rule.with_others) == ("relative", True, False)
        assert rule.kept == tuple(f"D{place}" for place in range(1, 11))
    # Ten sources take 258 and 769 probes, with others left out and with others retained; each other batch
    # says no at once, for either kind. No subset is among both: one has at most ten sources. The baseline
    # shows all sources, which no batch does.
    assert explanation.counts.probes == 258 + 769 + 4 + 4 + 1
    assert len(set(replay.calls)) == explanation.counts.probes
    assert (explanation.complete, explanation.importance) == (True, ())
    report = as_text(explanation)
    assert "relative to the 10 sources D1, …, D10: held on all 256 subsets" in report
    assert "complete: no other rule within a batch was found; those over several are not looked" in report
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("others", ["omitted", "retained"])
def test_held_in_or_out_a_rule_says_what_is_true(others: Others) -> None:
    """Over two batches: what either lacks is seen where the other is held in."""
    replay = pair("D3", "D14")
    explanation = partitioned(replay, partition=Partition(10, others)).explain("?", sources(20))
    said = {str(rule.rule) for rule in explanation.rules}
    postponed, on_time = "the answer contains 'postponed'", "the answer does not contain 'postponed'"
    if others == "retained":
        assert said == {
            f"whenever D3 and all sources of other batches are retained, {postponed}",
            f"whenever D14 and all sources of other batches are retained, {postponed}",
            f"whenever D3 is omitted, {on_time}",
            f"whenever D14 is omitted, {on_time}",
        }
    else:
        assert said == {f"whenever all sources of other batches are omitted, {on_time}"}
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation


def test_batches_are_as_even_as_can_be_or_go_by_a_key() -> None:
    def kept(by: int | str) -> list[int]:
        always = ScriptedReplay(lambda _: "on time")
        settings = Settings(rules="omission", partition=by, minimal=False)
        probed = Explainer(always, predicate=contains("?"), settings=settings).explain("?", sources(17))
        return [len(rule.kept) for rule in probed.rules if len(rule.sources) == 1]

    assert sorted(kept(7), reverse=True) == [6] * 12 + [5] * 5
    assert sorted(kept("document"), reverse=True) == [5] * 15 + [2] * 2


def test_one_batch_of_all_is_exact() -> None:
    explanation = partitioned(pair("D1", "D3")).explain("?", sources(9))
    assert explanation.miner.name == "exact"
    assert all(rule.proved for rule in explanation.rules)


@pytest.mark.parametrize("replays", range(1, 300, 23))
def test_stopped_anywhere_what_is_said_is_true(replays: int) -> None:
    explainer = partitioned(pair("D8", "D4"), limits=Limits(replays=replays), concurrency=3)
    explanation = explainer.explain("?", sources(30))
    assert not explanation.complete
    assert explanation.counts.replays <= replays
    for rule in explanation.retention_rules:
        assert {"D8", "D4"} <= set(rule.sources)
        assert rule.claim == "relative"
    for rule in explanation.omission_rules:
        assert {"D8", "D4"} & set(rule.sources)
        assert set(rule.sources) <= {f"D{place}" for place in range(1, 11)}


def test_from_the_store_nothing_is_paid_twice(tmp_path: Path) -> None:
    settings = Settings(
        store=Store(f"sqlite:///{tmp_path}/answers", "partitioned"), limits=Limits(replays=100)
    )
    replay = pair("D8", "D4")
    partitioned(replay, settings=settings).explain("?", sources(20))
    paid = len(set(replay.calls))
    whole = partitioned(replay, settings=settings, limits=Limits()).explain("?", sources(20))
    assert whole.complete
    assert whole.counts.stored >= paid - 1
    assert len(replay.calls) <= whole.counts.probes + 2


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("others", ["omitted", "retained"])
@pytest.mark.parametrize("kind", ["retention", "omission"])
def test_under_votes_each_rule_is_put_to_them(kind: str, others: Others) -> None:
    explainer = partitioned(
        pair("D8", "D4"), partition=Partition(10, others), noise=Noise(samples=5), rules=kind
    )
    explanation = explainer.explain("?", sources(20))
    assert explanation.rules
    for rule in explanation.rules:
        assert rule.claim == "relative"
        assert "majority of 5 at the border" in rule.evidence


def test_each_rule_is_told_once_it_is_minimal() -> None:
    explainer = partitioned(pair("D8", "D4"), rules="retention")
    *updates, explanation = explainer.stream("?", sources(30))
    told = [update for update in updates if isinstance(update, Update)]
    assert isinstance(explanation, Explanation)
    assert [update.finding.sources for update in told] == [("D4", "D8")]
    assert not any(update.withdrawn for update in told)


def test_what_it_would_take_is_estimated_by_looking_on() -> None:
    explainer = partitioned(pair("D1", "D10"), rules="retention")
    estimate = explainer.estimate("?", sources(50))
    assert estimate.best.replays < 600
    assert explainer.explain("?", sources(50)).counts.replays == estimate.typical.replays
    assert estimate.worst.replays == 5 * 1023 + 1 + 2
    assert "each batch is mined by itself" in str(estimate)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"partition": 0}, "a number of sources from 1 to 20"),
        ({"partition": 5, "miner": "sampled"}, "partition mines each batch exactly"),
        ({"partition": 5, "granularity": ("document",)}, "partition mines each batch exactly"),
        ({"partition": 5, "noise": Noise(min_confidence=0.9)}, "min_confidence"),
    ],
)
def test_what_it_cannot_do_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Settings(**wrong)  # pyright: ignore[reportArgumentType] -- on purpose


def test_a_key_that_nobody_has_and_a_batch_of_too_many() -> None:
    with pytest.raises(InvalidInput, match="partition names 'chapter', which no source has"):
        partitioned(pair("D1"), partition="chapter").explain("?", sources(3))
    many = [Source(f"D{place}", "text", {"document": "one"}) for place in range(21)]
    with pytest.raises(TooManySources, match="a batch by document has 21 sources"):
        partitioned(pair("D1"), partition="document").explain("?", many)


def test_a_saved_rule_that_goes_with_others_is_held_against_what_it_says() -> None:
    explainer = partitioned(pair("D3", "D14"), partition=Partition(10, "retained"), rules="retention")
    explanation = explainer.explain("?", sources(20))
    rule = explanation.retention_rules[0]
    assert (rule.with_others, rule.observed, rule.broken, rule.applicable) == (True, 512, 0, 512)
    saved = explanation.model_dump(mode="json")
    saved["retention_rules"][0]["with_others"] = False
    with pytest.raises(ValidationError, match="a rule counts other subsets than there are"):
        Explanation.model_validate(saved)
    saved["retention_rules"][0].update(with_others=True, kept=[])
    with pytest.raises(ValidationError, match="does not say other than which"):
        Explanation.model_validate(saved)
