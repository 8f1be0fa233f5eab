"""All shapes, and the table of the documentation that says what is true of them."""

from tests.integrations.langchain.zoo import agents, classic, gated, graphs, lcel, searches, stores
from tests.integrations.langchain.zoo.shapes import MODES, Shape
from tests.integrations.tables import table

ROOMS = (lcel, stores, classic, graphs, agents, gated, searches)
SHAPES: tuple[Shape, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
IN_PART = (
    "✓ in part: the rules that do not rest on a document which a replay no longer found; "
    "`explanation.unresolved` names the rest."
)


def outcome_table() -> str:
    """The table, with a row for each shape."""
    rows = [(shape.name, [outcome(shape)] * len(MODES)) for shape in SHAPES]
    note = IN_PART if any(not shape.complete for shape in SHAPES) else ""
    return table(MODES, rows, note)


def outcome(shape: Shape) -> str:
    """The rules, some of them, or the named refusal."""
    if shape.refusal is not None:
        return f"`{shape.refusal.__name__}`"
    return "✓" if shape.complete else "✓ in part"
