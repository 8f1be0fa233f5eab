from tests.integrations.llama_index.zoo import agents, chats, combined, gated, queries
from tests.integrations.llama_index.zoo.shapes import Shape

SHAPES: tuple[Shape, ...] = tuple(
    shape for room in (queries, combined, chats, agents, gated) for shape in room.SHAPES
)
