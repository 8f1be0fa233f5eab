"""The tables of the documentation that say what has been tried with a framework."""

from collections.abc import Sequence


def table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], note: str = "") -> str:
    """A row for each shape, a column for each way to ask."""
    lines = [
        f"| shape | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
        *(f"| {name} | {' | '.join(outcomes)} |" for name, outcomes in rows),
        *(["", note] if note else []),
    ]
    return "".join(f"{line}\n" for line in lines)
