"""All shapes, and the table of the README that says what is true of them.

``python -m tests.integrations.langchain.zoo.table`` writes it.
"""

from pathlib import Path

from tests.integrations.langchain.zoo import agents, classic, gated, graphs, lcel, searches, stores
from tests.integrations.langchain.zoo.shapes import MODES, Shape

ROOMS = (lcel, stores, classic, graphs, agents, gated, searches)
SHAPES: tuple[Shape, ...] = tuple(shape for room in ROOMS for shape in room.SHAPES)
README = Path(__file__).parents[4] / "README.md"
IN_PART = (
    "✓ in part: the rules that do not rest on a document which a replay no longer found; "
    "`explanation.unresolved` names the rest."
)
BEGIN, END = "<!-- zoo: begin -->\n", "<!-- zoo: end -->\n"


def table() -> str:
    """A row for each shape, a column for each way to ask."""
    rows = [
        f"| shape | {' | '.join(MODES)} |",
        f"|---|{'---|' * len(MODES)}",
        *(f"| {shape.name} | {' | '.join([outcome(shape)] * len(MODES))} |" for shape in SHAPES),
    ]
    note = ["", IN_PART] if any(not shape.complete for shape in SHAPES) else []
    return "".join(f"{row}\n" for row in [*rows, *note])


def outcome(shape: Shape) -> str:
    """The rules, some of them, or the named refusal."""
    if shape.refusal is not None:
        return f"`{shape.refusal.__name__}`"
    return "✓" if shape.complete else "✓ in part"


def written(readme: str) -> str:
    """The README with the table as it is now."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
