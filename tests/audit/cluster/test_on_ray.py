"""An audit on a real Ray cluster, with a real PostgreSQL: the same as in one process, whoever dies."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rag_rule_explainer.audit.cluster.ledger import Ledger, LedgerPlan
from tests.audit.cluster.paid_answers import paid_again, paid_often, paid_runs
from tests.audit.cluster.ray_cluster import (
    Asked,
    PrivateCluster,
    driver,
    needs_ray,
    private_cluster,
    told,
)

pytestmark = [needs_ray, pytest.mark.waits, pytest.mark.timeout(900)]
IN_FLIGHT = 2
"""Runs of the application that one worker has at a time."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[PrivateCluster]:
    with private_cluster() as cluster:
        yield cluster


@pytest.fixture
def paid(tmp_path: Path) -> Path:
    return tmp_path / "paid"


def built(paid: Path) -> list[int]:
    """The processes that have built the application, in their order."""
    file = Path(f"{paid}.built")
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def in_one_process(cluster: PrivateCluster, fresh: str, paid: Path, questions: int) -> list[object]:
    elsewhere = paid.with_name("paid in one process")
    return told(driver(cluster, Asked(fresh, questions, engine="process"), elsewhere))["questions"]


def account(asked: Asked) -> str:
    """The id of the account of an audit that has a folder."""
    assert asked.folder is not None
    return json.loads((Path(asked.folder) / "audit.json").read_text())["id"]


@pytest.mark.slow
def test_a_cluster_finds_what_one_process_finds(
    cluster: PrivateCluster, database: str, another: str, paid: Path
) -> None:
    found = told(driver(cluster, Asked(database, 20), paid))["questions"]
    assert found == in_one_process(cluster, another, paid, 20)
    assert {each["outcome"] for each in found} == {"bad", "not bad"}
    assert any(rule["claim"] == "proved" for each in found for rule in each["rules"])
    # Each of the two actors builds it once.
    assert len(built(paid)) == len(set(built(paid))) == 2
    # What is left is asked before anything is stored, and once more to see that it repeats.
    assert not paid_again(paid, database)
    again = told(driver(cluster, Asked(database, 20), paid))["questions"]
    assert again == found


def saved(folder: Path) -> dict[str, dict[str, Any]]:
    """Returns the explanations that an audit saved, by file, without ids, times, settings of the store,
    who paid for what, and the probes: which ones are asked besides those that are needed depends on which
    answer comes first."""
    found = {each.name: json.loads(each.read_text()) for each in (folder / "explanations").iterdir()}
    for each in found.values():
        for name in ("id", "made_at", "settings", "counts", "spent", "probes"):
            del each[name]
    return found


@pytest.mark.slow
def test_a_cluster_saves_the_explanations_of_one_process(
    cluster: PrivateCluster, database: str, another: str, paid: Path, tmp_path: Path
) -> None:
    for name, store in (("ray", database), ("process", another)):
        asked = Asked(
            store, 20, engine=name, folder=str(tmp_path / name), options={"explanations": "json"}
        )
        told(driver(cluster, asked, paid.with_name(f"paid by {name}")))
    on_ray = saved(tmp_path / "ray")
    assert len(on_ray) == 20
    assert on_ray == saved(tmp_path / "process")


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_paid(
    cluster: PrivateCluster, database: str, another: str, paid: Path, tmp_path: Path
) -> None:
    asked = Asked(database, 12, seconds=0.05, folder=str(tmp_path / "audit"))
    stopped = driver(cluster, asked, paid)
    assert stopped.stdout is not None
    assert stopped.stdout.readline().startswith("done")
    stopped.send_signal(signal.SIGINT)
    first = told(stopped)["questions"]
    assert 1 <= len(first) < 12
    assert not paid_again(paid, database)
    found = told(driver(cluster, asked, paid))["questions"]
    assert found == in_one_process(cluster, another, paid, 12)
    assert not paid_again(paid, database)


@pytest.mark.slow
def test_the_cap_holds_for_the_whole_cluster(
    cluster: PrivateCluster, database: str, another: str, paid: Path, tmp_path: Path
) -> None:
    limits = {"audit_limits": {"replays": 60}}
    asked = Asked(database, 12, seconds=0.02, folder=str(tmp_path / "audit"), options=limits)
    found = told(driver(cluster, asked, paid))["questions"]
    assert 60 - 2 * IN_FLIGHT <= len(paid_runs(paid)) <= 60 + 2 * IN_FLIGHT
    stopped = [each for each in found if each["outcome"] == "stopped"]
    assert {each["reason"] for each in stopped} == {"the audit's limit of 60 replays is reached"}
    assert 0 < len(stopped) < 12
    # What the earlier run has spent counts; a larger cap goes on from there.
    asked.options = {"audit_limits": {"replays": 100}}
    told(driver(cluster, asked, paid))
    assert 100 - 2 * IN_FLIGHT <= len(paid_runs(paid)) <= 100 + 2 * IN_FLIGHT
    asked.options = {}
    assert told(driver(cluster, asked, paid))["questions"] == in_one_process(cluster, another, paid, 12)
    assert not paid_again(paid, database)


@pytest.mark.slow
def test_replays_for_whom_to_blame_are_in_the_account_of_the_cluster(
    cluster: PrivateCluster, database: str, paid: Path, tmp_path: Path
) -> None:
    asked = Asked(database, 6, folder=str(tmp_path / "audit"))
    told(driver(cluster, asked, paid))
    searched, cap = len(paid_runs(paid)), 40
    # Application runs of questions are counted, so little is left of a cap just above them.
    with closing(Ledger(LedgerPlan(database, account(asked)))) as ledger:
        before = ledger.spent().replays
        asked.options = {"fdr": 0.05, "audit_limits": {"replays": before + cap}}
        said = told(driver(cluster, asked, paid))["blame"]
        assert said is not None
        assert 0 < len(paid_runs(paid)) - searched <= cap
        assert before < ledger.spent().replays <= before + cap


@pytest.mark.nightly
def test_a_worker_is_killed_at_random_moments(
    cluster: PrivateCluster, database: str, another: str, paid: Path, tmp_path: Path
) -> None:
    draw, kills, questions = Random(22), 0, 60
    asked = Asked(database, questions, seconds=0.03, folder=str(tmp_path / "audit"))
    auditing = driver(cluster, asked, paid)
    killed = set[int]()
    while kills < 10 and auditing.poll() is None:
        time.sleep(draw.uniform(0.0, 1.5))
        alive = [each for each in built(paid) if each not in killed]
        if paid_runs(paid) and alive:
            victim = draw.choice(alive)
            killed.add(victim)
            os.kill(victim, signal.SIGKILL)
            kills += 1
    found = told(auditing, 600)["questions"]
    assert kills == 10
    assert found == in_one_process(cluster, another, paid, questions)
    assert not paid_again(paid, database)
    often = sum(paid_often(paid).values())
    print(f"\n10 kills of workers: {len(paid_runs(paid))} runs paid, {often} of them more than once")


@pytest.mark.nightly
def test_the_driver_is_killed_and_started_again(
    cluster: PrivateCluster, database: str, another: str, paid: Path, tmp_path: Path
) -> None:
    draw, questions = Random(23), 60
    asked = Asked(database, questions, seconds=0.03, folder=str(tmp_path / "audit"))
    for _ in range(5):
        auditing = driver(cluster, asked, paid)
        before = len(paid_runs(paid))
        while len(paid_runs(paid)) == before:
            assert auditing.poll() is None, told(auditing)
            time.sleep(0.01)
        time.sleep(draw.uniform(0.0, 2.0))
        auditing.kill()
        auditing.communicate()
    found = told(driver(cluster, asked, paid), 600)["questions"]
    assert found == in_one_process(cluster, another, paid, questions)
    assert not paid_again(paid, database)
    often = sum(paid_often(paid).values())
    print(f"\n5 kills of the driver: {len(paid_runs(paid))} runs paid, {often} of them more than once")


@pytest.mark.nightly
def test_a_question_that_kills_its_worker_is_named(
    cluster: PrivateCluster, database: str, paid: Path
) -> None:
    asked = Asked(database, 8, environment={"AUDIT_DEADLY": "question 3?"})
    found = told(driver(cluster, asked, paid), 600)["questions"]
    (deadly,) = [each for each in found if each["outcome"] == "failed"]
    assert deadly["question"] == "question 3?"
    assert deadly["reason"].startswith("its worker died 4 times")
    assert len(found) == 8
