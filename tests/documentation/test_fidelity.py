"""Each point of the page on fidelity has a verdict, a place where a difference is said, and a test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "fidelity.md"
TEXT = PAGE.read_text(encoding="utf-8")
VERDICT = re.compile(r"same|differs: documented at \[[^\]]+\]\(([^)]+)\)|not testable without .+")


class Point(NamedTuple):
    paper: str
    here: str
    verdict: str
    test: str


def points() -> Iterator[Point]:
    for line in TEXT.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and "::" in cells[3]:
            yield Point(*cells)


POINTS = list(points())


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", each.lower()).replace(" ", "-") for each in headings}


def test_there_is_every_point_and_none_is_silent() -> None:
    assert len(POINTS) >= 40
    assert len({point.paper for point in POINTS}) == len(POINTS)
    assert [point.paper for point in POINTS if not VERDICT.fullmatch(point.verdict)] == []
    assert [point.paper for point in POINTS if not point.here] == []


def test_a_difference_is_documented_where_it_says() -> None:
    targets = [found[1] for each in POINTS if (found := VERDICT.fullmatch(each.verdict)) and found[1]]
    assert len(targets) > 10
    for target in targets:
        file, _, anchor = target.partition("#")
        text = (PAGE.parent / file).read_text(encoding="utf-8") if file else TEXT
        assert not anchor or anchor in anchors(text)


def test_each_point_has_a_test_that_is_there() -> None:
    for point in POINTS:
        tests = re.findall(r"`([^`]+)`", point.test)
        assert ", ".join(f"`{each}`" for each in tests) == point.test
        for written in tests:
            file, name = written.split("::")
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            functions = ast.FunctionDef, ast.AsyncFunctionDef
            assert name in {node.name for node in ast.walk(tree) if isinstance(node, functions)}, written
