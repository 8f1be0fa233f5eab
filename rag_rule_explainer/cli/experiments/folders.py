"""The folder that an experiment writes to: one run of one experiment is in it."""

import os
from collections.abc import Iterable
from pathlib import Path

from ...errors import InvalidInput

STORE = "answers.sqlite"
"""The store in --out, where no other is named."""
_TABLES = "efficiency.csv", "robustness.csv", "benchmark.csv", "redteam.csv"
"""Of the experiments that all write failures.csv."""


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
