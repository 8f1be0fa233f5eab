"""This module draws the subsets of an explanation as an image that needs no styles and no scripts of a
page. The image is used in notebooks, and in pages that were not made by this package. Its colours can be
distinguished on light and on dark backgrounds."""

from collections.abc import Iterator, Mapping
from urllib.parse import quote

from markupsafe import Markup

from ...explanation.explanation import Explanation
from ...explanation.records import ProbeRecord
from ...printable import printable, shortened
from ..subsets import STATES, SubsetState, SubsetView, probe_votes, unit_names
from .grid import WIDTH, LatticeGrid, lattice_grid
from .markup import joined_markup

COLOURS: Mapping[SubsetState, str] = {
    "holds": "#2f6fd0",
    "breaks": "#c8590f",
    "unknown": "#9a4fc0",
    "unasked": "#808894",
}
"""The colour of a subset in the diagram, by the subset's state. The colours can be distinguished on light
and on dark backgrounds."""
_SAFE = " =:;,/.-()"
"""The characters that are not escaped in the address of an image, so that it stays short."""
_LEGEND = 24
"""The height of the legend below the diagram."""
_MOST_TITLED = 64
"""The maximum number of marks (each is the shape for one subset) that get a title, which a browser shows
when the pointer rests on the mark. If there are more marks, none has a title."""


def still_lattice(explanation: Explanation, view: SubsetView, names: Mapping[str, str]) -> Markup:
    """Returns the diagram of a view and its legend as an image. ``names``: the names of the sources by
    id, for the texts that a browser shows when the pointer rests on a subset.

    The SVG is embedded in the address of an ``img`` element. A program that shows no images, such as a
    notebook that is not trusted, then shows the element's short ``alt`` text, and not all texts of the
    SVG.
    """
    grid = lattice_grid(view)
    height = grid.height + _LEGEND
    counted = ", ".join(f"{STATES[state]}: {count:,}" for state, count in view.counts.items() if count)
    image = Markup(
        '<img src="{}" alt="Subsets: {}" width="1000" height="{:g}" '
        'style="display:block;width:100%;height:auto">'
    ).format(f"data:image/svg+xml,{quote(lattice_svg(view), safe=_SAFE)}", counted, height)
    few = len(grid.places) <= _MOST_TITLED
    titles = joined_markup(_titles(explanation, view, names, grid, height)) if few else Markup()
    return Markup('<div style="position:relative;max-width:1000px;min-width:34em">{}{}</div>').format(
        image, titles
    )


def lattice_svg(view: SubsetView) -> str:
    """Returns the diagram of a view and its legend as one SVG."""
    grid = lattice_grid(view)
    height = grid.height + _LEGEND
    parts = [f'<path d="{grid.edges()}" fill="none" stroke="#9aa1ab" stroke-opacity=".55"/>']
    parts += [*_words(grid), *_marks_by_state(view, grid), *_key(view, grid)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 {height:g}" width="1000" '
        f'height="{height:g}" font-family="sans-serif" font-size="12">{"".join(parts)}</svg>'
    )


def _words(grid: LatticeGrid) -> Iterator[str]:
    grey = 'fill="#808894"'
    for words, y in grid.levels():
        yield f'<text x="4" y="{y + 4:g}" {grey}>{words}</text>'
    for words, x, y in grid.labels():
        yield f'<text x="{x:g}" y="{y + grid.radius + 12:g}" text-anchor="middle" {grey}>{words}</text>'


def _titles(
    explanation: Explanation,
    view: SubsetView,
    names: Mapping[str, str],
    grid: LatticeGrid,
    height: float,
) -> Iterator[Markup]:
    """Yields an empty element for each subset in the diagram. The element lies over the shape of the
    subset, and has the text that a browser shows when the pointer rests on the shape. ``grid``: the
    positions of the shapes. ``height``: the height of the image, with its legend."""
    units = unit_names(view, names)
    across, down = 2 * grid.radius / WIDTH * 100, 2 * grid.radius / height * 100
    for mask, (x, y) in grid.places.items():
        named = [name for place, name in enumerate(units) if mask >> place & 1]
        kept = ", ".join([*named, *(names[each] for each in view.pinned)]) or "no documents"
        said = f"{STATES[view.states.get(mask, 'unasked')]}: {kept}"
        number = view.probes.get(mask)
        if number is not None:
            said += _answered(explanation.probes[number], view)
        yield Markup(
            '<span title="{}" style="position:absolute;left:{:.2f}%;top:{:.2f}%;width:{:.2f}%;'
            'height:{:.2f}%"></span>'
        ).format(said, x / WIDTH * 100 - across / 2, y / height * 100 - down / 2, across, down)


def _answered(probe: ProbeRecord, view: SubsetView) -> str:
    votes = probe_votes(probe, view.kinds)
    voted = f"; votes: {votes}" if votes else ""
    if not probe.answers:
        return voted
    return f"; answer: {shortened(printable(probe.answers[0].shown[:201]), 200)}{voted}"


def _marks_by_state(view: SubsetView, grid: LatticeGrid) -> Iterator[str]:
    for state in STATES:
        among = (
            place for mask, place in grid.places.items() if view.states.get(mask, "unasked") == state
        )
        if drawn := "".join(_path(state, x, y, grid.radius) for x, y in among):
            yield _painted(state, drawn, grid.radius)


def _key(view: SubsetView, grid: LatticeGrid) -> Iterator[str]:
    x, y = 10.0, grid.height + 8
    for state, count in view.counts.items():
        if count:
            words = f"{STATES[state]} ({count:,})"
            yield _shape(state, x, y, 6)
            yield f'<text x="{x + 12:g}" y="{y + 4:g}" fill="#808894">{words}</text>'
            x += 40 + 6.4 * len(words)


def _shape(state: SubsetState, x: float, y: float, radius: float) -> str:
    return _painted(state, _path(state, x, y, radius), radius)


def _painted(state: SubsetState, drawn: str, radius: float) -> str:
    colour = COLOURS[state]
    fill = colour if state in {"holds", "unknown"} else "none"
    return f'<path d="{drawn}" fill="{fill}" stroke="{colour}" stroke-width="{radius / 4:.2g}"/>'


def _path(state: SubsetState, x: float, y: float, radius: float) -> str:
    """Returns the shape that stands for a subset in the diagram, as the data of an SVG path. ``state``:
    the state of the subset, which decides the shape. ``x``, ``y``: the centre of the shape."""
    r = round(radius * (0.55 if state == "unasked" else 0.9), 2)
    half = round(r * 0.55, 2)
    if state == "breaks":
        cross = f"l{2 * half:g} {2 * half:g}m0 {-2 * half:g}l{-2 * half:g} {2 * half:g}"
        square = f"M{x - r:g} {y - r:g}h{2 * r:g}v{2 * r:g}h{-2 * r:g}z"
        return f"{square}M{x - half:g} {y - half:g}{cross}"
    if state == "unknown":
        return f"M{x:g} {y - r:g}l{r:g} {2 * r:g}h{-2 * r:g}z"
    return f"M{x - r:g} {y:g}a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 {-2 * r:g} 0z"
