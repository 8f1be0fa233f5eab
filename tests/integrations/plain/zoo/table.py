"""All shapes."""

from tests.integrations.plain.zoo import agents, asking
from tests.integrations.plain.zoo.shapes import Shape

SHAPES: tuple[Shape, ...] = (*asking.SHAPES, *agents.SHAPES)
