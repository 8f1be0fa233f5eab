"""The incidents of the gallery: each is a file that is run here, and a picture of what it explains."""

import runpy
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

from rag_rule_explainer import Explanation

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
SHOWN: Mapping[str, str] = {
    "json-reply": "terminal",
    "healthcare": "report",
    "stale-policy": "report",
    "split-payload": "lattice",
    "duplicates": "lattice",
    "from-memory": "terminal",
}
"""What the picture of an incident is taken of, by the name of its page."""
SUFFIX = {"terminal": ".svg", "lattice": ".svg", "report": ".png"}


@dataclass(frozen=True)
class Incident:
    """What the file of an incident printed, and the explanation that it made first."""

    name: str
    printed: str
    explanation: Explanation

    @property
    def picture(self) -> str:
        return f"{self.name}{SUFFIX[SHOWN[self.name]]}"


def file_of(name: str) -> Path:
    return FOLDER / f"{name.replace('-', '_')}.py"


@lru_cache
def incident(name: str) -> Incident:
    """Runs the file as its reader does."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        left: Mapping[str, Any] = runpy.run_path(str(file_of(name)), run_name="__main__")
    return Incident(name, out.getvalue(), left["explanation"])


def shown_as(kind: str) -> list[Incident]:
    return [incident(name) for name, each in SHOWN.items() if each == kind]
