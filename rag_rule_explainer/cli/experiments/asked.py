"""Who the shared options name, where answers are kept, and how an experiment ends early."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import typer

from ...errors import InvalidInput
from ...experiments.models import KEY, Endpoint, Examined, offline_reader
from ...predicates import Judge
from ...storing.store import Store
from ..terminal import say

STORE = "answers.sqlite"
"""The name of the store in --out."""
_TABLES = "efficiency.csv", "robustness.csv", "benchmark.csv", "redteam.csv"
"""Of the experiments that all write failures.csv."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options about models under test, as they were given."""

    models: tuple[str, ...]
    base_url: str | None = None
    key: str = KEY
    temperature: float | None = 1.0
    max_tokens: int | None = 100
    reasoning_effort: str | None = None

    def examined(self) -> tuple[Examined, ...]:
        """The models named; the offline reader where none is. Raises InvalidInput, MissingExtra."""
        if not self.models:
            given = {"--base-url": self.base_url, "--reasoning-effort": self.reasoning_effort}
            for option, value in given.items():
                if value is not None:
                    # Otherwise the offline reader would answer, and be taken for that endpoint.
                    raise InvalidInput(f"{option} goes with --model only; name one, or leave it out")
            return (offline_reader(),)
        settings = self.temperature, self.max_tokens, self.reasoning_effort
        usual = Endpoint("unnamed", self.base_url, self.key, *settings)
        return tuple([Endpoint.of(written, usual).examined() for written in self.models])


def judge_named(model: str | None, base_url: str | None, key: str) -> Judge | None:
    """The judge that the options name: its temperature and the length of what it says are left to it.

    Raises InvalidInput, MissingExtra.
    """
    if model is None:
        if base_url is not None:
            raise InvalidInput("--judge-base-url goes with --judge-model only; name the judge as well")
        return None
    usual = Endpoint("unnamed", base_url, key, temperature=None, max_tokens=None)
    return Endpoint.of(model, usual).judge()


def store_of(url: str | None, out: Path, namespace: str) -> Store:
    """The store that is named, else the one in ``out``. Raises InvalidInput."""
    return Store(str(out / STORE) if url is None else url, namespace)


def prepare(out: Path, table: str) -> None:
    """Makes the folder that ``table`` is to be in, before anything is paid for.

    Raises InvalidInput where nothing can be written there, and where the tables of another experiment
    are: some files of both have the same names.
    """
    others = [name for name in _TABLES if name != table and (out / name).exists()]
    if others and table in _TABLES:
        raise InvalidInput(
            f"{out} has the {others[0]} of another experiment, whose other files would be written over; "
            f"give --out another folder (--store {out / STORE} shares the answers)"
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


def discard(out: Path, names: Iterable[str]) -> None:
    """Removes what an earlier run has left in ``out``, and would be taken for this one's.

    Raises InvalidInput."""
    for name in names:
        try:
            (out / name).unlink(missing_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"{out / name}, of an earlier run, cannot be removed: {error.strerror}; give --out "
                "another folder"
            ) from error


def interrupted(done: int, of: int, store: Store | None) -> typer.Exit:
    """Says how to go on after Ctrl-C, and is the exit to raise."""
    kept = "" if store is None else f"; what was paid for is in {store.as_dict()['url']}"
    say(f"interrupted after {done:,} of {of:,}{kept}. Run the same command again to go on")
    return typer.Exit(130)
