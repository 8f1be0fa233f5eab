"""Running ``rag-rules``, and looking at how it ended."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rag_rule_explainer import Explanation

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


def subprocess_of(
    *arguments: object, env: Mapping[str, str] | None = None, stdout: IO[str] | None = None
) -> "subprocess.Popen[str]":
    # A process started in the background of a shell ignores Ctrl-C unless it says otherwise.
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{listening}; from rag_rule_explainer.cli import main; main()"
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
    out, err = process.communicate(timeout=60)
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
