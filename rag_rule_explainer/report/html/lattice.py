"""This module draws the subsets of an explanation as a Hasse diagram in SVG. The scripts of the page can
make the diagram interactive. Each verdict has a shape and a colour of its own."""

import json
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from ...printable import printable, shortened
from ..subsets import STATES, SubsetState, SubsetView, unit_names
from .grid import LatticeGrid, lattice_grid
from .markup import joined_markup, raw

_SHAPES: Mapping[SubsetState, str] = {
    "holds": '<circle r="1"/>',
    "breaks": '<path d="M-.9-.9H.9V.9H-.9Z"/><path class="cross" d="M-.5-.5.5.5M-.5.5.5-.5"/>',
    "unknown": '<path d="M0-1.1 1.1.9H-1.1Z"/>',
    "unasked": '<circle r=".55"/>',
}


def lattice_figure(view: SubsetView, name: str, names: Mapping[str, str]) -> Markup:
    """Returns the diagram of a view with its legend, as HTML. ``name``: the id of the figure in the page.
    ``names``: the names of the sources by id. The figure also contains them as data for the scripts.

    Nothing is lost without scripts, because the table of probes contains every probe as well. With
    scripts, a reader can select subsets in the diagram by pointer and by keys.
    """
    counted, grid = view.counts, lattice_grid(view)
    key = joined_markup(
        Markup(
            '<li><svg viewBox="-1.4 -1.4 2.8 2.8" class="{}" aria-hidden="true">{}</svg>{} ({:,})</li>'
        ).format(state, raw(_SHAPES[state]), words, counted[state])
        for state, words in STATES.items()
    )
    return Markup(
        '<figure class="lattice" id="{name}" data-units="{units}" data-kind="{kind}" '
        'data-names="{names}" data-always="{always}">'
        "<figcaption>One mark for each combination of the {documents}, from none to all. "
        "Condition: <q>{condition}</q></figcaption>"
        '<ul class="key">{key}</ul>'
        '<div class="scrolled" tabindex="0" role="group" aria-label="Subsets of the documents">'
        '<div class="drawn">{svg}{pointed}</div></div>'
        '<output class="probe" aria-live="polite">'
        "Point at a mark, tap it, or walk over the marks with the arrow keys.</output></figure>"
    ).format(
        name=name,
        units=len(view.units),
        names=json.dumps(unit_names(view, names)),
        always=json.dumps([names[each] for each in view.pinned]),
        kind=view.kinds[0].value,
        documents=_documents(view),
        condition=shortened(printable(view.condition), 300),
        key=key,
        svg=_marks_svg(view, grid, name),
        # The ring that marks the selected subset is an SVG element of its own. When the ring moves, the
        # browser need not paint a thousand marks again.
        pointed=raw(f'<svg class="over" viewBox="{grid.box}"><path class="near" d=""/></svg>'),
    )


def _documents(view: SubsetView) -> str:
    count = len(view.units)
    if not view.pinned:
        return f"{count} documents"
    return (
        f"documents that are not pinned ({count}); the pinned ones ({len(view.pinned)}) are always kept"
    )


def _marks_svg(view: SubsetView, grid: LatticeGrid, name: str) -> Markup:
    """Returns the marks (one shape for each subset), the edges and the labels as SVG. ``name``: the
    beginning of the ids in the SVG. ``grid``: the positions of the marks."""
    parts = [f'<path class="edges" d="{grid.edges()}"/>']
    parts.extend(f'<text x="4" y="{y + 4:g}">{words}</text>' for words, y in grid.levels())
    parts.extend(_marks(view, grid, name))
    parts.extend(
        f'<text class="units" x="{x:g}" y="{y + grid.radius + 12:g}">{words}</text>'
        for words, x, y in grid.labels()
    )
    counted = ", ".join(f"{STATES[state]}: {count}" for state, count in view.counts.items() if count)
    symbols = "".join(
        f'<g id="{name}-{state}" class="{state}" transform="scale({grid.radius:g})">{shape}</g>'
        for state, shape in _SHAPES.items()
    )
    return raw(
        f'<svg class="marks" viewBox="{grid.box}" role="img" aria-label="Subsets: {counted}">'
        f"<defs>{symbols}</defs>{''.join(parts)}</svg>"
    )


def _marks(view: SubsetView, grid: LatticeGrid, name: str) -> Iterator[str]:
    states, probes = view.states, view.probes
    for mask, (x, y) in grid.places.items():
        probe = probes.get(mask)
        asked = "" if probe is None else f' data-p="{probe}"'
        state = states.get(mask, "unasked")
        yield f'<use href="#{name}-{state}" x="{x:g}" y="{y:g}" data-m="{mask}"{asked}/>'
