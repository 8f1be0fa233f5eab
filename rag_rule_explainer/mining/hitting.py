"""Smallest hitting sets, one after the other, by python-sat's enumerator."""

from collections.abc import Iterable
from typing import Any

from ..lattice import Lattice, Mask


class HittingSets:
    """This class represents the sets that share a unit with every mask that is to be hit, and contain
    none that is blocked."""

    def __init__(self, lattice: Lattice, hit: Iterable[Mask] = (), blocked: Iterable[Mask] = ()) -> None:
        self._lattice = lattice
        self._nothing_left, self._free = False, True
        # A solver is loaded by who needs one.
        from pysat.examples.hitman import Hitman  # pyright: ignore[reportMissingTypeStubs] -- it has none

        self._solver: Any = Hitman(htype="sorted")
        for mask in hit:
            self.hit(mask)
        for mask in blocked:
            self.block(mask)

    def hit(self, mask: Mask) -> None:
        """From now on every set has a unit of this mask; none has one of the empty mask."""
        if not mask:
            self._nothing_left = True
            return
        self._free = False
        self._solver.hit(self._lattice.units(mask))

    def block(self, mask: Mask) -> None:
        """From now on no set contains all of this mask; all contain the empty one."""
        if not mask:
            self._nothing_left = True
            return
        self._free = False
        self._solver.block(self._lattice.units(mask))

    def smallest(self) -> Mask | None:
        """One of the smallest sets; None where there is none."""
        if self._nothing_left:
            return None
        if self._free:
            return 0
        units = self._solver.get()
        return None if units is None else self._lattice.mask(units)
