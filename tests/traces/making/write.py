"""Makes the traces of the tests anew, with the real packages, and says what changed: ``make traces``.

Each exporter runs in a process of its own. Phoenix is run on this machine for as long as it takes.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Generator
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

from rag_rule_explainer.errors import InvalidInput
from rag_rule_explainer.traces import Incident
from tests.traces.making.exporters import EXPORTERS
from tests.traces.making.pinned import pinned

FIXTURES = Path(__file__).parents[1] / "fixtures"
FRAMEWORKS = ("langchain", "llama_index")
PACKAGES = (
    *("openinference-instrumentation-langchain", "openinference-instrumentation-llama-index"),
    *("opentelemetry-instrumentation-genai-langchain", "opentelemetry-exporter-otlp-json-file"),
    *("arize-phoenix", "mlflow", "langsmith", "langfuse", "langchain-core", "llama-index-core"),
)


def wait_for(address: str) -> None:
    """Waits until a server of this machine answers; on a busy one, that takes minutes."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        with suppress(OSError):
            urlopen(address, timeout=5).close()  # noqa: S310 -- this machine
            return
        time.sleep(0.2)
    raise TimeoutError(f"{address} did not answer in ten minutes")


@contextmanager
def phoenix_running(folder: Path) -> Generator[str, None, None]:
    with closing(socket.socket()) as free, closing(socket.socket()) as other:
        free.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, grpc = free.getsockname()[1], other.getsockname()[1]
    asked = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    command = [str(Path(sys.executable).parent / "phoenix"), "serve"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env={**os.environ, **asked}, stdout=log, stderr=log)
        try:
            place = f"http://127.0.0.1:{port}"
            wait_for(f"{place}/healthz")
            yield place
        finally:
            server.terminate()
            server.wait(30)


def read_by(file: Path) -> object:
    """What the package reads in a file, to say whether a change of the file matters."""
    try:
        found = Incident.from_trace(file)
    except InvalidInput as error:
        return without_ids(str(error).replace(str(file), "FILE"))
    sources = [(each.id, each.text, dict(each.metadata)) for each in found.documents or ()]
    whole = found.question, found.answer, sources, found.history, found.request, found.notes
    return without_ids(repr(whole))


def without_ids(text: str) -> str:
    """The text without the running numbers of ``pinned``."""
    return re.sub(r"[0-9a-f-]{8,}", "ID", text)


def written(made: Path, kept: Path) -> str:
    """Writes a new trace in the place of the old one, and returns what changed."""
    # Traces of one folder have ids of their own.
    text = pinned(made.read_text(), zlib.crc32(made.name.encode()) % 10**6 * 1000)
    old = kept.read_text() if kept.exists() else None
    # Some servers return the keys of an object in any order.
    if old is not None and _parsed(old) == _parsed(text):
        return "unchanged"
    made.write_text(text)
    reads_same = old is not None and read_by(made) == read_by(kept)
    # Branches that stream take turns as their threads do.
    if reads_same and _unordered(old or "") == _unordered(text):
        return "unchanged, but for the order of steps"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    if old is None:
        return "new"
    return "changed, and read the same" if reads_same else "CHANGED, AND READ OTHERWISE"


def _parsed(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def _unordered(text: str) -> list[str]:
    """The words of a pinned trace, without ids and times."""
    untimed = re.sub(r"T00:00:00\.\d+|AAAA[\w+/]+=", "", without_ids(text))
    return sorted(re.findall(r"\w+", untimed))


def run(module: str, *arguments: str) -> None:
    command = [sys.executable, "-W", "ignore", "-m", f"tests.traces.making.{module}", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main(wanted: list[str]) -> None:
    with TemporaryDirectory() as made, TemporaryDirectory() as data:
        folder = Path(made)
        for framework in FRAMEWORKS:
            run("truth", framework, str(FIXTURES / f"truth-{framework}.json"))
        for name, (_, frameworks, _) in EXPORTERS.items():
            if wanted and name not in wanted:
                continue
            own = folder / name
            own.mkdir()
            with phoenix_running(Path(data)) if name == "phoenix" else nullcontext() as place:
                if place:
                    os.environ["PHOENIX"] = place
                for framework in frameworks:
                    run("one", name, framework, str(own))
            for file in sorted(own.iterdir()):
                print(f"{name}/{file.name}: {written(file, FIXTURES / name / file.name)}", flush=True)
    versions = {each: version(each) for each in PACKAGES}
    (FIXTURES / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
