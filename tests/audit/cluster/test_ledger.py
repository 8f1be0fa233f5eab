"""What the workers of an audit may spend together: counted in PostgreSQL, whoever dies."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_rule_explainer import Explainer, InvalidInput, Limits, Source
from rag_rule_explainer.audit.cluster.ledger import Ledger, LedgerPlan, Rates
from rag_rule_explainer.audit.metering import MeteredLimiter, SpentTogether, TokenMeter
from rag_rule_explainer.probing.limits import LimitReached
from rag_rule_explainer.verdicts import Answer
from tests.postgres import Server

ROOT = Path(__file__).parents[3]
SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 5)]


@contextmanager
def opened(plan: LedgerPlan) -> Generator[Ledger, None, None]:
    ledger = Ledger(plan)
    try:
        yield ledger
    finally:
        ledger.close()


def begun(ledger: Ledger, runs: int) -> int:
    """How many of so many runs may begin."""
    futures = [ledger.begin() for _ in range(runs)]
    return sum(future.exception(60) is None for future in futures)


@pytest.mark.waits
def test_two_processes_share_one_cap(database: str) -> None:
    plan = LedgerPlan(database, "a", Limits(replays=50, failures=None))
    code = (
        "import sys\n"
        "from rag_rule_explainer import Limits\n"
        "from rag_rule_explainer.audit.cluster.ledger import Ledger, LedgerPlan\n"
        "ledger = Ledger(LedgerPlan(sys.argv[1], 'a', Limits(replays=50, failures=None)))\n"
        "futures = [ledger.begin() for _ in range(40)]\n"
        "print(sum(each.exception(60) is None for each in futures))\n"
        "ledger.close()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, database], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with opened(plan) as ledger:
        mine = begun(ledger, 40)
        theirs = int(other.communicate(timeout=120)[0])
        assert mine + theirs == 50
        assert ledger.spent() == SpentTogether(50, 0, 0.0)
        with pytest.raises(LimitReached, match="the audit's limit of 50 replays is reached"):
            ledger.begin().result(60)


def test_what_was_spent_counts_for_who_comes_later(database: str) -> None:
    plan = LedgerPlan(database, "a", Limits(replays=5, failures=None))
    with opened(plan) as first:
        assert begun(first, 3) == 3
    with opened(plan) as second:
        assert begun(second, 10) == 2
    with opened(LedgerPlan(database, "a", Limits(replays=8, failures=None))) as more:
        assert begun(more, 10) == 3
    with opened(LedgerPlan(database, "b", Limits(replays=8, failures=None))) as another:
        assert begun(another, 10) == 8


@pytest.mark.waits
def test_a_killed_process_leaves_what_it_has_begun(database: str) -> None:
    code = (
        "import os, sys, signal\n"
        "from rag_rule_explainer.audit.cluster.ledger import Ledger, LedgerPlan\n"
        "ledger = Ledger(LedgerPlan(sys.argv[1], 'a'))\n"
        "[each.result(60) for each in [ledger.begin() for _ in range(7)]]\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, database], cwd=ROOT, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    with opened(LedgerPlan(database, "a", Limits(replays=10, failures=None))) as ledger:
        assert begun(ledger, 10) == 3


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(tokens=100, failures=None), r"the audit's limit of 100 tokens is reached \(120 spent\)"),
        (Limits(cost=0.5, failures=None), r"the audit's limit of 0.5 in cost is reached \(0.6 spent\)"),
    ],
)
def test_tokens_and_cost_end_it_once_they_are_known(database: str, limits: Limits, reason: str) -> None:
    with opened(LedgerPlan(database, "a", limits)) as ledger:
        ledger.spend(60, 0.3)
        ledger.begin().result(60)
        ledger.spend(60, 0.3)
        with pytest.raises(LimitReached, match=reason):
            ledger.begin().result(60)
        assert ledger.spent() == SpentTogether(1, 120, 0.6)


@pytest.mark.waits
def test_runs_begin_at_the_rate_of_all_workers(database: str) -> None:
    plan = LedgerPlan(database, "a", rates=Rates(replays_per_minute=600))
    with opened(plan) as one, opened(plan) as two:
        began = time.monotonic()
        futures = [each.begin() for _ in range(10) for each in (one, two)]
        at = sorted(future.result(60) for future in futures)
        took = time.monotonic() - began
    # Twenty runs, a tenth of a second apart, from when the first was asked for.
    assert at[-1] <= 1.9 + 0.01
    assert at[-1] >= 1.9 - took - 0.01
    assert len({round(each, 2) for each in at}) >= 10


@pytest.mark.waits
def test_tokens_hold_the_next_run_back(database: str) -> None:
    with opened(LedgerPlan(database, "a", rates=Rates(tokens_per_minute=60_000))) as ledger:
        assert ledger.begin().result(60) == 0.0
        ledger.spend(5000, 0.0)
        assert 4.0 < ledger.begin().result(60) <= 5.0


def test_a_stopped_audit_begins_nothing_until_it_goes_on(database: str) -> None:
    with opened(LedgerPlan(database, "a")) as ledger, opened(LedgerPlan(database, "a")) as driver:
        driver.stop()
        with pytest.raises(LimitReached, match="the audit was stopped"):
            ledger.begin().result(60)
        driver.stop(stopped=False)
        assert begun(ledger, 3) == 3
        assert driver.spent().replays == 3


@pytest.mark.waits
def test_no_run_begins_after_the_end_of_its_time(database: str) -> None:
    with opened(LedgerPlan(database, "a")) as ledger:
        late, early = ledger.after(-1.0), ledger.after(60.0)
    assert ledger.after(None) is None
    limits = Limits(seconds=7, failures=None)
    with opened(LedgerPlan(database, "a", limits, until=early)) as ledger:
        ledger.begin().result(60)
    with opened(LedgerPlan(database, "a", limits, until=late)) as ledger:
        with pytest.raises(LimitReached, match="the audit's limit of 7 seconds is reached"):
            ledger.begin().result(60)
        assert ledger.spent().replays == 1


def test_a_closed_account_refuses(database: str) -> None:
    with opened(LedgerPlan(database, "a")) as ledger:
        pass
    with pytest.raises(LimitReached, match="stopped"):
        ledger.begin().result(60)


@pytest.mark.slow
@pytest.mark.waits
def test_a_server_that_restarts_is_waited_for(server: Server) -> None:
    with opened(LedgerPlan(server.fresh("restarted"), "a", Limits(replays=9, failures=None))) as ledger:
        assert begun(ledger, 3) == 3
        server.stop("fast")
        future = ledger.begin()
        time.sleep(0.2)
        server.start()
        assert future.exception(60) is None
        assert ledger.spent().replays == 4


def test_an_account_that_was_deleted_is_an_error(database: str, server: Server) -> None:
    with opened(LedgerPlan(database, "a")) as ledger:
        server.sql("DELETE FROM rag_rules_audits", database.rpartition("?")[0].rpartition("/")[2])
        with pytest.raises(
            LimitReached, match="the audit was stopped: the account of the audit a is gone"
        ):
            ledger.begin().result(60)


def test_what_cannot_be_shared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match="is a file, which other machines cannot share; give postgresql"
    ):
        LedgerPlan(f"sqlite:///{tmp_path}/a.db", "a")
    with pytest.raises(InvalidInput, match="the id of an audit is"):
        LedgerPlan("postgresql://a@b/c", "a'; DROP")
    with pytest.raises(InvalidInput, match="replays_per_minute is 0; give a number above 0"):
        Rates(replays_per_minute=0)
    with pytest.raises(InvalidInput, match="tokens_per_minute is"):
        Rates(tokens_per_minute=float("inf"))


def replay(question: str, shown: Sequence[Source]) -> Answer:
    ids = {source.id for source in shown}
    return Answer("yes" if {"D1", "D3"} <= ids else "no", usage={"input_tokens": 10, "output_tokens": 1})


async def test_an_explanation_ends_at_the_cap_of_the_audit(database: str) -> None:
    plan = LedgerPlan(database, "a", Limits(replays=6, failures=None))
    with opened(plan) as ledger:
        limiter = MeteredLimiter(4, ledger)
        explainer = Explainer(replay, miner="exact", limiter=limiter, progress=TokenMeter(ledger))
        explanation = await explainer.aexplain("?", SOURCES)
        assert explanation.stop_reason == "the audit's limit of 6 replays is reached"
        assert ledger.spent().replays == 6
    with opened(plan) as later:
        # A run that is granted just when another one is refused may never begin; it counts, unpaid.
        assert later.spent() == SpentTogether(6, 11 * explanation.counts.replays, 0.0)


async def test_the_account_agrees_with_the_explanations(database: str) -> None:
    with opened(LedgerPlan(database, "a")) as ledger:
        limiter = MeteredLimiter(4, ledger)
        explainer = Explainer(replay, miner="exact", limiter=limiter, progress=TokenMeter(ledger))
        found = await asyncio.gather(*(explainer.aexplain(f"{n}?", SOURCES) for n in range(5)))
    with opened(LedgerPlan(database, "a")) as ledger:
        assert ledger.spent().replays == sum(each.counts.replays for each in found)
        assert ledger.spent().tokens == 11 * ledger.spent().replays


def test_a_sync_explanation_is_counted_too(database: str) -> None:
    with opened(LedgerPlan(database, "a", Limits(replays=6, failures=None))) as ledger:
        explainer = Explainer(replay, miner="exact", limiter=MeteredLimiter(4, ledger))
        assert explainer.explain("?", SOURCES).stop_reason
        with pytest.raises(LimitReached), explainer.limiter.slot():
            pass
