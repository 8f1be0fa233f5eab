"""All shapes that remember, derive, loop or differ from run to run."""

from tests.integrations.langchain.zoo import (
    caches,
    derived,
    filled,
    filters,
    histories,
    loops,
    own,
    remembered,
    volatile,
)
from tests.integrations.stateful import Stateful

ROOMS = (histories, own, remembered, caches, derived, filled, loops, filters, volatile)
SHAPES: tuple[Stateful, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
