"""Connections to PostgreSQL that are reset anywhere: the search goes on, and nothing is paid twice."""

import gc
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer import Explainer, Source, Store
from rag_rule_explainer.storing.opened import close_all
from rag_rule_explainer.testing import ScriptedReplay
from tests.postgres import Server
from tests.storing.resetting import resetting

# pg8000 leaves a socket to the garbage collector where the connection breaks at its very beginning.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed (<socket.*family=2|file <_io)"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. <(socket.*family=2|_io.FileIO)"),
]


@pytest.fixture(autouse=True)
def nothing_dropped() -> Iterator[None]:
    """What the driver dropped is collected here, and not in a test that comes later."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


SOURCES = [Source(f"D{n}", f"text {n} " * 20) for n in range(1, 6)]
RULES = {("D1", "D3"), ("D1",), ("D3",)}
RESETS = 12


def answer(ids: frozenset[str]) -> str:
    return f"yes {'and so on ' * 20}" if {"D1", "D3"} <= ids else f"no {sorted(ids)}"


def explained(server: Server, name: str, seed: int) -> int:
    """How many connections were reset while one question was explained, and then once more."""
    server.fresh(name)
    socket = str(Path(server.folder) / ".s.PGSQL.5432")
    with resetting(socket, seed, RESETS) as way:
        store = Store(f"postgresql://postgres:none@127.0.0.1:{way.port}/{name}", "tests")
        replay = ScriptedReplay(answer)
        explainer = Explainer(replay, store=store, miner="exact", check_repeatable=False, concurrency=3)
        explanation = explainer.explain("?", SOURCES)
        assert explanation.stop_reason == ""
        assert explanation.complete
        assert {rule.sources for rule in explanation.rules} == RULES
        assert len(replay.calls) == len(set(replay.calls)) == 32
        close_all()
        again = explainer.explain("?", SOURCES)
        assert {rule.sources for rule in again.rules} == RULES
        assert len(replay.calls) == 32
        close_all()
        return way.done


def check(server: Server, seeds: range, capfd: pytest.CaptureFixture[str]) -> int:
    done = sum(explained(server, f"resets{seed}", seed) for seed in seeds)
    assert capfd.readouterr().err == ""
    return done


@pytest.mark.slow
def test_a_reset_connection_is_made_anew(
    server: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert check(server, range(3), capfd) > 4
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.spread(slow=3)
@pytest.mark.slow
@pytest.mark.parametrize("first", [3, 8, 13, 18])
def test_over_many_seeds(
    first: int, server: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert check(server, range(first, first + 5), capfd) > 15
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
