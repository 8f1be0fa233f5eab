"""This module defines the parts that the results of all experiments have: tables, failures and costs."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .judging import JUDGEMENTS, JudgedAnswer
from .tables import write_csv, write_jsonl

FAILURES = "failures.csv"


def written_to(file: str, shape: type | tuple[str, ...] = ()) -> Any:
    """Returns a dataclass field for a list of rows, which ``ExperimentOutcome.write`` writes to
    ``file``. ``shape``: the columns of a ``.csv`` file, or the keys of a ``.jsonl`` file. If it is
    empty, all keys are written, which only a ``.jsonl`` file allows."""
    return field(default_factory=list[Any], metadata={"file": file, "shape": shape})


@dataclass(frozen=True, slots=True)
class Failure:
    """A ``Failure`` is a job of an experiment, such as a question, that failed and is not counted in the
    results. ``reason``: why it failed. The other fields identify the job."""

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
    """An ``ExperimentOutcome`` holds the results that all experiments have.

    ``failures``: the jobs that failed. ``done``: the number of jobs done. ``calls``: the model calls of
    this run of the experiment, including retries. ``stored``: the number of answers that came from the
    store instead. ``judged``: the judge's judgements, for answers that near-exact match could not settle.
    ``judge_requests``: the number of requests to the judge. ``interrupted``: True if Ctrl-C ended the
    experiment, so that the results are incomplete.
    """

    failures: list[Failure] = field(default_factory=list[Failure])
    judged: list[JudgedAnswer] = field(default_factory=list[JudgedAnswer])
    done: int = 0
    calls: int = 0
    stored: int = 0
    judge_requests: int = 0
    interrupted: bool = False

    def charge(self, calls: int, stored: int, judge_requests: int = 0) -> None:
        """Adds the costs of one job to the totals. ``calls``: the model calls that were made.
        ``stored``: the answers that came from the store, for which no call was made. ``judge_requests``:
        the requests to the judge."""
        self.calls += calls
        self.stored += stored
        self.judge_requests += judge_requests

    def write(self, out: Path, *, judged: bool = False) -> list[str]:
        """Writes every table to the folder ``out``. Returns the names of the files, except that of the
        failures. ``judged``: True to write the judge's judgements too. Raises InvalidInput if a file
        cannot be written."""
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
