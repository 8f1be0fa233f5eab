"""What comes of an experiment: tables that say what files they belong in, what failed, and the costs."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .judging import JUDGEMENTS, JudgedAnswer
from .tables import write_csv, write_jsonl

FAILURES = "failures.csv"


def written_to(file: str, shape: type | tuple[str, ...] = ()) -> Any:
    """Returns a list of rows as a field of an outcome. ``file``: a ``.csv`` of such columns, or a
    ``.jsonl`` of such keys, or of all."""
    return field(default_factory=list[Any], metadata={"file": file, "shape": shape})


@dataclass(frozen=True, slots=True)
class Failure:
    """What is in no figure, and the ``reason``. The other fields say what it is, as far as they apply."""

    reason: str
    question_id: str = ""
    setting: str = ""
    model: str = ""
    temperature: float | None = None
    samples: int | None = None
    run: int | None = None
    approach: str = ""

    def __str__(self) -> str:
        run = "" if self.run is None else f"run {self.run}"
        samples = "" if self.samples is None else f"{self.samples} samples"
        parts = run, self.approach, self.question_id, self.model, samples
        return f"{', '.join(filter(None, parts))}: {self.reason}"


@dataclass(slots=True)
class ExperimentOutcome:
    """``done``: how much was looked at. ``calls``: of the models in this run, retries included;
    ``stored``: answers that the store had. ``judged``: what near-exact match left to a judge.
    ``interrupted``: by Ctrl-C, so that there is more to do, and what is there is not all."""

    failures: list[Failure] = field(default_factory=list[Failure])
    judged: list[JudgedAnswer] = field(default_factory=list[JudgedAnswer])
    done: int = 0
    calls: int = 0
    stored: int = 0
    judge_requests: int = 0
    interrupted: bool = False

    def charge(self, calls: int, stored: int, judge_requests: int = 0) -> None:
        """Adds what was paid for a part of it."""
        self.calls += calls
        self.stored += stored
        self.judge_requests += judge_requests

    def write(self, out: Path, *, judged: bool = False) -> list[str]:
        """Writes every table; with ``judged``, what a judge said as well. Returns the files' names, but
        for that of the failures. Raises InvalidInput."""
        files = list(self._files())
        for name, shape, rows in files:
            if name.endswith(".csv"):
                write_csv(out / name, shape, rows)
            else:
                write_jsonl(out / name, rows, shape)
        if judged:
            write_jsonl(out / JUDGEMENTS, (each.model_dump(mode="json") for each in self.judged))
        return [name for name, _, _ in files if name != FAILURES]

    def _files(self) -> Iterator[tuple[str, Any, list[Any]]]:
        for each in fields(self):
            if "file" in each.metadata:
                yield each.metadata["file"], each.metadata["shape"], getattr(self, each.name)
