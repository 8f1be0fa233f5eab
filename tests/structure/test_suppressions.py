"""What switches a check off says why."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.structure.product import FILES, HERE

DIRECTIVE = re.compile(r"# (?:noqa|type: ignore|pyright: ignore)(?:: ?[A-Z0-9, ]+\b|\[[\w, -]+\])?")


def without_reason(lines: list[str]) -> Iterator[str]:
    """The lines that switch a check off without a reason in them or in a comment on the line before."""
    for before, line in pairwise(["", *lines]):
        said, count = DIRECTIVE.subn("", line.partition("  # ")[1] + line.partition("  # ")[2])
        if count and not said.strip(" #-") and not before.lstrip().startswith("# "):
            yield line.strip()


def test_what_switches_a_check_off_says_why() -> None:
    folders = (HERE / name for name in ("tests", "demos", "docs"))
    others = [
        (file.relative_to(HERE).as_posix(), file) for each in folders for file in each.rglob("*.py")
    ]
    bare = [
        f"{name}: {line}"
        for name, file in (*FILES, *others)
        for line in without_reason(file.read_text().splitlines())
    ]
    assert not bare


@pytest.mark.parametrize(
    ("lines", "bare"),
    [
        (["x = f()  # noqa: S311"], 1),
        (["x = f()  # type: ignore[arg-type]"], 1),
        (["import x  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]"], 1),
        (["x = f()  # noqa: PTH110, PTH202 -- of a str"], 0),
        (["# A reason.", "x = f()  # noqa"], 0),
        (["x = f()  # a comment"], 0),
    ],
)
def test_a_reason_is_recognised(lines: list[str], bare: int) -> None:
    assert len(list(without_reason(lines))) == bare
