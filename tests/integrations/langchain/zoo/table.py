"""All shapes, and the table of the README that says what is true of them.

``python -m tests.integrations.langchain.zoo.table`` writes it.
"""

from pathlib import Path

from tests.integrations.langchain.zoo import agents, classic, graphs, lcel, searches
from tests.integrations.langchain.zoo.shapes import MODES, Shape

SHAPES = (*lcel.SHAPES, *classic.SHAPES, *graphs.SHAPES, *agents.SHAPES, *searches.SHAPES)
README = Path(__file__).parents[4] / "README.md"
BEGIN, END = "<!-- zoo: begin -->\n", "<!-- zoo: end -->\n"


def table() -> str:
    """A row for each shape, a column for each way to ask."""
    rows = [
        f"| shape | {' | '.join(MODES)} |",
        f"|---|{'---|' * len(MODES)}",
        *(f"| {shape.name} | {' | '.join([outcome(shape)] * len(MODES))} |" for shape in SHAPES),
    ]
    return "".join(f"{row}\n" for row in rows)


def outcome(shape: Shape) -> str:
    """The rules, some of them, or the named refusal."""
    if shape.refusal is not None:
        return f"`{shape.refusal.__name__}`"
    return "✓" if shape.complete else "in part, said so"


def written(readme: str) -> str:
    """The README with the table as it is now."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
