"""This module enumerates hitting sets, smallest first, by python-sat."""

from collections.abc import Iterable
from typing import Any

from ..lattice import Lattice, Mask


class HittingSets:
    """The HittingSets share a unit with every mask to hit, and contain no blocked mask."""

    def __init__(self, lattice: Lattice, hit: Iterable[Mask] = (), blocked: Iterable[Mask] = ()) -> None:
        self._lattice = lattice
        self._nothing_left, self._free = False, True
        # Most searches need no solver, and it is slow to load.
        from pysat.examples.hitman import Hitman  # pyright: ignore[reportMissingTypeStubs] -- it has none

        self._solver: Any = Hitman(htype="sorted")
        for mask in hit:
            self.hit(mask)
        for mask in blocked:
            self.block(mask)

    def hit(self, mask: Mask) -> None:
        """Restricts the sets to those with a unit of this mask; the empty mask leaves none."""
        if not mask:
            self._nothing_left = True
            return
        self._free = False
        self._solver.hit(self._lattice.units(mask))

    def block(self, mask: Mask) -> None:
        """Restricts the sets to those that do not contain this mask; the empty mask leaves none."""
        if not mask:
            self._nothing_left = True
            return
        self._free = False
        self._solver.block(self._lattice.units(mask))

    def smallest(self) -> Mask | None:
        """Returns one of the smallest sets; None if there is none."""
        if self._nothing_left:
            return None
        if self._free:
            return 0
        units = self._solver.get()
        return None if units is None else self._lattice.mask(units)
