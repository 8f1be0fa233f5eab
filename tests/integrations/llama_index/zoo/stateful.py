"""All shapes that remember, derive, loop or differ from run to run."""

from tests.integrations.llama_index.zoo import (
    caches,
    derived,
    filled,
    filters,
    histories,
    loops,
    made_inside,
    own,
    volatile,
)
from tests.integrations.stateful import Stateful

ROOMS = (histories, own, caches, derived, made_inside, filled, loops, filters, volatile)
SHAPES: tuple[Stateful, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
