"""This module finds hitting sets, smallest first, by the solver python-sat. A *hitting set* is a set of
units that has at least one unit in common with each of some given masks."""

from collections.abc import Iterable
from typing import Any

from ..lattice import Lattice, Mask


class HittingSets:
    """A ``HittingSets`` finds the sets of units that have a unit in common with each mask in ``hit``,
    and that contain no mask in ``blocked`` completely. The methods ``hit`` and ``block`` add further
    masks."""

    def __init__(self, lattice: Lattice, hit: Iterable[Mask] = (), blocked: Iterable[Mask] = ()) -> None:
        self._lattice = lattice
        self._nothing_left, self._free = False, True
        # The solver is slow to load and most searches do not need it, so it is imported only here.
        from pysat.examples.hitman import Hitman  # pyright: ignore[reportMissingTypeStubs] -- this package has no stubs

        self._solver: Any = Hitman(htype="sorted")
        for mask in hit:
            self.hit(mask)
        for mask in blocked:
            self.block(mask)

    def hit(self, mask: Mask) -> None:
        """Excludes all sets of units that have no unit of this mask. The empty mask excludes all sets."""
        if not mask:
            self._nothing_left = True
            return
        self._free = False
        self._solver.hit(self._lattice.units(mask))

    def block(self, mask: Mask) -> None:
        """Excludes all sets of units that contain this mask completely. The empty mask excludes all
        sets."""
        if not mask:
            self._nothing_left = True
            return
        self._free = False
        self._solver.block(self._lattice.units(mask))

    def smallest(self) -> Mask | None:
        """Returns one of the smallest sets that are not excluded; None if all are excluded."""
        if self._nothing_left:
            return None
        if self._free:
            return 0
        units = self._solver.get()
        return None if units is None else self._lattice.mask(units)
