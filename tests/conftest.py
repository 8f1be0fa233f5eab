"""What every test may rely on."""

import asyncio
import gc
import ipaddress
import os
import socket
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The machines are shared: how long one example takes says nothing.
settings.register_profile("shared", deadline=None)
# What CI finds is to be the change's doing, not the day's; new examples are looked for everywhere else.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "shared")

# Every client of a model endpoint reads the certificates of all the world, which takes longer than what
# most tests ask of it; here they speak to loopback only, and not encrypted. A folder without any:
os.environ.pop("SSL_CERT_FILE", None)
_no_certificates = tempfile.TemporaryDirectory(prefix="no-certificates-")
os.environ["SSL_CERT_DIR"] = _no_certificates.name

# The tests start this package in dozens of other processes: it is compiled once, not by each of them.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

DATA = Path(__file__).parents[1].parent / "shared" / "data"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait for another process or for a deadline."""
    known = hasattr(os, "sched_getaffinity")
    return (len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported for all tests is looked at once, not by every later collection of garbage."""
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return collected


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test talks to anything but this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
                raise PermissionError(f"a test tried to reach {host}; only loopback is allowed")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def own_loop() -> Iterator[None]:
    """LlamaIndex makes an event loop where there is none, and leaves it to the garbage collector."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real evaluation data, which is not part of the project."""
    if not DATA.is_dir():
        pytest.skip("the evaluation data is not beside the project")
    return DATA
