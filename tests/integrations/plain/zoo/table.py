"""All shapes."""

from tests.integrations.plain.zoo import agents, asking, by_http, marked
from tests.integrations.plain.zoo.shapes import Shape

SHAPES: tuple[Shape, ...] = (*asking.SHAPES, *by_http.SHAPES, *marked.SHAPES, *agents.SHAPES)
