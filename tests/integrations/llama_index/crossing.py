"""Cross products of which the fast suite runs a part."""

from collections.abc import Collection, Sequence
from itertools import product
from typing import Any

import pytest


def crossed(*axes: Sequence[Any], fast: Collection[tuple[Any, ...]]) -> list[Any]:
    """Returns the parameters of every combination; those that are not in ``fast`` are slow.

    Every value of every axis is in ``fast`` at least once.
    """
    for place, axis in enumerate(axes):
        assert all(any(each[place] == value for each in fast) for value in axis), axis
    slow = pytest.mark.slow
    return [pytest.param(*each, marks=() if each in fast else slow) for each in product(*axes)]


def alternating(shapes: Sequence[Any], modes: Sequence[Any], *, start: int = 0) -> list[tuple[Any, Any]]:
    """Returns each shape with one mode, the modes taking turns."""
    return [(shape, modes[place % len(modes)]) for place, shape in enumerate(shapes, start=start)]
