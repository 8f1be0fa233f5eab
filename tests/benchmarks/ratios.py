"""The rows of the one table that the benchmarks print."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """What was measured, as a ratio of two things measured in one run, and what it is to be at most.

    ``spread``: of single pairs, or what else there is to say of how it was measured.
    """

    title: str
    ratio: float
    bar: float | None
    spread: str

    @property
    def verdict(self) -> str:
        """Whether the bar is reached."""
        return "" if self.bar is None else "yes" if self.ratio <= self.bar else "NO"


ROWS: list[Row] = []
STUDIES: dict[str, list[tuple[str, ...]]] = {}
"""Tables of their own, by title: a heading, then rows."""


def tell(title: str, ratio: float, bar: float | None = None, spread: str = "") -> None:
    """Adds a row."""
    ROWS.append(Row(title, ratio, bar, spread))


def show(
    title: str, other: str, ours: list[float], theirs: list[float], bar: float | None = None
) -> None:
    """Adds a row for two series that were taken in turns: the medians' ratio, and that of single
    pairs."""
    pairs = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    ratio = statistics.median(ours) / statistics.median(theirs)
    told = (
        f"pairs {pairs[0]:.2f} to {pairs[-1]:.2f}; {1000 * statistics.median(ours):.1f} ms "
        f"against {other}'s {1000 * statistics.median(theirs):.1f} ms"
    )
    tell(title, ratio, bar, told)


def table(rows: list[Row]) -> list[str]:
    """The rows as lines of text."""
    cells = [("", "ratio", "at most", "", "how far it spreads")]
    for row in rows:
        bar = "" if row.bar is None else f"{row.bar:g}"
        cells.append((row.title, f"{row.ratio:.2f}", bar, row.verdict, row.spread))
    return aligned(cells, ("<", ">", ">", "<", "<"))


def aligned(cells: Sequence[tuple[str, ...]], sides: Sequence[str]) -> list[str]:
    """Lines of cells, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True))
        for line in cells
    ]
