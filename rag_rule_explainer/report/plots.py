"""This module draws an explanation with matplotlib, for papers and slides. Texts from outside are never
read as formulas."""

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ..allowed import brief
from ..errors import InvalidInput, MissingExtra
from ..explanation.explanation import Explanation
from ..printable import printable, shortened
from ..rules import RuleKind
from .html.grid import LatticeGrid, lattice_grid
from .html.still import COLOURS
from .importance_section import without_importance
from .short_names import short_names
from .subsets import MOST_DRAWN, STATES, SubsetState, SubsetView, mask_of_kept, subset_views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKERS: Mapping[SubsetState, str] = {"holds": "o", "breaks": "X", "unknown": "^", "unasked": "."}
_MOST_ROWS, _MOST_COLUMNS, _LONGEST_NAME = 40, 40, 40
_INK, _LINE = "#1b1f24", "#c3c8cf"
_OF_KIND: Mapping[RuleKind, str] = {RuleKind.RETENTION: "#2f6fd0", RuleKind.OMISSION: "#c8590f"}


def plotted(explanation: Explanation, what: str) -> "Figure":
    """Returns a picture of the explanation, as a figure of matplotlib. ``what``: "lattice" (a diagram of
    all subsets), "rules" or "importance".

    Raises InvalidInput if there is no picture with this name, if there is nothing to draw, or if there
    are too many sources to draw.
    """
    drawing = _DRAWINGS.get(what) if isinstance(what, str) else None  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
    if drawing is None:
        raise InvalidInput(f"plot({brief(what)}) draws nothing; give one of {', '.join(_DRAWINGS)}")
    return drawing(explanation)


def _new_figure(width: float, height: float) -> Any:
    """Returns an empty figure of this size, in inches. A notebook displays it even if matplotlib was not
    set up for notebooks."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra.naming("plot", "plot") from error

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            written = BytesIO()
            untyped: Any = self
            untyped.savefig(written, format="png", dpi=110, bbox_inches="tight")
            return written.getvalue()

    return ShownFigure(figsize=(width, height), layout="constrained")


def _lattice(explanation: Explanation) -> "Figure":
    views = subset_views(explanation)
    if not views:
        count = len(explanation.units)
        raise InvalidInput(
            f"{count} sources have too many subsets to draw ({MOST_DRAWN} are the most); plot('rules') "
            "shows which rule names which source"
        )
    grids = [lattice_grid(view) for view in views]
    figure = _new_figure(9, sum(1 + grid.height / 110 for grid in grids))
    for place, (view, grid) in enumerate(zip(views, grids, strict=True), 1):
        axes = figure.add_subplot(len(views), 1, place)
        _draw_lattice(axes, explanation, view, grid)
    return figure


def _draw_lattice(axes: Any, explanation: Explanation, view: SubsetView, grid: LatticeGrid) -> None:
    axes.set_axis_off()
    axes.set_xlim(0, 1000)
    axes.set_ylim(grid.height, 0)
    axes.set_title(shortened(printable(view.condition), 100), fontsize=10, color=_INK, parse_math=False)
    for a, b in grid.pairs():
        (x, y), (to_x, to_y) = grid.places[a], grid.places[b]
        axes.plot([x, to_x], [y, to_y], color=_LINE, linewidth=0.6, zorder=1)
    for words, y in grid.levels():
        axes.text(0, y, words, fontsize=8, va="center", color=_INK)
    for words, x, y in grid.labels():
        axes.text(x, y + grid.radius + 9, words, fontsize=7, ha="center", va="center", color=_INK)
    size = (grid.radius * 1.05) ** 2
    for state, count in view.counts.items():
        if count:
            among = [place for m, place in grid.places.items() if view.states.get(m, "unasked") == state]
            label = f"{STATES[state]} ({count:,})"
            options = {"marker": _MARKERS[state], "s": size, "color": COLOURS[state], "zorder": 2}
            axes.scatter(*zip(*among, strict=True), label=label, linewidths=0, **options)
    _ring_rules(axes, explanation, view, grid)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=4, fontsize=8, frameon=False)


def _ring_rules(axes: Any, explanation: Explanation, view: SubsetView, grid: LatticeGrid) -> None:
    """For each rule, draws a ring around the subset with only the rule's sources retained (for omission
    rules: with only these omitted). ``axes``: the diagram. ``grid``: the positions of the subsets in
    it."""
    everything = (1 << len(view.units)) - 1
    for kind in view.kinds:
        rules = [rule for rule in explanation.rules if rule.kind is kind]
        masks = [mask_of_kept(view.units, rule.sources) for rule in rules]
        own = [everything ^ mask if kind is RuleKind.OMISSION else mask for mask in masks]
        if own:
            x, y = zip(*(grid.places[mask] for mask in own), strict=True)
            size = (grid.radius * 1.3 + (3 if kind is RuleKind.RETENTION else 5)) ** 2
            options = {"facecolors": "none", "edgecolors": _OF_KIND[kind], "linewidths": 1.4, "zorder": 3}
            axes.scatter(x, y, s=size, marker="o", label=f"{kind.value} rules ({len(own)})", **options)


def _rules(explanation: Explanation) -> "Figure":
    rules = explanation.rules[:_MOST_ROWS]
    named = {identity for rule in rules for identity in rule.sources}
    sources = [source for source in explanation.sources if source.id in named][:_MOST_COLUMNS]
    if not sources:
        raise InvalidInput("no rule names a source, so there is nothing to draw; print the explanation")
    figure = _new_figure(3.5 + 0.45 * len(sources), 1.8 + 0.32 * len(rules))
    axes = figure.add_subplot()
    for row, rule in enumerate(rules):
        columns = [place for place, source in enumerate(sources) if source.id in set(rule.sources)]
        colour = _OF_KIND[rule.kind]
        filled = colour if rule.kind is RuleKind.RETENTION else "none"
        axes.scatter(columns, [row] * len(columns), s=90, facecolors=filled, edgecolors=colour, zorder=2)
    axes.set_xticks(range(len(sources)))
    names = short_names(explanation, _LONGEST_NAME)
    axes.set_xticklabels([names[each.id] for each in sources], rotation=45, ha="right", parse_math=False)
    axes.set_yticks(range(len(rules)))
    axes.set_yticklabels([f"{rule.kind.value}, {rule.claim}" for rule in rules])
    axes.set_ylim(len(rules) - 0.5, -0.5)
    axes.set_xlim(-0.5, len(sources) - 0.5)
    axes.grid(color=_LINE, linewidth=0.5)
    axes.tick_params(length=0, labelsize=8)
    axes.set_title("filled: retained; hollow: omitted", fontsize=9)
    return figure


def _importance(explanation: Explanation) -> "Figure":
    counting = [index for index in explanation.importance if index.banzhaf][: 2 * _MOST_ROWS]
    if not counting:
        why = without_importance(explanation) or "no source counts in a rule"
        raise InvalidInput(f"there is nothing to draw: {why.rstrip('.')}; print the explanation")
    names = short_names(explanation, _LONGEST_NAME)
    order = list(dict.fromkeys(index.source for index in counting))
    figure = _new_figure(6, 1.4 + 0.45 * len(order))
    axes = figure.add_subplot()
    for offset, kind in ((-0.2, RuleKind.RETENTION), (0.2, RuleKind.OMISSION)):
        of_kind = [index for index in counting if index.kind is kind]
        places = [order.index(index.source) + offset for index in of_kind]
        shares = [index.banzhaf for index in of_kind]
        axes.barh(places, shares, height=0.36, color=_OF_KIND[kind], label=f"{kind.value} rules")
    axes.set_yticks(range(len(order)))
    axes.set_yticklabels([names[each] for each in order], parse_math=False)
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel("Banzhaf index", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=8, frameon=False)
    if left_out := without_importance(explanation):
        axes.set_title(shortened(left_out, 100), fontsize=8, color=_INK, parse_math=False)
    return figure


_DRAWINGS: Mapping[str, Callable[[Explanation], "Figure"]] = {
    "lattice": _lattice,
    "rules": _rules,
    "importance": _importance,
}
