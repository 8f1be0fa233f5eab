"""What a payload that is split over two sources costs to find."""

import inspect
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import pytest

from rag_rule_explainer import BaselineFailed, InvalidInput, Source
from rag_rule_explainer.experiments.models import Endpoint, Examined
from rag_rule_explainer.experiments.paper import stated
from rag_rule_explainer.experiments.payload import attack, gullible_model
from rag_rule_explainer.experiments.redteam import (
    ANSWERS_KEPT,
    AS_WRITTEN,
    SAMPLED,
    RedteamOutcome,
    measure_redteam,
)
from rag_rule_explainer.settings import Settings
from rag_rule_explainer.storing.store import Store
from tests.support.openai_server import OpenAIServer

ONE_AT_A_TIME = Settings(concurrency=1)
FEW = [attack(50, 0, run) for run in range(1, 13)]


@pytest.fixture(scope="module")
def outcome() -> RedteamOutcome:
    return measure_redteam(FEW, gullible_model(), ONE_AT_A_TIME)


def by_formula(first: int, second: int, size: int = 50) -> Iterator[tuple[int, int]]:
    """The groups g of each round, and the paper's nodes in it: 2^(g-j) valid groups of groups and j that
    break, where the payload is in j of g groups."""
    groups = [range(1, size + 1)]
    while True:
        kept = [group for group in groups if first in group or second in group]
        yield len(groups), 2 ** (len(groups) - len(kept)) + len(kept)
        if all(len(group) == 1 for group in groups):
            return
        middles = [(len(group) + 1) // 2 for group in kept]
        halves = [
            half for group, at in zip(kept, middles, strict=True) for half in (group[:at], group[at:])
        ]
        groups = [half for half in halves if half]


def test_the_attack_works_with_both_halves_and_with_nothing_less() -> None:
    for each in FEW[:3]:
        hashes = [source.id for source in each.sources if each.exploit in source.text]
        assert len(hashes) == 1
        assert set(hashes) < set(each.payload)
    assert len({each.places for each in FEW}) > 8
    assert attack(50, 0, 3) == FEW[2]
    assert attack(50, 1, 3).places != FEW[2].places or attack(50, 1, 3).exploit != FEW[2].exploit
    assert len(attack(2, 0).payload) == 2
    with pytest.raises(InvalidInput, match="2 sources or more, and not 1"):
        attack(1, 0)


async def test_the_gullible_model_wants_both_halves() -> None:
    model, one = gullible_model(), FEW[0]
    asked = [
        one.sources,
        [source for source in one.sources if source.id in one.payload],
        *([source for source in one.sources if source.id != half] for half in one.payload),
        [],
    ]
    answers = [await said for shown in asked if inspect.isawaitable(said := model.replay("", shown))]
    assert answers == [one.exploit, one.exploit, "N/A", "N/A", "N/A"]


def test_as_the_paper_writes_it(outcome: RedteamOutcome) -> None:
    rows = [row for row in outcome.rows if row.approach == AS_WRITTEN]
    assert len(rows) == len(FEW)
    for row in rows:
        rounds = [
            (each.groups, each.probes)
            for each in outcome.rounds
            if (each.run, each.approach) == (row.run, AS_WRITTEN)
        ]
        assert rounds == list(by_formula(row.first, row.second))
        assert row.probes == sum(nodes for _, nodes in rounds)
        assert row.calls == row.probes - 1  # the empty set, which only the round of one group has
        assert row.bound == sum(2**groups for groups, _ in rounds)
        assert (row.found, row.rules, row.claim, row.rounds) == (True, 1, "exact", len(rounds))


def test_the_papers_bound_is_that_of_its_own_places() -> None:
    first, second = (stated(f"red-team {which} malicious source") for which in ("first", "second"))
    at_its_places = list(by_formula(first, second))
    assert [groups for groups, _ in at_its_places] == [1, 2, 4, 4, 4, 4, 3]
    assert sum(2**groups for groups, _ in at_its_places) == stated("red-team bound")
    assert [nodes for _, nodes in at_its_places] == [2, 3, 6, 6, 6, 6, 4]
    everywhere = [list(by_formula(a, b)) for a, b in combinations(range(1, 51), 2)]
    assert max(sum(2**groups for groups, _ in rounds) for rounds in everywhere) == 86
    assert max(sum(nodes for _, nodes in rounds) for rounds in everywhere) == 35


def test_its_places_are_measured_too() -> None:
    placed = attack(50, 0, places=(8, 44))
    assert placed.places == (8, 44)
    row = measure_redteam([placed], gullible_model(), ONE_AT_A_TIME).rows[0]
    assert (row.approach, row.probes, row.calls, row.bound) == (AS_WRITTEN, 33, 32, 78)


def test_with_answers_kept_it_is_never_dearer(outcome: RedteamOutcome) -> None:
    rows = {(row.run, row.approach): row for row in outcome.rows}
    for run in range(1, len(FEW) + 1):
        row, written = rows[run, ANSWERS_KEPT], rows[run, AS_WRITTEN]
        # One call more tries the rule beside all that was dropped.
        assert row.calls < written.calls
        assert row.probes - row.calls == 1  # the empty set, of which nobody is asked
        assert (row.found, row.claim) == (True, "relative")
        rounds = [each for each in outcome.rounds if (each.run, each.approach) == (run, ANSWERS_KEPT)]
        assert [each.round for each in rounds] == list(range(7))
        assert (rounds[0].groups, rounds[0].calls) == (1, 1)
        assert sum(each.calls for each in rounds) == row.calls
        assert sum(each.probes for each in rounds) == row.probes
    assert max(row.calls for row in outcome.rows if row.approach == ANSWERS_KEPT) == 29


def test_the_sampled_search_tells_its_rule_long_before_it_has_tested_it(outcome: RedteamOutcome) -> None:
    rows = [row for row in outcome.rows if row.approach == SAMPLED]
    assert all((row.found, row.claim, row.rounds) == (True, "tested", None) for row in rows)
    assert all(row.first_told is not None and row.first_told < 25 for row in rows)
    # 59 tests come after.
    assert all(59 < row.calls <= 80 for row in rows)


def test_from_the_store_it_is_the_same_and_costs_nothing(tmp_path: Path, outcome: RedteamOutcome) -> None:
    settings = Settings(concurrency=1, store=Store(str(tmp_path / "a.sqlite"), "gullible"))
    stopped = measure_redteam(FEW[:2], gullible_model(), settings, _interrupting)
    assert (stopped.interrupted, stopped.done) == (True, 1)
    whole = measure_redteam(FEW[:2], gullible_model(), settings)
    assert whole.stored > 0
    again = measure_redteam(FEW[:2], gullible_model(), settings)
    assert (again.calls, again.interrupted) == (0, False)
    # A store's answers are of one round of one run: nothing is taken for another round's.
    assert whole.rows == again.rows == outcome.rows[:6]
    assert whole.rounds == again.rounds == [each for each in outcome.rounds if each.run <= 2]


def test_what_is_written_to_replay_anew_is_not_taken_from_the_store(tmp_path: Path) -> None:
    one, asked = FEW[1], list[frozenset[str]]()

    async def replay(question: str, sources: Sequence[Source]) -> str:
        shown = frozenset(source.id for source in sources)
        asked.append(shown)
        return one.exploit if shown >= set(one.payload) else "N/A"

    store = Store(str(tmp_path / "a.sqlite"), "counted")
    model = Examined("m", "m", replay)
    written = measure_redteam([one], model, ONE_AT_A_TIME).rows[0]
    without_store = asked[: written.calls]
    assert len(set(without_store)) < written.calls
    asked.clear()
    found = measure_redteam([one], model, Settings(concurrency=1, store=store))
    assert asked[: written.calls] == without_store
    asked.clear()
    again = measure_redteam([one], model, Settings(concurrency=1, store=store))
    assert (again.calls, again.rows, asked) == (0, found.rows, [])


def _interrupting(done: int, _: int) -> None:
    if done == 1:
        raise KeyboardInterrupt


def test_what_falls_for_nothing_is_in_no_table() -> None:
    honest = Examined("honest", "honest", lambda question, sources: "N/A")
    outcome = measure_redteam(FEW[:1], honest, ONE_AT_A_TIME)
    assert not outcome.rows
    assert [each.approach for each in outcome.failures] == [AS_WRITTEN, ANSWERS_KEPT, SAMPLED]
    assert all("did not fall for it" in each.reason for each in outcome.failures)


@pytest.mark.slow
def test_one_source_that_does_it_all_is_found_and_is_not_the_payload() -> None:
    one = attack(20, 0)

    def replay(question: str, sources: Sequence[Source]) -> str:
        return one.exploit if any(one.exploit in source.text for source in sources) else "N/A"

    outcome = measure_redteam([one], Examined("half", "half", replay), ONE_AT_A_TIME)
    assert [(row.rules, row.found, row.claim) for row in outcome.rows] == [
        (1, False, "exact"),
        (1, False, ""),
        (1, False, ""),
    ]
    always = Examined("always", "always", lambda question, sources: one.exploit)
    outcome = measure_redteam([one], always, ONE_AT_A_TIME)
    # It says N/A where nothing is retained, so any source alone does it: many groups are kept.
    assert [each.reason for each in outcome.failures if each.approach == AS_WRITTEN] == [
        "round 4 would mine 16 groups, and at most 10 are mined exactly"
    ]


def test_a_model_that_is_not_there() -> None:
    def replay(question: str, sources: Sequence[Source]) -> str:
        raise ConnectionError("nobody")

    with pytest.raises(BaselineFailed, match="nobody"):
        measure_redteam(FEW[:1], Examined("gone", "gone", replay), Settings(concurrency=1, retries=0))


@pytest.mark.waits
@pytest.mark.slow
def test_over_the_wire(monkeypatch: pytest.MonkeyPatch, outcome: RedteamOutcome) -> None:
    monkeypatch.setenv("A_KEY", "any value")
    one = FEW[0]
    halves = [source.text for source in one.sources if source.id in one.payload]

    def script(body: object) -> str:
        prompt = str(body)
        return one.exploit if all(half in prompt for half in halves) else "N/A"

    with OpenAIServer(script) as server:
        model = Endpoint("fooled", server.base_url, "A_KEY").examined()
        wired = measure_redteam([one], model, Settings(concurrency=4))
        assert len(server.requests) == wired.calls
    calls = {row.approach: row.calls for row in wired.rows}
    expected = {row.approach: row.calls for row in outcome.rows[:3]}
    assert calls[AS_WRITTEN] == expected[AS_WRITTEN]
    assert calls[ANSWERS_KEPT] == expected[ANSWERS_KEPT]
    assert all(row.found for row in wired.rows)
