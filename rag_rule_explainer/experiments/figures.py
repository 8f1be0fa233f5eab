"""This module contains the layout and the colours that all figures have in common. It changes no global
state of Matplotlib, so a user's own figures look as before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, TypeAlias

from ..errors import MissingExtra
from ..printable import printable, shortened
from .tables import write_bytes

BLUE, ORANGE, GREEN, RED, PURPLE, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#6b6b6b",
)
"""Colours that colour-blind readers can distinguish (Okabe and Ito)."""

LineStyle = Literal["-", "--", ":", "-."]
_STYLES: tuple[LineStyle, ...] = "-", "--", "-.", ":"
FigureCanvas: TypeAlias = Any
"""The type of Matplotlib's ``Figure``. It is Any, because most parameters of Matplotlib have no types."""
Panel: TypeAlias = Any
"""The type of Matplotlib's ``Axes``, a part of a figure with its own axes. It is Any, because most
parameters of Matplotlib have no types."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A ``Curve`` is one line in a panel. ``values``: for each x, the values of all questions, whose mean
    is drawn. ``band``: True if the range of the middle half of these values is drawn too."""

    name: str
    colour: str
    values: Mapping[int, Sequence[float]]
    style: LineStyle = "-"
    marker: str = "o"
    band: bool = False


def new_figure(
    title: str, subject: str, panels: int = 1, rows: int = 1
) -> tuple[FigureCanvas, list[Panel]]:
    """Returns an empty figure, and its panels: ``rows`` rows with ``panels`` panels each.

    ``subject``: the words under the title, which say what was measured. Raises MissingExtra if Matplotlib
    is not installed.
    """
    try:
        from matplotlib.figure import (
            Figure,  # imported late: Matplotlib is optional, and its import takes half a second
        )
    except ImportError as error:
        raise MissingExtra.naming("experiments", "drawing figures") from error
    figure: FigureCanvas = Figure(figsize=(6.4 * panels, 4.4 * rows), dpi=150, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", parse_math=False)
    axes = [figure.add_subplot(rows, panels, place) for place in range(1, panels * rows + 1)]
    # A model's name is untrusted text and must not be parsed as a formula.
    line = shortened(printable(subject), 100)
    axes[0].set_title(line, loc="left", fontsize=9, color=GREY, parse_math=False)
    return figure, axes


def draw_curves(axes: Panel, curves: Sequence[Curve]) -> None:
    """Draws the mean of each curve; for a curve with a ``band``, also the range of the middle half of its
    values. Adds a legend."""
    banded = False
    for curve in curves:
        places = sorted(curve.values)
        means = [fmean(curve.values[place]) for place in places]
        looks = {"marker": curve.marker, "markersize": 4.5, "linewidth": 1.8}
        axes.plot(places, means, curve.style, color=curve.colour, label=curve.name, **looks)
        low, high = ([_quantile(curve.values[x], share) for x in places] for share in (0.25, 0.75))
        if curve.band and low != high:
            axes.fill_between(places, low, high, color=curve.colour, alpha=0.15, linewidth=0)
            banded = True
    if banded:
        label = "middle half of the questions"
        axes.fill_between([], [], color=GREY, alpha=0.25, linewidth=0, label=label)
    axes.legend(frameon=False, fontsize=9)


def dress(axes: Panel, x: str, y: str, *, places: Sequence[int] = (), percent: bool = False) -> None:
    """Sets the labels ``x`` and ``y`` of the axes, and draws a light grid. ``places``: the whole numbers
    that the x axis shows; empty to leave the x axis unchanged. ``percent``: True if the y axis shows
    percentages."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if places:
        axes.set_xticks(list(places))
        # The limits are set so that all panels get the same x axis, even if one lacks data for some
        # numbers.
        axes.set_xlim(min(places) - 0.5, max(places) + 0.5)
    axes.yaxis.set_major_formatter(as_share if percent else _as_number)
    axes.grid(axis="y", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def as_share(value: float, _: object) -> str:
    """Returns a share as a percentage, for the label of an axis."""
    return f"{value:.0%}"


def _as_number(value: float, _: object) -> str:
    return f"{value:,g}"


def save(figure: FigureCanvas, path: Path) -> Path:
    """Writes the figure as PNG and returns the path. Drawing the same figure again gives the same bytes.
    Raises InvalidInput if the file cannot be written."""
    content = BytesIO()
    # By default, the file names the version of Matplotlib. This is left out, because an update of
    # Matplotlib would otherwise change the bytes.
    figure.savefig(content, format="png", metadata={"Software": None})
    write_bytes(path, content.getvalue())
    return path


FigureSubject: TypeAlias = tuple[str, float | None]
"""The name of a model, and its temperature; None if it has none."""


def looks_of(
    subjects: Sequence[FigureSubject],
) -> Iterator[tuple[FigureSubject, str, str, LineStyle, str]]:
    """Yields each model with its name for a legend, its colour, its line style and its marker, by which
    readers can distinguish the models."""
    colours, markers = (BLUE, RED, GREEN, PURPLE, ORANGE, GREY), "os^DvPX"
    looks = zip(subjects, cycle(colours), cycle(markers), strict=False)
    for place, ((model, temperature), colour, marker) in enumerate(looks):
        # A model's name is untrusted text and must not be parsed as a formula.
        name = shortened(printable(model), 40).replace("$", r"\$")
        label = name if temperature is None else f"{name}, temperature {temperature:g}"
        yield (model, temperature), label, colour, _STYLES[place % len(_STYLES)], marker


def legend_below(figure: FigureCanvas, panel: Panel, columns: int, **looks: object) -> None:
    """Draws one legend for the whole figure, below its panels. ``panel``: the panel whose lines are
    named. ``columns``: the number of names side by side. ``looks``: options of Matplotlib's ``legend``
    that this function does not set."""
    handles = panel.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=columns, frameon=False, **looks)


def _quantile(values: Sequence[float], share: float) -> float:
    """Returns the value below which the share ``share`` of the values lies. It is interpolated linearly
    between the two nearest values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
