"""One rule that is asked about: what it costs, and what is said of it."""

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import (
    Explainer,
    Explanation,
    InvalidInput,
    Limits,
    Noise,
    RuleKind,
    Sampled,
    Settings,
    Source,
    Store,
    TooManySources,
    Verification,
    diff,
    equals,
)
from rag_rule_explainer.report import as_text
from rag_rule_explainer.session.planning import choose_to_verify
from rag_rule_explainer.sources import SourceSet
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import ScriptedReplay

PAIR = frozenset({"D2", "D4"})


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


def sources(size: int) -> list[Source]:
    return [Source(f"D{n}", f"text {n}") for n in range(1, size + 1)]


def of_the_pair() -> ScriptedReplay:
    return ScriptedReplay(lambda ids: "yes" if ids >= PAIR else "no")


def explainer(replay: ScriptedReplay, **fields: Any) -> Explainer:
    return Explainer(replay, predicate=equals("yes"), **fields)


def test_a_rule_is_proved_on_all_that_it_speaks_about() -> None:
    replay = of_the_pair()
    found = explainer(replay).verify({"D4", "D2"}, "retention", "?", sources(10))
    assert (found.kind, found.sources, found.holds, bool(found)) == (
        RuleKind.RETENTION,
        ("D2", "D4"),
        True,
        True,
    )
    assert str(found) == (
        "held: whenever D2 and D4 are retained, the answer is 'yes' "
        "[proved on all 256 subsets; perhaps not minimal]"
    )
    assert found.witness is None
    counts = found.explanation.counts
    # All sources are among them, and are asked about twice at the outset.
    assert (counts.probes, counts.replays, len(replay.calls)) == (256, 257, 257)


def test_omission_rules_are_verified_alone() -> None:
    found = explainer(of_the_pair(), rules="retention").verify(["D4"], "omission", "?", sources(6))
    assert found.holds
    assert found.finding
    assert found.finding.rule == "whenever D4 is omitted, the answer is not 'yes'"
    assert found.explanation.counts.probes == 32
    assert found.explanation.settings["rules"] == "omission"
    assert list(found.explanation.predicates) == [RuleKind.OMISSION]


def test_it_ends_with_the_first_that_breaks_it() -> None:
    replay = of_the_pair()
    found = explainer(replay).verify({"D2"}, RuleKind.RETENTION, "?", sources(10))
    assert found.holds is False
    assert not found
    assert found.finding is None
    assert found.witness
    assert (found.witness.kept, found.witness.answer) == (("D2",), "no")
    assert (
        str(found)
        == "broken: retaining D2 does not bring it about with D2 retained, where the answer was 'no'"
    )
    assert found.explanation.counts.probes == 1
    assert len(replay.calls) == 3


def test_a_blocker_is_found_before_most_is_asked() -> None:
    def script(ids: frozenset[str]) -> str:
        return "yes" if ids >= PAIR and ("D7" not in ids or "D1" in ids) else "no"

    found = explainer(ScriptedReplay(script), concurrency=1).verify(PAIR, "retention", "?", sources(10))
    assert found.witness
    assert found.witness.sources == ("D2", "D4")
    assert set(found.witness.kept) >= {"D2", "D4", "D7"}
    assert found.explanation.counts.probes <= 17


def test_with_many_sources_the_guarantee_is_stated() -> None:
    replay = of_the_pair()
    found = explainer(replay).verify(PAIR, "retention", "?", sources(60))
    assert found.holds
    assert found.finding
    assert (found.finding.claim, found.finding.draws) == ("tested", 59)
    assert found.finding.evidence == (
        "tested: held on 59 random subsets of 2^58 (half drawn uniformly, half by size); with 95 % "
        "confidence it fails on at most 5 % of such; perhaps not minimal"
    )
    assert found.explanation.counts.probes <= 60
    stated = Sampled(max_violation=0.1, confidence=0.9)
    weaker = explainer(replay, miner=stated).verify(PAIR, "retention", "?", sources(60))
    assert weaker.finding
    assert weaker.finding.draws == 22


def test_sizes_count_pinned_sources_and_a_seed_draws_its_own() -> None:
    def asked(**fields: Any) -> list[frozenset[str]]:
        replay = of_the_pair()
        asking = explainer(replay, concurrency=1, **fields)
        found = asking.verify(PAIR, "retention", "?", sources(40), pinned=["D40"])
        assert found.finding
        assert ("with 5 retained" in found.finding.sampling) == ("miner" in fields)
        return replay.calls

    of_five = asked(miner=Sampled(sizes=(5,)))
    # A third of 59 draws; by size alone it would be one or two.
    assert sum(len(shown) == 5 for shown in of_five) >= 10
    assert asked(seed=1) == asked(seed=1) != asked(seed=2)


def test_what_it_comes_to_at_the_most_is_known_before() -> None:
    among = SourceSet.of(sources(30))
    pair = among.mask_of(PAIR)
    # The rule's own subset, those that are drawn, the baseline and the repeat check.
    assert choose_to_verify(Settings(), among, pair).worst_case(30) == 1 + 59 + 2
    assert choose_to_verify(Settings(), SourceSet.of(sources(6)), 0b10100).worst_case(6) == 2**4 + 2


@pytest.mark.parametrize(
    ("fields", "size", "probes"),
    [
        ({}, 11, 60),
        ({"limits": Limits(replays=600)}, 11, 512),
        ({"limits": Limits(replays=258)}, 10, 256),
        ({"limits": Limits(replays=257)}, 10, 60),
        ({"miner": "exact"}, 11, 512),
        ({"miner": "sampled"}, 7, 32),
        ({"miner": "grouped"}, 10, 256),
        ({"noise": Noise(samples=3)}, 10, 86),
    ],
)
def test_all_subsets_are_tried_where_that_is_wanted_or_cheap(
    fields: dict[str, Any], size: int, probes: int
) -> None:
    found = explainer(of_the_pair(), **fields).verify(PAIR, "retention", "?", sources(size))
    assert found.holds
    assert found.explanation.counts.probes <= probes
    assert found.explanation.miner.name == "verify"
    drawn = "drawn at random" in found.explanation.miner.reason
    assert drawn == (probes in {60, 86})
    if not drawn:
        assert found.explanation.counts.probes == probes


def test_a_limit_leaves_it_undecided_and_the_store_goes_on_from_there(tmp_path: Path) -> None:
    replay, store = of_the_pair(), Store(str(tmp_path / "answers.db"), "tests")
    stopped = explainer(replay, store=store, miner="exact", limits=Limits(replays=20)).verify(
        PAIR, "retention", "?", sources(8)
    )
    assert stopped.holds is None
    assert not stopped
    assert stopped.finding
    assert stopped.finding.claim == "unverified"
    assert "20 replays" in str(stopped)
    assert str(stopped).startswith("undecided: whenever D2 and D4 are retained")
    rest = explainer(replay, store=store).verify(PAIR, "retention", "?", sources(8))
    assert rest.holds
    assert rest.finding
    assert rest.finding.proved
    # 64 subsets, all sources among them, and those once more.
    assert len(replay.calls) == 65


def test_what_has_no_verdict_leaves_it_undecided_and_is_named() -> None:
    def script(ids: frozenset[str]) -> str | Exception:
        return ValueError("no context") if ids == PAIR | {"D1"} else "yes" if ids >= PAIR else "no"

    found = explainer(ScriptedReplay(script)).verify(PAIR, "retention", "?", sources(5))
    assert found.holds is None
    assert found.finding
    assert (found.finding.observed, found.finding.applicable) == (7, 8)
    assert str(found).endswith("1 subset has no verdict: ValueError: no context")
    assert "UNVERIFIED" in as_text(found.explanation)


def test_a_broken_rule_is_broken_whatever_else_has_no_verdict() -> None:
    def script(ids: frozenset[str]) -> str | Exception:
        return ValueError("too short") if ids == PAIR else "yes" if {*PAIR, "D1"} <= ids else "no"

    found = explainer(ScriptedReplay(script)).verify(PAIR, "retention", "?", sources(5))
    assert found.holds is False


def test_under_votes_nothing_is_proved() -> None:
    asked = itertools.count()

    def script(ids: frozenset[str]) -> str:
        if ids == PAIR | {"D1"} and next(asked) == 0:
            return "no"  # outvoted
        return "yes" if ids >= PAIR else "no"

    noise = Noise(samples=3)
    found = explainer(ScriptedReplay(script), noise=noise).verify(PAIR, "retention", "?", sources(5))
    assert found.holds
    assert found.finding
    assert found.finding.claim == "voted"
    none = explainer(of_the_pair(), noise=noise).verify({"D2"}, "retention", "?", sources(5))
    assert none.holds is False
    assert none.explanation.counts.probes == 1


def test_the_rules_own_subset_is_put_to_the_vote_before_any_other_is_asked_about() -> None:
    asked = itertools.count()

    def script(ids: frozenset[str]) -> str:
        lucky = ids == frozenset({"D2"}) and next(asked) == 0
        return "yes" if lucky or ids >= PAIR else "no"

    replay = ScriptedReplay(script)
    found = explainer(replay, noise=Noise(samples=3)).verify({"D2"}, "retention", "?", sources(6))
    assert found.holds is False
    assert found.explanation.counts.probes == 1


def test_a_test_with_a_subset_that_has_no_verdict_is_none() -> None:
    def script(ids: frozenset[str]) -> str | Exception:
        return ValueError("too long") if len(ids) == 19 else "yes" if ids >= PAIR else "no"

    found = explainer(ScriptedReplay(script)).verify(PAIR, "retention", "?", sources(20))
    assert found.holds is None
    assert found.finding
    assert found.finding.claim == "unverified"
    assert "no verdict: ValueError: too long" in str(found)


def test_its_explanation_is_one_like_any_other() -> None:
    found = explainer(of_the_pair()).verify(PAIR, "retention", "?", sources(5))
    explanation = found.explanation
    assert not explanation.complete
    assert explanation.stop_reason == "one rule was asked about, and no other was looked for"
    assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation
    everything = explainer(of_the_pair()).explain("?", sources(5))
    assert "proved on all 8 subsets" in as_text(explanation)
    # What was not looked for is not lost.
    assert diff(everything, explanation).fails("lost") is None
    assert len(explanation.probes) == 8


@pytest.mark.parametrize("size", [1, 3])
def test_the_empty_rule_speaks_about_everything(size: int) -> None:
    always = explainer(ScriptedReplay(lambda _: "yes"))
    found = always.verify((), "retention", "?", sources(size))
    assert found.holds
    assert found.explanation.counts.probes == 2**size
    whole = always.verify([f"D{n}" for n in range(1, size + 1)], "retention", "?", sources(size))
    assert whole.holds
    assert whole.explanation.counts.probes == 1


def test_on_the_callers_loop() -> None:
    async def both() -> tuple[Verification, Verification]:
        asking = explainer(of_the_pair())
        held = await asking.averify(PAIR, "retention", "?", sources(5))
        return held, await asking.averify({"D1"}, "omission", "?", sources(5))

    held, broken = asyncio.run(both())
    assert (held.holds, broken.holds) == (True, False)


def test_pinned_sources_are_in_no_rule() -> None:
    found = explainer(of_the_pair()).verify({"D4"}, "retention", "?", sources(5), pinned=["D2"])
    assert found.holds
    assert found.explanation.counts.probes == 8


@pytest.mark.parametrize(
    ("antecedent", "kind", "said"),
    [
        ({"D9"}, "retention", "'D9', which is no source; the sources are 'D1', 'D2'"),
        (["D1", "nowhere", ""], "retention", "'nowhere', '', which is no source"),
        ([["D1"]], "retention", "by a set of ids, such as {'D2'}; got [['D1']]"),
        ([3], "retention", "got [3]"),
        ("D2", "retention", "a set of ids, such as {'D2'}; got 'D2'"),
        (None, "retention", "got None"),
        ({"D5"}, "retention", "'D5', which is pinned"),
        ({"D1"}, "both", "kind is 'both'; give 'retention' or 'omission'"),
        ({"D1"}, None, "kind is None"),
        ({"D1"}, ["retention"], "kind is"),
    ],
)
def test_what_names_no_rule_is_refused_before_anything_is_asked(
    antecedent: Any, kind: Any, said: str
) -> None:
    replay = of_the_pair()
    with pytest.raises(InvalidInput) as refused:
        explainer(replay).verify(antecedent, kind, "?", sources(5), pinned=["D5"])
    assert said in str(refused.value)
    assert replay.calls == []


def test_what_cannot_be_verified_is_refused() -> None:
    many = of_the_pair()
    with pytest.raises(TooManySources, match="10,001 sources are more than"):
        explainer(many).verify(PAIR, "retention", "?", sources(10_001))
    assert many.calls == []
    with pytest.raises(TooManySources, match="2\\^28 subsets"):
        explainer(of_the_pair(), miner="exact").verify(PAIR, "retention", "?", sources(30))
    share = explainer(of_the_pair(), noise=Noise(min_confidence=0.9))
    with pytest.raises(InvalidInput, match="min_confidence"):
        share.verify(PAIR, "retention", "?", sources(5))
