"""All shapes, and the table of the documentation that says what is true of them."""

from tests.integrations.llama_index.zoo import agents, chats, combined, gated, queries
from tests.integrations.llama_index.zoo.shapes import MODES, Mode, Shape
from tests.integrations.tables import table

ROOMS = (queries, combined, chats, agents, gated)
SHAPES: tuple[Shape, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
SOURCES = {"engine": "as synthesized", "gate": "as retrieved"}


def outcome_table() -> str:
    """The table, with a row for each shape."""
    rows = [(shape.name, [*(outcome(shape, mode) for mode in MODES), sources(shape)]) for shape in SHAPES]
    return table([*MODES, "sources"], rows)


def outcome(shape: Shape, mode: Mode) -> str:
    """The rules, or the named refusal; a dash where nothing streams."""
    if mode == "streamed" and shape.streams is None:
        return "–"
    return "✓" if shape.refusal is None else f"`{shape.refusal.__name__}`"


def sources(shape: Shape) -> str:
    """What the sources are."""
    return "" if shape.refusal else SOURCES[shape.by]
