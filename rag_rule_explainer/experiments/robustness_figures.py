"""The paper's figures of robustness: precision and recall over the number of samples, by model."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from math import nan
from pathlib import Path
from typing import Literal

from ..printable import printable, shortened
from ..rules import RuleKind
from .figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, LineStyle, Panel, dress, new_figure, save
from .robustness_rows import RobustnessRow

Mean = Literal["micro", "macro"]

_MEANS: dict[Mean, str] = {
    "micro": "micro (the rules of all questions together)",
    "macro": "macro (mean over the questions)",
}
ROBUSTNESS_FIGURES = tuple([f"robustness_{mean}.png" for mean in _MEANS])
_MEASURES = "precision", "recall"
_COLOURS = BLUE, RED, GREEN, PURPLE, ORANGE, GREY
_MARKERS = "o", "s", "^", "D", "v", "P", "X"
_STYLES: tuple[LineStyle, ...] = "-", "--", "-.", ":"


def draw_robustness(rows: Sequence[RobustnessRow], subject: str, out: Path) -> Iterator[Path]:
    """A figure for micro, and one for macro, as it is written. Raises MissingExtra, InvalidInput."""
    if not rows:
        return
    for name, (mean, told) in zip(ROBUSTNESS_FIGURES, _MEANS.items(), strict=True):
        figure, panels = new_figure(f"Rules against labels, {told}", subject, panels=2, rows=2)
        wanted = [(kind, measure) for kind in RuleKind for measure in _MEASURES]
        for axes, (kind, measure) in zip(panels, wanted, strict=True):
            own = [row for row in rows if row.kind is kind]
            _draw(axes, own, f"{mean}_{measure}")
            counts = sorted({row.samples for row in own})
            dress(axes, "samples of each subset", f"{measure} of {kind.value} rules", places=counts)
            axes.set_ylim(-0.03, 1.03)
            if mean == "macro":
                axes.set_title(_left_out(own, measure), loc="right", fontsize=9, color=GREY)
        # Once for all panels, below them, where it hides nothing.
        panels[0].fill_between([], [], color=GREY, alpha=0.25, linewidth=0, label="95 % interval")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
        yield save(figure, out / name)


def _left_out(rows: Sequence[RobustnessRow], measure: str) -> str:
    """For how many questions it is undefined, at the least and at the most; empty where for none."""
    counts = sorted({getattr(row, f"{measure}_undefined") for row in rows})
    if not counts[-1]:
        return ""
    told = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return f"undefined for {told} of {max(row.questions for row in rows)} questions"


def _draw(axes: Panel, rows: Sequence[RobustnessRow], name: str) -> None:
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
