"""The figure of a benchmark of models: each measure as a point with its interval."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

from ..printable import printable, shortened
from .benchmark_rows import ALL, BenchmarkRow
from .figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, Panel, as_share, dress, new_figure, save
from .measures import GROUPS, NOTHING, RULES, WITH

BENCHMARK_FIGURES = ("benchmark.png",)
_COLOURS = BLUE, RED, GREEN, PURPLE, ORANGE, GREY
_MARKERS = "o", "s", "^", "D", "v", "P", "X"
_LEFT = RULES, WITH, NOTHING
_INCHES = 0.31
"""A line's height."""


def draw_benchmark(rows: Sequence[BenchmarkRow], subject: str, out: Path) -> Iterator[Path]:
    """The figure, where there are rows; measures with nothing to have a share of are left out.

    ``subject``: for its title. Raises MissingExtra, InvalidInput.
    """
    shown = [row for row in rows if row.necessary == ALL and row.rate is not None]
    if not shown:
        return
    models = list(dict.fromkeys((row.model, row.temperature) for row in shown))
    figure, panels = new_figure("How far models do what labels imply", subject, 2)
    sides = [[row for row in shown if (row.group in _LEFT) is is_left] for is_left in (True, False)]
    most = max(len({row.measure for row in side}) + len({row.group for row in side}) for side in sides)
    figure.set_size_inches(13.6, 1.5 + _INCHES * (most + 0.6 * len(models)))
    for panel, side in zip(panels, sides, strict=True):
        _draw(panel, side, models)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    yield save(figure, out / BENCHMARK_FIGURES[0])


def _draw(panel: Panel, rows: Sequence[BenchmarkRow], models: Sequence[tuple[str, float | None]]) -> None:
    groups = [group for group in GROUPS if any(row.group == group for row in rows)]
    names = [
        name
        for group in groups
        for name in (group, *dict.fromkeys(row.measure for row in rows if row.group == group))
    ]
    places = {name: place for place, name in enumerate(names)}
    for number, (model, colour, marker) in enumerate(
        zip(models, cycle(_COLOURS), cycle(_MARKERS), strict=False)
    ):
        own = [row for row in rows if (row.model, row.temperature) == model]
        # A little apart, or equal ones would hide each other.
        shift = 0.5 * (number - (len(models) - 1) / 2) / len(models)
        at = [places[row.measure] + shift for row in own]
        rates, low, high = ([getattr(row, end) for row in own] for end in ("rate", "low", "high"))
        panel.hlines(at, low, high, color=colour, linewidth=1.6)
        panel.plot(rates, at, marker, color=colour, markersize=5, label=_told(*model))
    dress(panel, "rate, with its 95 % interval over questions", "")
    panel.set_yticks(range(len(names)), names)
    for label in panel.get_yticklabels():
        is_group = label.get_text() in groups
        label.set_fontweight("bold" if is_group else "normal")
        label.set_fontsize(9)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.set_xlim(-0.02, 1.02)
    panel.xaxis.set_major_formatter(as_share)
    panel.grid(axis="x", color="#dddddd", linewidth=0.7)
    panel.tick_params(axis="y", length=0)


def _told(model: str, temperature: float | None) -> str:
    name = shortened(printable(model), 40).replace("$", r"\$")
    return name if temperature is None else f"{name}, temperature {temperature:g}"
