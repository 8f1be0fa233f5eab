"""All shapes."""

from tests.integrations.plain.zoo import agents, asking, by_http
from tests.integrations.plain.zoo.shapes import Shape

SHAPES: tuple[Shape, ...] = (*asking.SHAPES, *by_http.SHAPES, *agents.SHAPES)
