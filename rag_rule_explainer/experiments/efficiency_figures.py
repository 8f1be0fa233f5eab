"""The paper's figures of efficiency, over the number of sources."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from .efficiency import EfficiencyRow
from .figures import BLUE, GREEN, GREY, ORANGE, RED, Curve, LineStyle, draw, dress, new_figure, save
from .walking import MinerName

X = "sources, |s|"
EXPLORED, TWO_HUNDRED, PREDICTIONS, RULES, SECONDS = EFFICIENCY_FIGURES = (
    "explored.png",
    "mono_against_dual.png",
    "predictions.png",
    "rules.png",
    "seconds.png",
)
_LATTICE = r"$2^{|s|}$ subsets"

_LOOKS: Mapping[MinerName, tuple[str, str, LineStyle, str]] = {
    MinerName.TWO_MONOS: ("two Monos", RED, "--", "v"),
    MinerName.DUAL_WITHOUT_MEMORY: ("Dual without memory", RED, "-.", "D"),
    MinerName.DUAL: ("Dual", GREEN, "-", "s"),
    # Where Dual visits everything too, the dots lie on its line.
    MinerName.EXHAUSTIVE: ("exhaustive", GREY, ":", "x"),
    MinerName.MONO_OMISSION: ("Mono, omission", ORANGE, "-", "^"),
    MinerName.MONO_RETENTION: ("Mono, retention", BLUE, "-", "o"),
}
_MONOS = MinerName.MONO_RETENTION, MinerName.MONO_OMISSION

Values = Mapping[int, Sequence[float]]


def draw_efficiency(rows: Sequence[EfficiencyRow], subject: str, out: Path) -> Iterator[Path]:
    """Each figure that the rows have something for, as it is written.

    ``subject``: what was measured, for the titles. Raises MissingExtra, InvalidInput.
    """
    if not rows:
        return
    table = _Table(rows, subject)
    yield from filter(
        None,
        (
            table.explored(out / EXPLORED),
            table.two_hundred(out / TWO_HUNDRED),
            table.predictions(out / PREDICTIONS),
            table.rules(out / RULES),
            table.seconds(out / SECONDS),
        ),
    )


class _Table:
    def __init__(self, rows: Sequence[EfficiencyRow], subject: str) -> None:
        self.subject = subject
        self.sizes = sorted({row.n for row in rows})
        self.rows: dict[MinerName, list[EfficiencyRow]] = {
            miner: [row for row in rows if (row.miner, row.kind) == (miner.family, miner.kind)]
            for miner in _LOOKS
        }

    def values(self, miner: MinerName, of: Callable[[EfficiencyRow], float | None]) -> Values:
        """By size, what each question has of it."""
        found = defaultdict[int, list[float]](list)
        for row in self.rows[miner]:
            value = of(row)
            if value is not None:
                found[row.n].append(value)
        return found

    def curves(
        self, of: Callable[[EfficiencyRow], float | None], miners: Sequence[MinerName] = tuple(_LOOKS)
    ) -> list[Curve]:
        made = list[Curve]()
        for miner in miners:
            name, colour, style, marker = _LOOKS[miner]
            values = self.values(miner, of)
            if values:
                made.append(Curve(name, colour, values, style, marker, band=miner in _MONOS))
        return made

    def explored(self, path: Path) -> Path | None:
        curves = self.curves(
            lambda row: row.explored, (MinerName.DUAL, MinerName.EXHAUSTIVE, *reversed(_MONOS))
        )
        return self._drawn(
            path, "Share of the lattice explored", curves, f"share of the {_LATTICE}", percent=True
        )

    def two_hundred(self, path: Path) -> Path | None:
        """Two Monos walk two lattices, Dual one; without memory it replays as much as they do."""
        parts = [self.values(miner, lambda row: row.explored) for miner in (*_MONOS, MinerName.DUAL)]
        repeats = self.values(MinerName.DUAL_WITHOUT_MEMORY, lambda row: row.repeated / (1 << row.n))
        if not all((*parts, repeats)):
            return None
        retention, omission, dual, repeated = (
            [fmean(part[size]) for size in self.sizes] for part in (*parts, repeats)
        )
        figure, (axes,) = new_figure("Two Monos against Dual", self.subject)
        left, right = ([size + shift for size in self.sizes] for shift in (-0.2, 0.2))
        width = 0.36
        axes.bar(left, retention, width, color=BLUE, label="Mono, retention")
        axes.bar(left, omission, width, bottom=retention, color=ORANGE, label="Mono, omission")
        axes.bar(right, dual, width, color=GREEN, label="Dual")
        axes.bar(
            right,
            repeated,
            width,
            bottom=dual,
            color="white",
            edgecolor=GREEN,
            hatch="////",
            linewidth=0.8,
            label="repeated without memory",
        )
        dress(axes, X, f"share of one lattice of {_LATTICE}", places=self.sizes, percent=True)
        axes.set_ylim(0, 2.0)
        axes.legend(frameon=False, fontsize=9, ncols=2, loc="upper right")
        return save(figure, path)

    def predictions(self, path: Path) -> Path | None:
        shown = tuple(miner for miner in _LOOKS if miner is not MinerName.DUAL_WITHOUT_MEMORY)
        curves = self.curves(lambda row: row.calls, shown)
        figure, (left, right) = new_figure("Predictions", self.subject, panels=2)
        for axes, scale in ((left, ""), (right, " (logarithmic)")):
            draw(axes, curves)
            dress(axes, X, f"model calls per question{scale}", places=self.sizes)
        left.set_ylim(bottom=0)
        right.set_yscale("log", base=2)
        dress(right, X, "model calls per question (logarithmic)", places=self.sizes)
        return save(figure, path)

    def rules(self, path: Path) -> Path | None:
        miners = (MinerName.DUAL, *reversed(_MONOS))
        everything = self.curves(lambda row: row.rules, miners)
        smallest = self.curves(lambda row: row.minimal_rules, miners)
        if not everything:
            return None
        figure, (left, right) = new_figure("Rules found", self.subject, panels=2)
        for axes, curves, what in ((left, everything, "all valid"), (right, smallest, "minimal")):
            draw(axes, curves)
            dress(axes, X, f"{what} rules per question", places=self.sizes)
            axes.set_ylim(bottom=0)
        return save(figure, path)

    def seconds(self, path: Path) -> Path | None:
        curves = self.curves(lambda row: row.seconds)
        what = "seconds per question, one call at a time"
        return self._drawn(path, "Time that the model takes", curves, what)

    def _drawn(
        self, path: Path, title: str, curves: list[Curve], y: str, *, percent: bool = False
    ) -> Path | None:
        if not curves:
            return None
        figure, (axes,) = new_figure(title, self.subject)
        draw(axes, curves)
        dress(axes, X, y, places=self.sizes, percent=percent)
        axes.set_ylim(bottom=0)
        return save(figure, path)
