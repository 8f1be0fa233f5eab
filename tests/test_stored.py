"""Explanations through a store: nothing paid is paid twice, and the rules are the same."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from rag_rule_explainer import (
    Answer,
    Case,
    Explainer,
    Explanation,
    InvalidInput,
    Limits,
    Settings,
    Source,
    Store,
    condition,
    contains,
)
from rag_rule_explainer.probing.replaying import Baseline
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import ScriptedReplay


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "answers.db"), "tests")


def sources(size: int) -> list[Source]:
    return [Source(f"D{n}", f"text {n}") for n in range(1, size + 1)]


def pair(ids: frozenset[str]) -> str:
    return "yes" if {"D1", "D3"} <= ids else f"no {sorted(ids)}"


def rules(explanation: Explanation) -> list[tuple[str, ...]]:
    return [rule.sources for rule in explanation.rules]


def test_a_path_is_a_store_as_its_text_is(tmp_path: Path) -> None:
    path: Any = tmp_path / "answers.db"
    assert Store(path, "tests") == Store(str(path), "tests")
    text: Any = str(path)
    assert Settings(store=path) == Settings(store=text)
    with pytest.raises(InvalidInput, match=r"namespace='support-bot-7'"):
        Explainer(ScriptedReplay(pair), store=path).explain("?", sources(3))


def test_a_second_run_costs_nothing_and_finds_the_same(store: Store) -> None:
    replay = ScriptedReplay(pair)
    first = Explainer(replay, store=store).explain("?", sources(4))
    again = Explainer(replay, store=store).explain("?", sources(4))
    assert rules(again) == rules(first) == [("D1", "D3"), ("D1",), ("D3",)]
    assert again.counts.replays == 0
    assert again.counts.stored == first.counts.replays == len(replay.calls)
    assert [rule.evidence for rule in again.rules] == [rule.evidence for rule in first.rules]


def test_a_stored_answer_keeps_the_latency_that_it_was_paid_for_with(store: Store) -> None:
    def latencies() -> dict[tuple[str, ...], float | None]:
        asked_about = Baseline(Answer("yes"))
        explanation = Explainer(ScriptedReplay(pair), store=store, check_repeatable=False).explain(
            "?", sources(4), asked_about
        )
        return {probe.kept: probe.latency for probe in explanation.probes}

    first = latencies()
    assert len(first) == 16
    assert None not in first.values()
    assert latencies() == first


def test_what_a_limit_stopped_is_finished_without_paying_twice(store: Store) -> None:
    replay = ScriptedReplay(pair)
    first = Explainer(replay, store=store, limits=Limits(replays=6)).explain("?", sources(4))
    assert not first.complete
    assert len(replay.calls) == 6
    rest = Explainer(replay, store=store).explain("?", sources(4))
    assert rest.complete
    assert rules(rest) == [("D1", "D3"), ("D1",), ("D3",)]
    # All 16 subsets, and the full one once more.
    assert len(replay.calls) == 17


def test_another_predicate_judges_what_is_there_and_replays_what_is_not(store: Store) -> None:
    replay = ScriptedReplay(pair)
    Explainer(replay, store=store, rules="retention").explain("?", sources(4))
    paid = len(replay.calls)
    other = Explainer(replay, store=store, predicate=contains("no"), rules="omission").explain(
        "?", sources(4)
    )
    assert other.counts.replays == len(replay.calls) - paid
    assert other.counts.stored > 0
    fresh = Explainer(ScriptedReplay(pair), predicate=contains("no"), rules="omission").explain(
        "?", sources(4)
    )
    assert rules(other) == rules(fresh)


def test_another_namespace_or_question_or_text_shares_nothing(store: Store) -> None:
    replay = ScriptedReplay(pair)
    Explainer(replay, store=store).explain("?", sources(3))
    for question, its_store, its_sources in (
        ("?", Store(store.url, "another version"), sources(3)),
        ("another?", store, sources(3)),
        ("?", store, [*sources(2), Source("D3", "another text")]),
    ):
        found = Explainer(replay, store=its_store).explain(question, its_sources)
        assert found.counts.replays > 0
    scored = [Source(each.id, each.text, {"score": 0.3}) for each in sources(3)]
    assert Explainer(replay, store=store).explain("?", scored).counts.replays == 0


def test_metadata_that_changed_is_another_source(store: Store) -> None:
    """An application may show a title; its answers on the old titles once made false rules."""

    def replay(_: str, kept: Sequence[Source]) -> str:
        return "yes" if sum(bool(each.metadata["ok"]) for each in kept) >= 2 else "no"

    def rules_on(*ok: int) -> set[tuple[str, ...]]:
        given = [Source(f"D{n}", f"text {n}", {"ok": each, "score": n / 7}) for n, each in enumerate(ok)]
        found = Explainer(replay, store=store, predicate=contains("yes"), rules="retention")
        return {rule.sources for rule in found.explain("?", given).rules}

    assert rules_on(1, 1, 0) == {("D0", "D1")}
    assert rules_on(1, 1, 1) == {("D0", "D1"), ("D0", "D2"), ("D1", "D2")}


METADATA: list[Callable[[int], object]] = [
    lambda n: date(2026, 1, n),
    lambda n: UUID(int=n),
    lambda n: Decimal(n),
    lambda n: Path(str(n)),
    lambda n: (n, {n: b"x"}),
    lambda n: {"credit_score": n / 7},
]


@pytest.mark.parametrize("of", METADATA)
def test_metadata_of_any_type_tells_sources_apart(of: Callable[[int], object]) -> None:
    one, again, other = (Source("D", "text", {"of": of(each)}) for each in (1, 1, 2))
    assert one.fingerprint == again.fingerprint != other.fingerprint


class Day(BaseModel):
    """A structured answer."""

    day: str


def in_a_model(day: str) -> object:
    return Day(day=day)


def by_a_number(day: str) -> object:
    return {1: day}


def in_a_tuple(day: str) -> object:
    return (day,)


@pytest.mark.parametrize("of_day", [in_a_model, by_a_number, in_a_tuple])
def test_a_value_that_json_would_change_is_judged_as_it_is_and_not_stored(
    store: Store, of_day: Callable[[str], object]
) -> None:
    paid: list[int] = []

    def replay(_: str, kept: Sequence[Source]) -> Answer:
        paid.append(1)
        return Answer("so", of_day("Friday" if kept and kept[0].id == "D1" else "never"))

    def on_friday(case: Case) -> bool:
        return bool(case.answer.value == of_day("Friday"))

    for _ in range(2):
        paid.clear()
        explanation = Explainer(replay, predicate=on_friday, store=store).explain("?", sources(3))
        assert {rule.sources for rule in explanation.retention_rules} == {("D1",)}
        assert len(paid) >= 8
        assert any("are not stored" in note for note in explanation.notes)


def test_named_judgements_are_made_once_and_others_anew(store: Store) -> None:
    judged: list[str] = []

    def judge(case: Case) -> bool:
        judged.append(case.answer.text)
        return case.answer.text == "yes"

    def explained(**named: Any) -> Explanation:
        predicate = condition(judge, "it is so", **named)
        return Explainer(ScriptedReplay(pair), predicate=predicate, store=store).explain("?", sources(3))

    first = explained(remembered_as="judge 1")
    assert len(judged) == len(set(judged))
    once = len(judged)
    assert rules(explained(remembered_as="judge 1")) == rules(first)
    assert len(judged) == once
    explained(remembered_as="judge 2")
    assert len(judged) == 2 * once
    explained()
    assert len(judged) > 3 * once


def test_failures_are_not_stored(store: Store) -> None:
    def failing(ids: frozenset[str]) -> str | Exception:
        return ValueError("broken") if ids == frozenset({"D1", "D2"}) else pair(ids)

    first = Explainer(ScriptedReplay(failing), store=store).explain("?", sources(3))
    assert not first.complete
    replay = ScriptedReplay(pair)
    mended = Explainer(replay, store=store).explain("?", sources(3))
    assert mended.complete
    assert replay.calls[0] == {"D1", "D2"}


@pytest.mark.waits
def test_two_at_once_pay_once(store: Store) -> None:
    calls: list[frozenset[str]] = []

    async def slow(_question: str, shown: Sequence[Source]) -> str:
        ids = frozenset(source.id for source in shown)
        calls.append(ids)
        await asyncio.sleep(0.005)
        return pair(ids)

    async def both() -> list[Explanation]:
        explainers = [Explainer(slow, store=store, check_repeatable=False) for _ in range(2)]
        return await asyncio.gather(*(each.aexplain("?", sources(4)) for each in explainers))

    first, second = asyncio.run(both())
    assert rules(first) == rules(second)
    assert len(calls) == len(set(calls)) == 16


def test_the_stored_answer_is_explained_where_the_application_now_says_it_otherwise(store: Store) -> None:
    first = Explainer(ScriptedReplay(pair), store=store).explain("?", sources(3))
    said = Answer("YES indeed")
    resumed = Explainer(
        ScriptedReplay(pair), store=store, predicate=contains("yes"), check_repeatable=True
    ).explain("?", sources(3), Baseline(said, said, replays=1))
    assert resumed.baseline.text == first.baseline.text == "yes"
    assert resumed.counts.replays == 1
    assert any("YES indeed" in note for note in resumed.notes)


def test_another_state_is_another_question(store: Store) -> None:
    replay = ScriptedReplay(pair)
    for state in ("", "a conversation", "another one"):
        said = Answer("yes")
        found = Explainer(replay, store=store).explain(
            "?", sources(3), Baseline(said, said, replays=1, state=state)
        )
        assert found.counts.stored == 0


def test_a_store_that_fails_stops_the_search_and_keeps_what_is_proved(store: Store) -> None:
    def breaking(ids: frozenset[str]) -> str:
        if ids == frozenset({"D1", "D3", "D4"}):
            with closing(sqlite3.connect(store.url)) as connection:
                connection.execute("DROP TABLE rag_rules_answers")
        return pair(ids)

    explanation = Explainer(
        ScriptedReplay(breaking), store=store, rules="retention", concurrency=1
    ).explain("?", sources(4))
    assert not explanation.complete
    assert "the store failed" in explanation.stop_reason
    assert all(rule.proved for rule in explanation.rules)
    assert rules(explanation) != []


def test_no_password_is_recorded() -> None:
    store = Store("postgresql://somebody:secret@127.0.0.1/answers", "tests")
    explainer = Explainer(ScriptedReplay(pair), store=store)
    assert "secret" not in json.dumps(explainer.settings.as_dict())
    assert "secret" not in repr(explainer.settings)


@pytest.mark.slow
@pytest.mark.waits
def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """Fifty times kill -9, in the middle of ten explanations."""
    script = Path(__file__).with_name("killing.py")
    run = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert told["kills"] == 50
    assert told["in the middle"] == 50
    assert told["rules"] == [[["D1", "D3"], ["D1"], ["D3"]]] * 10
    # Whatever had been committed when it was killed was never paid for again.
    assert told["paid twice"] == 0
    assert told["most lost at once"] <= told["concurrency"]
