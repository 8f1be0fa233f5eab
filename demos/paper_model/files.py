"""Files of a run."""

from pathlib import Path


def written(file: Path, text: str) -> None:
    """Writes a file completely or not at all."""
    draft = file.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)
