"""This module draws the figures of the paper's evaluations from the rows of each experiment. Each
``draw_...`` function writes figures to the folder ``out`` and yields their paths; without rows, it writes
none. ``subject``: the words under the title. Each raises MissingExtra without Matplotlib, and
InvalidInput if a file cannot be written."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import nan
from pathlib import Path
from statistics import fmean

from ..rules import RuleKind
from .benchmark_rows import ALL, BenchmarkRow
from .efficiency import EfficiencyRow
from .figures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    Curve,
    FigureSubject,
    LineStyle,
    Panel,
    as_share,
    draw_curves,
    dress,
    legend_below,
    looks_of,
    new_figure,
    save,
)
from .measures import GROUPS, NOTHING, RULES, WITH
from .redteam import ANSWERS_KEPT, AS_WRITTEN, SAMPLED, RedTeamRound, RedteamRow
from .robustness_rows import RobustnessRow
from .walking import WalkedMiner

BENCHMARK_FIGURE, REDTEAM_FIGURE, _BARS = "benchmark.png", "redteam.png", "mono_against_dual.png"
EFFICIENCY_FIGURES = ("explored.png", _BARS, "predictions.png", "rules.png", "seconds.png")
ROBUSTNESS_FIGURES = ("robustness_micro.png", "robustness_macro.png")

_SOURCES, _LATTICE = "sources, |s|", r"$2^{|s|}$ subsets"
_LOOKS: Mapping[WalkedMiner, tuple[str, str, LineStyle, str]] = {
    WalkedMiner.TWO_MONOS: ("two Monos", RED, "--", "v"),
    WalkedMiner.DUAL_WITHOUT_MEMORY: ("Dual without memory", RED, "-.", "D"),
    WalkedMiner.DUAL: ("Dual", GREEN, "-", "s"),
    # This dotted line is drawn over that of Dual, so that both can be seen where they are equal.
    WalkedMiner.EXHAUSTIVE: ("exhaustive", GREY, ":", "x"),
    WalkedMiner.MONO_OMISSION: ("Mono, omission", ORANGE, "-", "^"),
    WalkedMiner.MONO_RETENTION: ("Mono, retention", BLUE, "-", "o"),
}
_MONOS = WalkedMiner.MONO_OMISSION, WalkedMiner.MONO_RETENTION
_REMEMBERING = tuple([miner for miner in _LOOKS if miner is not WalkedMiner.DUAL_WITHOUT_MEMORY])
_CALLS, _BY_LOGARITHM = "model calls per question", "model calls per question (logarithmic)"
_Side = tuple[str, str, Sequence[WalkedMiner]]
_SIDES: Mapping[str, tuple[str, Sequence[_Side]]] = {
    "explored.png": (
        "Share of the lattice explored",
        [(f"share of the {_LATTICE}", "explored", (WalkedMiner.DUAL, WalkedMiner.EXHAUSTIVE, *_MONOS))],
    ),
    "predictions.png": (
        "Predictions",
        [(_CALLS, "calls", _REMEMBERING), (_BY_LOGARITHM, "calls", _REMEMBERING)],
    ),
    "rules.png": (
        "Rules found",
        [
            ("all valid rules per question", "rules", (WalkedMiner.DUAL, *_MONOS)),
            ("minimal rules per question", "minimal_rules", (WalkedMiner.DUAL, *_MONOS)),
        ],
    ),
    "seconds.png": (
        "Time that the model takes",
        [("seconds per question, one call at a time", "seconds", tuple(_LOOKS))],
    ),
}
"""The figures with curves: the title, and for each panel the label, the column and the miners."""

_NAMES = {
    AS_WRITTEN: "divide and conquer,\nas the paper writes it",
    ANSWERS_KEPT: "divide and conquer,\nanswers kept",
    SAMPLED: "sampled search",
}
_STYLES: Mapping[str, tuple[LineStyle, str]] = {AS_WRITTEN: ("-", "o"), ANSWERS_KEPT: ("--", "s")}
_COLOURS = {AS_WRITTEN: "#56B4E9", ANSWERS_KEPT: GREEN, SAMPLED: ORANGE}


def draw_efficiency(rows: Sequence[EfficiencyRow], subject: str, out: Path) -> Iterator[Path]:
    """Draws nodes, calls, rules and seconds, each over the number of sources, if the rows have them."""
    sizes = sorted({row.n for row in rows})
    for file in EFFICIENCY_FIGURES:
        if file == _BARS:
            yield from _draw_bars(rows, sizes, subject, out / file)
            continue
        title, sides = _SIDES[file]
        curves = [list(_curves(rows, column, miners)) for _, column, miners in sides]
        if not any(curves):
            continue
        figure, panels = new_figure(title, subject, len(sides))
        for axes, (label, column, _), drawn in zip(panels, sides, curves, strict=True):
            draw_curves(axes, drawn)
            if label == _BY_LOGARITHM:
                axes.set_yscale("log", base=2)
            dress(axes, _SOURCES, label, places=sizes, percent=column == "explored")
            if label != _BY_LOGARITHM:
                axes.set_ylim(bottom=0)
        yield save(figure, out / file)


def _values(
    rows: Sequence[EfficiencyRow], miner: WalkedMiner, of: Callable[[EfficiencyRow], float | None]
) -> Mapping[int, Sequence[float]]:
    """Returns, by number of sources, the results of ``of`` for the miner's rows. Leaves out None."""
    found = defaultdict[int, list[float]](list)
    for row in rows:
        if (row.miner, row.kind) == (miner.family, miner.kind) and (value := of(row)) is not None:
            found[row.n].append(value)
    return found


def _curves(rows: Sequence[EfficiencyRow], column: str, miners: Sequence[WalkedMiner]) -> Iterator[Curve]:
    for miner in miners:
        name, colour, style, marker = _LOOKS[miner]
        values = _values(rows, miner, lambda row: getattr(row, column))
        if values:
            yield Curve(name, colour, values, style, marker, band=miner in _MONOS)


def _draw_bars(
    rows: Sequence[EfficiencyRow], sizes: Sequence[int], subject: str, path: Path
) -> Iterator[Path]:
    """Draws how many nodes the two Mono Rule Miners visit, beside how many the Dual Rule Miner visits."""
    parts = [_values(rows, miner, lambda row: row.explored) for miner in (*_MONOS, WalkedMiner.DUAL)]
    without = WalkedMiner.DUAL_WITHOUT_MEMORY
    parts.append(_values(rows, without, lambda row: row.repeated / (1 << row.n)))
    if not all(parts):
        return
    omission, retention, dual, repeated = ([fmean(part[size]) for size in sizes] for part in parts)
    figure, (axes,) = new_figure("Two Monos against Dual", subject)
    left, right = ([size + shift for size in sizes] for shift in (-0.2, 0.2))
    width = 0.36
    axes.bar(left, retention, width, color=BLUE, label="Mono, retention")
    axes.bar(left, omission, width, bottom=retention, color=ORANGE, label="Mono, omission")
    axes.bar(right, dual, width, color=GREEN, label="Dual")
    hatched = {"color": "white", "edgecolor": GREEN, "hatch": "////", "linewidth": 0.8}
    axes.bar(right, repeated, width, bottom=dual, label="repeated without memory", **hatched)
    dress(axes, _SOURCES, f"share of one lattice of {_LATTICE}", places=sizes, percent=True)
    axes.set_ylim(0, 2.0)
    axes.legend(frameon=False, fontsize=9, ncols=2, loc="upper right")
    yield save(figure, path)


def draw_robustness(rows: Sequence[RobustnessRow], subject: str, out: Path) -> Iterator[Path]:
    """Draws precision and recall over the number of samples, for each model. Micro rates and macro rates
    get a figure each."""
    titles = "micro (the rules of all questions together)", "macro (mean over the questions)"
    for file, title in zip(ROBUSTNESS_FIGURES if rows else (), titles, strict=bool(rows)):
        figure, panels = new_figure(f"Rules against labels, {title}", subject, panels=2, rows=2)
        wanted = [(kind, measure) for kind in RuleKind for measure in ("precision", "recall")]
        for axes, (kind, measure) in zip(panels, wanted, strict=True):
            own = [row for row in rows if row.kind is kind]
            _draw_rates(axes, own, f"{title[:5]}_{measure}")
            counts = sorted({row.samples for row in own})
            dress(axes, "samples of each subset", f"{measure} of {kind.value} rules", places=counts)
            axes.set_ylim(-0.03, 1.03)
            if title.startswith("macro"):
                axes.set_title(_left_out(own, measure), loc="right", fontsize=9, color=GREY)
        panels[0].fill_between([], [], color=GREY, alpha=0.25, linewidth=0, label="95 % interval")
        legend_below(figure, panels[0], 4, fontsize=9)
        yield save(figure, out / file)


def _left_out(rows: Sequence[RobustnessRow], measure: str) -> str:
    """Returns a note with the number of questions without a value of the measure; an empty text for 0."""
    counts = sorted({getattr(row, f"{measure}_undefined") for row in rows})
    if not counts[-1]:
        return ""
    counted = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    return f"undefined for {counted} of {max(row.questions for row in rows)} questions"


def _draw_rates(axes: Panel, rows: Sequence[RobustnessRow], name: str) -> None:
    subjects = list(dict.fromkeys((row.model, row.temperature) for row in rows))
    for place, (subject, label, colour, style, marker) in enumerate(looks_of(subjects)):
        own = [row for row in rows if (row.model, row.temperature) == subject]
        own.sort(key=lambda row: row.samples)
        # Points with equal values are shifted a little, so that all of them stay visible.
        shift = 0.08 * (place - (len(subjects) - 1) / 2)
        # Nothing is drawn at nan, so an undefined value leaves a gap.
        value, low, high = (
            [nan if (found := getattr(row, f"{name}{end}")) is None else found for row in own]
            for end in ("", "_low", "_high")
        )
        places = [row.samples + shift for row in own]
        looks = {"marker": marker, "markersize": 4.5, "linewidth": 1.6}
        axes.plot(places, value, style, color=colour, label=label, **looks)
        axes.fill_between(places, low, high, color=colour, alpha=0.1, linewidth=0)


def draw_benchmark(rows: Sequence[BenchmarkRow], subject: str, out: Path) -> Iterator[Path]:
    """Draws each measure as a point with its interval. Measures without a value are left out."""
    shown = [row for row in rows if row.necessary == ALL and row.rate is not None]
    if not shown:
        return
    models = list(dict.fromkeys((row.model, row.temperature) for row in shown))
    figure, panels = new_figure("How far models do what labels imply", subject, 2)
    left = RULES, WITH, NOTHING
    sides = [[row for row in shown if (row.group in left) is is_left] for is_left in (True, False)]
    most = max(len({row.measure for row in side}) + len({row.group for row in side}) for side in sides)
    # Each measure and each heading takes one line, so the height depends on the number of lines.
    figure.set_size_inches(13.6, 1.5 + 0.31 * (most + 0.6 * len(models)))
    for panel, side in zip(panels, sides, strict=True):
        _draw_measures(panel, side, models)
    legend_below(figure, panels[0], 3)
    yield save(figure, out / BENCHMARK_FIGURE)


def _draw_measures(panel: Panel, rows: Sequence[BenchmarkRow], models: Sequence[FigureSubject]) -> None:
    groups = [group for group in GROUPS if any(row.group == group for row in rows)]
    names = [
        name
        for group in groups
        for name in (group, *dict.fromkeys(row.measure for row in rows if row.group == group))
    ]
    for number, (model, label, colour, _, marker) in enumerate(looks_of(models)):
        own = [row for row in rows if (row.model, row.temperature) == model]
        # Points with equal values are shifted a little, so that all of them stay visible.
        shift = 0.5 * (number - (len(models) - 1) / 2) / len(models)
        at = [names.index(row.measure) + shift for row in own]
        rates, low, high = ([getattr(row, end) for row in own] for end in ("rate", "low", "high"))
        panel.hlines(at, low, high, color=colour, linewidth=1.6)
        panel.plot(rates, at, marker, color=colour, markersize=5, label=label)
    dress(panel, "rate, with its 95 % interval over questions", "")
    panel.set_yticks(range(len(names)), names)
    for label in panel.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in groups else "normal")
        label.set_fontsize(9)
    panel.set_ylim(len(names) - 0.4, -0.6)
    panel.set_xlim(-0.02, 1.02)
    panel.xaxis.set_major_formatter(as_share)
    panel.grid(axis="x", color="#dddddd", linewidth=0.7)
    panel.tick_params(axis="y", length=0)


def draw_redteam(
    rows: Sequence[RedteamRow], rounds: Sequence[RedTeamRound], subject: str, out: Path
) -> Iterator[Path]:
    """Draws the model calls in each round of a search, and beside it the calls of whole searches."""
    if not rows:
        return
    figure, (left, right) = new_figure("Finding a payload that is split over two sources", subject, 2)
    curves = list[Curve]()
    for approach, (style, marker) in _STYLES.items():
        calls = defaultdict[int, list[float]](list)
        for each in rounds:
            if each.approach == approach:
                calls[each.round].append(each.calls)
        if calls:
            name = _NAMES[approach].replace("\n", " ")
            curves.append(Curve(name, _COLOURS[approach], calls, style, marker))
    draw_curves(left, curves)
    left.set_ylim(bottom=0)
    numbers = sorted({each.round for each in rounds})
    x = "round (0: all sources as one group)"
    dress(left, x, "model calls in the round (mean)", places=numbers)
    _draw_totals(right, rows)
    yield save(figure, out / REDTEAM_FIGURE)


def _draw_totals(panel: Panel, rows: Sequence[RedteamRow]) -> None:
    shown = [approach for approach in _NAMES if any(row.approach == approach for row in rows)]
    for place, approach in enumerate(shown):
        own = [row for row in rows if row.approach == approach]
        calls = [row.calls for row in own]
        panel.bar(place, fmean(calls), 0.6, color=_COLOURS[approach])
        panel.plot([place - 0.3, place + 0.3], [max(calls)] * 2, color="black", linewidth=1.6)
        at = place, fmean(calls)
        _write(panel, f"mean {fmean(calls):.1f}\nworst {max(calls)}", at, below=True)
        first = [row.first_told for row in own if row.first_told is not None]
        if first:
            panel.plot(place, fmean(first), "v", color="black", markersize=8)
            _write(panel, f"told, unverified,\nafter {fmean(first):.1f}", (place, fmean(first)))
    panel.set_xticks(range(len(shown)), [_NAMES[approach] for approach in shown], fontsize=9)
    dress(panel, "", "model calls in all (bar: mean, line: worst)")
    bounds = sorted(row.bound for row in rows if row.bound is not None)
    if bounds:
        at = shown.index(AS_WRITTEN)
        panel.vlines(at, bounds[0], bounds[-1], color=GREY, linestyle=":", linewidth=1.6)
        panel.plot([at, at], [bounds[0], bounds[-1]], "_", color=GREY, markersize=12)
        _write(
            panel, f"bounds of these places:\n{bounds[0]} to {bounds[-1]}", (at, bounds[-1]), colour=GREY
        )
        panel.set_ylim(0, max(bounds[-1], panel.get_ylim()[1]) * 1.15)


def _write(
    panel: Panel, text: str, at: tuple[float, float], *, below: bool = False, colour: str = "black"
) -> None:
    looks = {"ha": "center", "va": "top" if below else "bottom", "fontsize": 9, "color": colour}
    panel.annotate(text, at, (0, -6 if below else 5), textcoords="offset points", **looks)
