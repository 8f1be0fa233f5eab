"""This module computes the position of each subset in a diagram. A unit is one source, or several tied
sources. There is one row for each number of retained units, and the subset with all units is at the top.
A long row is broken into several lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..subsets import SubsetView

WIDTH = 1000
"""The width of a diagram. All positions are relative to it: they are numbers from 0 to ``WIDTH``."""
_LEFT = 92
_MOST_WITH_EDGES, _MOST_WITH_LABELS = 6, 4
"""``_MOST_WITH_EDGES`` is the maximum number of units (sources, or groups of tied ones) for which the
diagram has edges. ``_MOST_WITH_LABELS`` is the maximum number for which it has labels."""
_WIDEST_ROW = 84


@dataclass(frozen=True, slots=True)
class LatticeGrid:
    """A ``LatticeGrid`` says where the parts of the diagram of subsets are drawn.

    ``places``: the position of each subset by its mask, a number with one bit for each retained unit.
    ``tops``: the vertical position of each row. ``radius``: the radius of the shape for one subset.
    ``beside_pinned``: True if every subset also retains pinned sources.
    """

    size: int
    places: Mapping[int, tuple[float, float]]
    tops: Sequence[float]
    height: float
    radius: float
    beside_pinned: bool = False

    @property
    def box(self) -> str:
        """Returns the size of the diagram in the form of SVG's attribute ``viewBox``."""
        return f"0 0 {WIDTH} {self.height:g}"

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yields the pairs of subsets that differ in one unit (a source, or tied sources). Yields nothing
        if there are more than ``_MOST_WITH_EDGES`` units, because a reader could not distinguish so many
        edges."""
        if self.size <= _MOST_WITH_EDGES:
            for mask in self.places:
                yield from ((mask, mask ^ (1 << unit)) for unit in range(self.size) if mask >> unit & 1)

    def edges(self) -> str:
        """Returns a line between every two subsets that differ in one unit (a source, or tied sources),
        as the data of an SVG path. Empty if there are too many units to distinguish the lines."""
        places = self.places
        lines = ((*places[a], *places[b]) for a, b in self.pairs())
        return "".join(f"M{x:g} {y:g}L{to_x:g} {to_y:g}" for x, y, to_x, to_y in lines)

    def levels(self) -> Iterator[tuple[str, float]]:
        """Yields the name of each row, such as "2 kept", and its vertical position."""
        none, kind = ("no", "others kept") if self.beside_pinned else ("none", "kept")
        for kept, top in zip(range(self.size, -1, -1), self.tops, strict=True):
            number = f"all {kept}" if kept == self.size else str(kept) if kept else none
            yield f"{number} {kind}", top

    def labels(self) -> Iterator[tuple[str, float, float]]:
        """Yields for each subset a label, such as "1 3" if it retains the first and the third unit, and
        the position of the subset. Yields nothing if there are too many units for labels."""
        for mask, (x, y) in self.places.items() if self.size <= _MOST_WITH_LABELS else ():
            yield " ".join(str(unit + 1) for unit in range(self.size) if mask >> unit & 1), x, y


def lattice_grid(view: SubsetView) -> LatticeGrid:
    """Returns the positions of all subsets of a view. The first row has the subset with all units, and
    the last one the subset without any."""
    levels, size = view.levels(), len(view.units)
    pitch = min(130.0, (WIDTH - _LEFT - 20) / min(_WIDEST_ROW, max(map(len, levels))))
    radius = max(3.6, min(11.0, pitch * 0.36))
    between = max(14.0, radius * 2.9)
    gap = max(26.0, radius * 5.2) if size <= _MOST_WITH_EDGES else 22.0
    places: dict[int, tuple[float, float]] = {}
    tops: list[float] = []
    top = 20.0
    for level in levels:
        tops.append(top)
        rows = -(-len(level) // _WIDEST_ROW)
        longest = -(-len(level) // rows)
        for number, mask in enumerate(level):
            row, column = divmod(number, longest)
            in_row = min(longest, len(level) - row * longest)
            x = _LEFT + (WIDTH - _LEFT) / 2 + (column - (in_row - 1) / 2) * pitch
            places[mask] = (round(x, 1), round(top + row * between, 1))
        top += (rows - 1) * between + gap
    height = round(top - gap + radius + 22, 1)
    return LatticeGrid(size, places, tops, height, round(radius, 1), bool(view.pinned))
