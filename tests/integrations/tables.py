"""The tables of the README that say what has been tried with a framework."""

from collections.abc import Sequence
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], note: str = "") -> str:
    """A row for each shape, a column for each way to ask."""
    lines = [
        f"| shape | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
        *(f"| {name} | {' | '.join(outcomes)} |" for name, outcomes in rows),
        *(["", note] if note else []),
    ]
    return "".join(f"{line}\n" for line in lines)


def written(readme: str, name: str, made: str) -> str:
    """The README with the table of that name as it is now."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, rest = readme.split(begin)
    return before + begin + made + end + rest.split(end)[1]
