"""This module computes the figures of the judge study, and draws them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..checking import JudgeCheck, Share
from .figures import BLUE, as_share, dress, new_figure, save

JUDGE_FIGURE = "judge.png"


@dataclass(frozen=True, slots=True)
class Figure:
    """A ``Figure`` is one row of ``judge.csv``: the name of a share (``figure``), its value ``count`` /
    ``of``, and its 95 % interval. ``value``, ``low`` and ``high`` are None if ``of`` is 0."""

    figure: str
    value: float | None
    low: float | None
    high: float | None
    count: int
    of: int


def judge_rows(checked: JudgeCheck) -> Iterator[Figure]:
    """Yields the judge's precision, recall and false positive rate."""
    shares: Mapping[str, Share] = {
        "precision": checked.precision,
        "recall": checked.recall,
        "false_positive_rate": checked.false_positive_rate,
    }
    for name, share in shares.items():
        yield Figure(name, share.value, share.low, share.high, share.count, share.of)


def draw_judge(rows: Sequence[Figure], subject: str, out: Path) -> Iterator[Path]:
    """Draws each figure as a point with its 95 % interval. Figures without a value are left out. Raises
    MissingExtra, and InvalidInput if the file cannot be written. ``subject``: the words under the
    title."""
    shown = [row for row in rows if row.value is not None]
    if not shown:
        return
    drawn, (panel,) = new_figure("The judge against a person", subject)
    for place, row in enumerate(shown):
        panel.hlines(place, row.low, row.high, color=BLUE, linewidth=2)
        panel.plot(row.value, place, "o", color=BLUE, markersize=7)
    dress(panel, "share, with its 95 % interval", "")
    names = [f"{row.figure.replace('_', ' ')}\n{row.count:,} of {row.of:,}" for row in shown]
    panel.set_yticks(range(len(shown)), names)
    panel.set_ylim(len(shown) - 0.5, -0.5)
    panel.set_xlim(-0.02, 1.02)
    panel.xaxis.set_major_formatter(as_share)
    yield save(drawn, out / JUDGE_FIGURE)
