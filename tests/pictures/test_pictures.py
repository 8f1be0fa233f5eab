"""The pictures show what the package does today; ``make pictures`` makes them anew."""

import re
from pathlib import Path

import pytest

from tests.pictures.gallery import SHOWN, SUFFIX
from tests.pictures.making import FOLDER, drawings, hashes, taken_of

ROOT = Path(__file__).parents[2]
STALE = "is stale; run `make pictures`, look at it, and commit it"
OF_INCIDENTS = [f"{name}{SUFFIX[kind]}" for name, kind in SHOWN.items()]
DRAWN = [name for name in OF_INCIDENTS if name.endswith(".svg")]
TAKEN = [name for name in OF_INCIDENTS if name.endswith(".png")]


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("name", ["terminal.svg", "lattice.svg", *DRAWN])
def test_a_drawing_is_as_it_would_be_made_now(name: str) -> None:
    made = drawings()[name]
    assert (FOLDER / name).read_text(encoding="utf-8") == made, f"{name} {STALE}"
    assert "http" not in made.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("name", ["report.png", "notebook.png", *TAKEN])
def test_a_screenshot_was_taken_of_what_would_be_shown_now(name: str) -> None:
    assert taken_of()[name] == hashes()[name], f"{name} {STALE}"
    assert (FOLDER / name).read_bytes().startswith(b"\x89PNG")


def test_all_are_shown_and_all_that_are_shown_are_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = "".join(each.read_text(encoding="utf-8") for each in pages)
    shown = set(re.findall(r"!\[[^\]]+\]\((?:docs|\.\.)?/?pictures/([^)]+)\)", texts))
    assert shown == {each.name for each in FOLDER.iterdir()} - {"taken_of.json"}
