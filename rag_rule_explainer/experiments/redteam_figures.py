"""The figure of red-teaming: calls by round, and in all."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from .figures import GREEN, GREY, ORANGE, Curve, LineStyle, Panel, draw, dress, new_figure, save
from .redteam import ANSWERS_KEPT, AS_WRITTEN, SAMPLED, RedteamRow, Round

PAPERS_WORST, PAPERS_BOUND = 33, 78
"""Model calls that the paper counts for a pair among 50 sources, and its bound on them."""
PAPERS_SOURCES = 50

REDTEAM_FIGURES = ("redteam.png",)
_NAMES = {
    AS_WRITTEN: "divide and conquer,\nas the paper writes it",
    ANSWERS_KEPT: "divide and conquer,\nanswers kept",
    SAMPLED: "sampled search",
}
_STYLES: Mapping[str, tuple[LineStyle, str]] = {AS_WRITTEN: ("-", "o"), ANSWERS_KEPT: ("--", "s")}
_COLOURS = {AS_WRITTEN: "#56B4E9", ANSWERS_KEPT: GREEN, SAMPLED: ORANGE}


def draw_redteam(
    rows: Sequence[RedteamRow], rounds: Sequence[Round], subject: str, out: Path
) -> Iterator[Path]:
    """The figure, where there are rows. ``subject``: for its title. Raises MissingExtra, InvalidInput."""
    if not rows:
        return
    figure, (left, right) = new_figure("Finding a payload that is split over two sources", subject, 2)
    _draw_rounds(left, rounds)
    _draw_totals(right, rows)
    yield save(figure, out / REDTEAM_FIGURES[0])


def _draw_rounds(panel: Panel, rounds: Sequence[Round]) -> None:
    curves = list[Curve]()
    for approach, (style, marker) in _STYLES.items():
        calls = defaultdict[int, list[float]](list)
        for each in rounds:
            if each.approach == approach:
                calls[each.round].append(each.calls)
        if calls:
            name = _NAMES[approach].replace("\n", " ")
            curves.append(Curve(name, _COLOURS[approach], calls, style, marker))
    draw(panel, curves)
    panel.set_ylim(bottom=0)
    dress(
        panel,
        "round (0: all sources as one group)",
        "model calls in the round (mean)",
        places=sorted({each.round for each in rounds}),
    )


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
    if {row.sources for row in rows} == {PAPERS_SOURCES}:
        for bound, name in ((PAPERS_WORST, "the paper's count"), (PAPERS_BOUND, "the paper's bound")):
            panel.axhline(bound, color=GREY, linestyle=":", linewidth=1.2)
            _write(panel, f"{name}: {bound}", (1, bound), colour=GREY)
        panel.set_ylim(0, PAPERS_BOUND * 1.12)


def _write(
    panel: Panel, text: str, at: tuple[float, float], *, below: bool = False, colour: str = "black"
) -> None:
    panel.annotate(
        text,
        at,
        (0, -6 if below else 5),
        textcoords="offset points",
        ha="center",
        va="top" if below else "bottom",
        fontsize=9,
        color=colour,
    )
