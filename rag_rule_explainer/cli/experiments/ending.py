"""This module prepares the folder of an experiment. At the end it writes, draws and prints the
results."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from ...errors import InvalidInput
from ...experiments.figures import new_figure
from ...experiments.judging import JUDGEMENTS
from ...experiments.list_judge import ListJudge
from ...experiments.models import Examined
from ...experiments.outcome import ExperimentOutcome
from ...predicates import Judge
from ...printable import printable, shortened
from ...settings import Settings
from ..terminal import print_lines, say

_TABLES = "efficiency.csv", "robustness.csv", "benchmark.csv", "redteam.csv"
"""The main tables of the experiments that also write failures.csv. A folder may have only one of them."""
_SHOWN = 5


def prepare(out: Path, table: str, *, figures: bool = False) -> None:
    """Makes and checks the folder for the results, before anything is paid for.

    ``table``: the name of the experiment's main table. ``figures``: True if figures are to be drawn.
    Raises MissingExtra if they cannot be drawn. Raises InvalidInput if the folder is not writable, or if
    it has the table of another experiment, because both would write files with the same names.
    """
    if figures:
        new_figure("", "")
    others = [name for name in _TABLES if name != table and (out / name).exists()]
    if others and table in _TABLES:
        raise InvalidInput(
            f"{out} has the {others[0]} of another experiment, whose other files would be written over; "
            f"give --out another folder (--store {out / 'answers.sqlite'} shares the answers)"
        )
    trial = out / f".{table}.{os.getpid()}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        trial.touch()
        trial.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{out} cannot be written to: {error.strerror}; give --out another folder"
        ) from error


@dataclass(frozen=True, slots=True)
class ExperimentEnding:
    """This class writes, draws and prints the results of one experiment.

    ``out``: the folder for the files. ``of``: the number of jobs, for the message after an interrupt.
    ``figures``: the file names of all figures that the experiment may draw. ``draw``: draws the figures;
    None if no figures are wanted. ``judged``: True if there was a judge; False if there was none, so that
    an old file of judgements is removed; None if the experiment never writes judgements. ``prompts``: a
    line that says which prompts were used; empty if no model was called.
    """

    out: Path
    of: int
    settings: Settings
    figures: Sequence[str]
    draw: Callable[[], Iterable[Path]] | None
    judged: bool | None = None
    prompts: str = ""

    def conclude(self, outcome: ExperimentOutcome, lines: Iterable[str], failed: str) -> typer.Exit:
        """Writes, draws and prints the results. Returns the exception that the caller raises to exit.

        ``lines``: the lines to print. ``failed``: the words to print after the number of failures. Raises
        InvalidInput if a file cannot be written or removed.
        """
        if outcome.interrupted:
            return interrupted(outcome.done, self.of, self.settings)
        files = ", ".join(outcome.write(self.out, judged=bool(self.judged)))
        # Files of an earlier run that this run does not write are removed. Users would otherwise take
        # them for results of this run.
        _discard(self.out, [*self.figures, *([JUDGEMENTS] if self.judged is False else [])])
        drawn = [path.name for path in self.draw()] if self.draw else []
        if len(self.figures) > 1:
            files += f" and {len(drawn)} figures"
        elif drawn:
            files += f", {drawn[0]}"
        written = f"written to {self.out}: {files}"
        used = [self.prompts] if self.prompts else []
        print_lines([*lines, *used, *_failures(outcome, failed), written])
        return typer.Exit(3 if outcome.failures else 0)


def interrupted(done: int, of: int, settings: Settings) -> typer.Exit:
    """Prints how to continue after Ctrl-C. Returns the exception that the caller raises to exit.

    ``done``, ``of``: the number of jobs that were done, and the number of all jobs.
    """
    store = settings.store
    kept = "" if store is None else f"; what was paid for is in {store.as_dict()['url']}"
    say(f"interrupted after {done:,} of {of:,}{kept}. Run the same command again to go on")
    return typer.Exit(130)


def costs(outcome: ExperimentOutcome, what: str, *, judged: bool = True) -> str:
    """Returns a line with the number of calls that an experiment made.

    ``what``: the beginning of the line, such as "20 questions". ``judged``: True if the line also has the
    number of requests to the judge.
    """
    line = f"{what}; {outcome.calls:,} model calls, {outcome.stored:,} answers out of the store"
    return line + (f", {outcome.judge_requests:,} requests to the judge" if judged else "")


def prompts_used(models: Sequence[Examined], judge: Judge | None = None) -> str:
    """Returns a phrase that says which prompts models and judge are sent; empty if no model is called."""
    names = list(dict.fromkeys(model.prompt for model in models if model.prompt))
    if isinstance(judge, ListJudge):
        names.append(f"{judge.prompt.name} for the judge")
    elif names and judge is not None:
        names.append("own for the judge")
    return f"prompt: {printable(', '.join(names))}" if names else ""


def parsed_range(written: str, complaint: str) -> tuple[int, int]:
    """Returns the first and the last number in a text such as "2-4". For "2", both numbers are 2.

    ``complaint``: the message of the InvalidInput that any other text raises.
    """
    low, dash, high = written.strip().partition("-")
    try:
        return int(low), int(high if dash else low)
    except ValueError as error:
        raise InvalidInput(complaint) from error


def cells(name: str, width: int, columns: Iterable[str], each: int) -> str:
    """Returns a line of a table: the name of the row, padded to ``width`` characters, and the texts in
    ``columns``, each padded to ``each`` characters."""
    return f"  {name:{width}}" + "".join(f"{cell:>{each}}" for cell in columns)


def _failures(outcome: ExperimentOutcome, head: str) -> Iterator[str]:
    if outcome.failures:
        yield f"{len(outcome.failures):,} {head}"
        for each in outcome.failures[:_SHOWN]:
            yield shortened(printable(f"  {each}"), 200)


def _discard(out: Path, names: Iterable[str]) -> None:
    for name in names:
        try:
            (out / name).unlink(missing_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"{out / name}, of an earlier run, cannot be removed: {error.strerror}; give --out "
                "another folder"
            ) from error
