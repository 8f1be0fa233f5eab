"""The paper's figures of robustness: precision and recall over the number of samples, by model."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from math import nan
from pathlib import Path
from typing import Literal

from ..printable import printable, shortened
from ..rules import RuleKind
from .figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, LineStyle, Panel, dress, new_figure, save
from .robustness_rows import Row

Mean = Literal["micro", "macro"]

_MEANS: dict[Mean, str] = {
    "micro": "micro (the rules of all questions together)",
    "macro": "macro (mean over the questions)",
}
_MEASURES = "precision", "recall"
_COLOURS = BLUE, RED, GREEN, PURPLE, ORANGE, GREY
_MARKERS = "o", "s", "^", "D", "v", "P", "X"
_STYLES: tuple[LineStyle, ...] = "-", "--", "-.", ":"


def draw_robustness(rows: Sequence[Row], subject: str, out: Path) -> Iterator[Path]:
    """A figure for micro, and one for macro, as it is written. Raises MissingExtra, InvalidInput."""
    if not rows:
        return
    for mean, told in _MEANS.items():
        figure, panels = new_figure(f"Rules against labels, {told}", subject, panels=2, rows=2)
        wanted = [(kind, measure) for kind in RuleKind for measure in _MEASURES]
        for axes, (kind, measure) in zip(panels, wanted, strict=True):
            own = [row for row in rows if row.kind is kind]
            _draw(axes, own, f"{mean}_{measure}")
            counts = sorted({row.samples for row in own})
            dress(axes, "samples of each subset", f"{measure} of {kind.value} rules", places=counts)
            axes.set_ylim(-0.03, 1.03)
        panels[0].legend(frameon=False, fontsize=9, loc="lower right")
        yield save(figure, out / f"robustness_{mean}.png")


def _draw(axes: Panel, rows: Sequence[Row], name: str) -> None:
    subjects = list(dict.fromkeys((row.model, row.temperature) for row in rows))
    looks = zip(subjects, cycle(_COLOURS), cycle(_MARKERS), cycle(_STYLES), strict=False)
    for place, (subject, colour, marker, style) in enumerate(looks):
        own = sorted(
            (row for row in rows if (row.model, row.temperature) == subject), key=lambda row: row.samples
        )
        # A little apart, or equal ones would hide each other.
        shift = 0.08 * (place - (len(subjects) - 1) / 2)
        # What is undefined leaves a gap.
        value, low, high = (
            [nan if (found := getattr(row, f"{name}{end}")) is None else found for row in own]
            for end in ("", "_low", "_high")
        )
        places = [row.samples + shift for row in own]
        axes.plot(
            places,
            value,
            style,
            color=colour,
            marker=marker,
            markersize=4.5,
            linewidth=1.6,
            label=_told(*subject),
        )
        axes.fill_between(places, low, high, color=colour, alpha=0.1, linewidth=0)


def _told(model: str, temperature: float | None) -> str:
    name = shortened(printable(model), 40).replace("$", r"\$")
    return name if temperature is None else f"{name}, temperature {temperature:g}"
