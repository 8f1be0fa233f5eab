"""All shapes that remember, derive, loop or differ from run to run."""

from tests.integrations.langchain.zoo import (
    caches,
    derived,
    filled,
    filters,
    histories,
    loops,
    made_inside,
    own,
    remembered,
    volatile,
)
from tests.integrations.stateful import Stateful

ROOMS = (histories, own, remembered, caches, derived, made_inside, filled, loops, filters, volatile)
SHAPES: tuple[Stateful, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
