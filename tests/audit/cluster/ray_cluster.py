"""A private Ray cluster of one machine, and drivers that audit on it: processes that can be killed."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
APPLICATION = "tests.audit.cluster.application:app"
TRIES = 4
"""Ray gives its own processes 15 seconds to start, which a busy machine may not have."""
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "PYTHONPATH": str(ROOT)}

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


@dataclass(frozen=True)
class PrivateCluster:
    """A cluster that is up. ``environment``: what a process needs to speak to it."""

    address: str
    environment: dict[str, str]
    folder: Path


@contextmanager
def private_cluster(processors: int = 2, before: str = "") -> Generator[PrivateCluster, None, None]:
    """A cluster for as long as the block runs. Fails where Ray does not start.

    ``before``: lines of Python that its head runs before Ray's own.
    """
    # Not pytest's folder: the path of a socket may be no longer than about a hundred bytes.
    folder = Path(tempfile.mkdtemp(prefix="rag-ray-"))
    environment = {**os.environ, **_SETTINGS, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        for _ in range(TRIES):
            port = _free_port()
            head = _head(folder, port, processors, before, environment)
            if head.poll() is None:
                break
            _end(head, folder)
        else:
            log = (folder / "head.log").read_text(errors="replace")
            pytest.fail(f"Ray does not start here: {log[-1500:]}")
        try:
            yield PrivateCluster(f"127.0.0.1:{port}", environment, folder)
        finally:
            _end(head, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _head(
    folder: Path, port: int, processors: int, before: str, environment: dict[str, str]
) -> subprocess.Popen[str]:
    """The head. It has ended if it did not start."""
    options = (
        f"start --head --block --port {port} --node-ip-address 127.0.0.1 --num-cpus {processors} "
        f"--include-dashboard=false --object-store-memory {100 * 2**20} --disable-usage-stats "
        f"--ray-client-server-port {_free_port()} --temp-dir {folder} "
        # Ports that are known need not be waited for.
        f"--dashboard-agent-grpc-port {_free_port()} --dashboard-agent-listen-port {_free_port()} "
        f"--runtime-env-agent-port {_free_port()} --metrics-export-port {_free_port()}"
    ).split()
    code = (
        f"{before}\nimport sys\nfrom ray.scripts.scripts import main\n"
        f"sys.argv = ['ray', *{options!r}]\nmain()"
    )
    with (folder / "head.log").open("w") as log:
        head = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
    while head.poll() is None:
        if "Ray runtime started" in (folder / "head.log").read_text(errors="replace"):
            return head
        with suppress(subprocess.TimeoutExpired):
            head.wait(0.2)
    return head


def _end(head: subprocess.Popen[str], folder: Path) -> None:
    """Ends what the head has started: all of it names the folder in its command line or environment."""
    if head.poll() is None:
        head.terminate()
        with suppress(subprocess.TimeoutExpired):
            head.wait(30)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            said = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if str(folder).encode() in said and int(process.name) != os.getpid():
                os.kill(int(process.name), signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        head.wait(10)


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


@dataclass
class Asked:
    """What a driver is to do. ``seconds``: what a run of the application takes. ``options``: further
    keywords of ``audit``, such as ``audit_limits`` as a dict."""

    store: str
    questions: int
    engine: str = "ray"
    actors: int = 2
    seconds: float = 0.0
    shown: int = 4
    folder: str | None = None
    application: str = APPLICATION
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    environment: dict[str, str] = field(default_factory=dict[str, str])
    ray_options: dict[str, Any] = field(default_factory=dict[str, Any])
    actor_options: dict[str, Any] = field(default_factory=dict[str, Any])
    patience: float = 300.0


def driver(cluster: PrivateCluster, asked: Asked, paid: Path, address: str = "") -> subprocess.Popen[str]:
    """A process that audits. It writes a line for each question that is done, and one with the result."""
    given = {
        "AUDIT_SECONDS": str(asked.seconds),
        "AUDIT_SHOWN": str(asked.shown),
        "AUDIT_PAID": str(paid),
        "AUDIT_BUILT": f"{paid}.built",
        "AUDIT_ONCE": "1",
        **asked.environment,
    }
    # Workers have the environment of the head, and what they are given here.
    asked.environment = given
    return subprocess.Popen(
        [sys.executable, "-m", "tests.audit.cluster.driver", json.dumps(vars(asked))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**cluster.environment, **given, "AUDIT_ADDRESS": address or cluster.address},
        cwd=ROOT,
    )


def told(
    process: subprocess.Popen[str], seconds: float = 280, *, refused: bool = False
) -> dict[str, Any]:
    """The result that a driver tells at its end, which is an error only if it is ``refused``."""
    out, err = process.communicate(timeout=seconds)
    lines = out.strip().splitlines()
    assert lines, err[-3000:]
    assert lines[-1].startswith("{"), err[-3000:]
    found = json.loads(lines[-1])
    assert refused or "error" not in found, (found, err[-3000:])
    return found
