"""Running ``rag-rules``, and looking at how it ended."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rag_rule_explainer import Explanation
from tests.interrupting import telling, until
from tests.support.messages import Body

QUESTION = "When was the iron tower built?"
BUILT = (
    {"id": "plaque", "text": "The iron tower was built in 1889."},
    {"id": "leaflet", "title": "Leaflet", "text": "The iron tower was built in 1900."},
    {"id": "menu", "text": "Soup is served at noon."},
)
UNREACHABLE = "http://127.0.0.1:1"


@dataclass(frozen=True)
class Run:
    """How a run ended, and what it printed."""

    code: object
    out: str
    err: str


RagRules = Callable[..., Run]


class Holding:
    """A script that answers so many requests at once, and the others as soon as it is told to."""

    def __init__(self, script: Callable[[Body], str], most: int) -> None:
        self._script, self._numbers = script, itertools.count(1)
        self.hold_after(most)

    def hold_after(self, most: int) -> None:
        self._most, self.holds, self.free = most, threading.Event(), threading.Event()

    def __call__(self, body: Body) -> str:
        free = self.free
        if next(self._numbers) > self._most and not free.is_set():
            self.holds.set()
            free.wait(120)
        return self._script(body)

    def interrupt(self, process: "subprocess.Popen[str]", stopped: Path) -> None:
        """Sends Ctrl-C while it holds what is asked, and answers when that has stopped the process."""
        assert self.holds.wait(120)
        process.send_signal(signal.SIGINT)
        until(stopped.exists)
        self.free.set()


def subprocess_of(
    *arguments: object,
    env: Mapping[str, str] | None = None,
    stdout: IO[str] | None = None,
    stopped: Path | None = None,
    first: str = "",
) -> "subprocess.Popen[str]":
    """``stopped``: the file that it makes as soon as a Ctrl-C has stopped its search. ``first``: lines of
    Python that it begins with."""
    # A process started in the background of a shell ignores Ctrl-C unless it says otherwise.
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{listening}\n{telling(stopped) if stopped else ''}{first}\n"
    program += "from rag_rule_explainer.cli import main; main()"
    unwanted = ("FORCE_COLOR", "PYTHONUNBUFFERED")
    plain = {name: value for name, value in os.environ.items() if name not in unwanted}
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**plain, "PYTHONIOENCODING": "utf-8", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=stdout or subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def finished(process: "subprocess.Popen[str]") -> Run:
    out, err = process.communicate(timeout=200)
    return Run(process.returncode, out, err)


def jsonl(path: Path, *records: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def folder(path: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def explanation_of(run: Run) -> Explanation:
    assert run.code == 0, run.err
    return Explanation.model_validate_json(run.out)


def rules_of(explanation: Explanation) -> list[str]:
    return [finding.rule for finding in explanation.rules]


def probes_told(told: str) -> list[int]:
    """The probes in each line of progress; fails where a line is none."""
    lines = [
        re.fullmatch(r"([\d,]+)( / [\d,]+)? probes( \S.*)?; .*\d/s", line) for line in told.splitlines()
    ]
    assert all(lines), told
    return [int(line[1].replace(",", "")) for line in lines if line]


def assert_refused(run: Run, *said: str, before: str | None = None) -> None:
    """Exit code 2, nothing on stdout, one line on stderr that begins alike and says all of ``said``."""
    assert run.code == 2
    assert run.out == ""
    *earlier, line = run.err.splitlines()
    assert earlier == ([] if before is None else [before])
    assert line.startswith("rag-rules: ")
    assert "Traceback" not in run.err
    for each in said:
        assert each in line
