"""What every test may rely on."""

# ruff: noqa: E402 -- what is imported below is compiled once only because of the lines before it

import os
import sys

# The tests start this package in dozens of other processes, and Pytest rewrites the assertions of what is
# imported below: all of it is compiled once, not by each process.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import asyncio
import gc
import ipaddress
import signal
import socket
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from rag_rule_explainer.instrumentation.rewinding import (
    before_earlier,
    earlier_doubts,
    outlasting,
    remembered,
)
from rag_rule_explainer.probing.tracing import endpoints
from tests import repeating
from tests.costs import costly
from tests.representing import FURTHER, on_further, one_in, quick, spread_out

# What CI finds is to be the change's doing, not the day's; new examples are looked for everywhere else.
# The machines are shared: how long one example takes says nothing.
_usual = settings(deadline=None, derandomize=bool(os.environ.get("CI")))
settings.register_profile("few", _usual, max_examples=20)

# Every client of a model endpoint reads the certificates of all the world, which takes longer than what
# most tests ask of it; here they speak to loopback only, and not encrypted. A folder without any:
os.environ.pop("SSL_CERT_FILE", None)
_no_certificates = tempfile.TemporaryDirectory(prefix="no-certificates-")
os.environ["SSL_CERT_DIR"] = _no_certificates.name

# The checker of international identifiers compiles its grammar as soon as anything imports jsonschema, in
# two seconds of every worker. No schema here has that format; None: it is not there, and not missed.
sys.modules["rfc3987_syntax"] = None  # pyright: ignore[reportArgumentType]

# Typer colours help pages for a log that shows colours, and the tests read what they say.
for _wish in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(_wish, None)

# A shell without job control starts what is in its background deaf to Ctrl-C, and the tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = Path(__file__).parents[1].parent / "shared" / "data"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait for another process or for a deadline."""
    known = hasattr(os, "sched_getaffinity")
    return (len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1) + 1


def _without(mark: str, config: pytest.Config) -> bool:
    return f"not {mark}" in config.option.markexpr


def _one_in(config: pytest.Config) -> int:
    return int(config.getoption("--one-in") or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-in",
        type=int,
        default=1,
        metavar="N",
        help="runs each test, and one in N of its cases; of what slow tests draw, one in N examples",
    )
    parser.addoption(
        "--repeat", type=int, default=1, metavar="N", help="runs each test that waits N times"
    )
    parser.addoption("--site", type=Path, help="the site that a browser's tests look at")
    parser.addoption(
        "--quick",
        action="store_true",
        help="leaves out the tests of tests/costly.txt, and asks the others with one of their cases",
    )
    parser.addoption("--further", choices=list(FURTHER), help="runs what is asked on a further Python")


def pytest_configure(config: pytest.Config) -> None:
    """Fast runs draw few examples; slow tests draw one in N of them where one in N of their cases is
    asked; every other run draws all of them.

    In a fast run, all tests of a file are one worker's, so what a module's fixtures make is made once.
    Files of slow tests take too long for that: each worker has a part of them, and who is done early
    takes from the others.
    """
    config.pluginmanager.register(repeating)
    settings.register_profile("some", _usual, max_examples=max(1, 100 // _one_in(config)))
    settings.load_profile("few" if _without("slow", config) else "some")
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadfile" if _without("slow", config) else "worksteal"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where slow tests run, those with drawn examples run as well, whose fast run draws few. The cases of
    a crossing are spread over fast runs, slow ones and the night."""
    spread_out(items)
    if not _without("slow", config):
        for item in items:
            if item.get_closest_marker("nightly"):
                continue
            by_hypothesis = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
            if by_hypothesis or item.get_closest_marker("drawn"):
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def pytest_one_case_in_so_many(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Comes after what is not asked at all was taken out."""
    if further := config.getoption("--further"):
        kept, others = on_further(further, items)
    elif config.getoption("--quick"):
        kept, others = quick(costly(), items)
    else:
        kept, others = one_in(_one_in(config), items)
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = kept


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """No benchmark and nothing of a browser is read, nor all that it imports, where none is to run."""
    unread = {"benchmarks": "benchmark", "browser": "browser"}.get(collection_path.name)
    return True if unread is not None and _without(unread, config) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported for all tests is looked at once, not by every later collection of garbage."""
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    # What the tests leave is mostly young and small: looked at less often, it is as gone, and for less.
    gc.set_threshold(50_000, 20, 50)
    gc.enable()
    return collected


@pytest.fixture(autouse=True, scope="session")
def only_loopback() -> Iterator[None]:
    """No test talks to anything but this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                raise PermissionError(f"a test tried to reach {host}; only loopback is allowed")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


@pytest.fixture
def own_loop() -> Iterator[None]:
    """LlamaIndex makes an event loop where there is none, and leaves it to the garbage collector."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture(autouse=True)
def no_endpoint_is_known_from_another_test() -> None:
    """A port that nobody listened at in one test may be the port of a server in the next one, within the
    minute for which it is known that an endpoint does not answer."""
    vars(endpoints)["_known"].clear()


@pytest.fixture(autouse=True)
def nothing_is_known_of_explanations_of_other_tests() -> None:
    """An explanation knows what earlier ones in the process left. Each test begins without that, since
    chance decides which tests share a process, and in which order they run."""
    for module in (before_earlier, earlier_doubts, outlasting, remembered):
        for name, known in vars(module).items():
            if name in ("_known", "_files", "_caches", "_modules"):
                known.clear()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real evaluation data, which is not part of the project."""
    if not DATA.is_dir():
        pytest.skip("the evaluation data is not beside the project")
    return DATA


@pytest.fixture(scope="module", autouse=True)
def clients_are_collected_where_they_were_made(
    request: pytest.FixtureRequest,
) -> Generator[None, None, None]:
    """Collects the clients of a test server that no test closed: found later, their connections would
    fail another module's test. An async client whose loop is gone cannot be closed. What is left then,
    such as modules imported by tests, is looked at by no later collection."""
    yield
    names: dict[str, Any] = getattr(request, "module").__dict__  # noqa: B009 -- Pytest gives it no type
    if "OpenAIServer" in names:
        gc.collect()
        gc.freeze()
