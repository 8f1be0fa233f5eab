"""All shapes, and the table of the README that says what is true of them.

``python -m tests.integrations.llama_index.zoo.table`` writes it.
"""

from tests.integrations.llama_index.zoo import agents, chats, combined, gated, queries
from tests.integrations.llama_index.zoo.shapes import MODES, Mode, Shape
from tests.integrations.tables import README, table, written

ROOMS = (queries, combined, chats, agents, gated)
SHAPES: tuple[Shape, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
SOURCES = {"engine": "as synthesized", "gate": "as retrieved"}


def with_table(readme: str) -> str:
    """The README with the table as it is now."""
    rows = [(shape.name, [*(outcome(shape, mode) for mode in MODES), sources(shape)]) for shape in SHAPES]
    return written(readme, "llama-index zoo", table([*MODES, "sources"], rows))


def outcome(shape: Shape, mode: Mode) -> str:
    """The rules, or the named refusal; a dash where nothing streams."""
    if mode == "streamed" and shape.streams is None:
        return "–"
    return "✓" if shape.refusal is None else f"`{shape.refusal.__name__}`"


def sources(shape: Shape) -> str:
    """What the sources are."""
    return "" if shape.refusal else SOURCES[shape.by]


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
