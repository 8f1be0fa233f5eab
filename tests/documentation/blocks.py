"""The code blocks of a page: what each is, and which ones have to run before it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.documentation.making.places import DOCS

FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"# (?:Save this as )?([\w/-]+\.\w+)$")
TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z|\bin \d+\.\d+s\b")
CONTINUES = "# Continues the block above."
RUN = ("python", "bash")
README = "../README.md"
"""The README as a page: its path from the folder of the others."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block that a reader may paste. ``printed``: the output that the page shows below it, or None.
    ``before``: the blocks that it says it continues, in order."""

    page: str
    number: int
    language: str
    code: str
    printed: str | None = None
    before: tuple["Block", ...] = field(default=(), repr=False)

    @property
    def first(self) -> str:
        return self.code.partition("\n")[0]

    @property
    def saved_as(self) -> str | None:
        """The name of the file that a reader is told to save it as."""
        found = SAVED.match(self.first)
        return found[1] if found and self.language == "python" else None

    def __str__(self) -> str:
        return f"{self.page}-{self.number}"


def fences(text: str) -> Iterator[tuple[str, str]]:
    """The language and the content of every fence of a page; directives are none."""
    for _, language, content in FENCE.findall(text):
        if not language.startswith("{"):
            yield language.strip(), content


def blocks_in(page: str, text: str) -> list[Block]:
    """The blocks of a page that run, each with the output below it."""
    listed = list(fences(text))
    found: list[Block] = []
    for number, (language, code) in enumerate(listed):
        if language not in RUN:
            continue
        after = listed[number + 1] if number + 1 < len(listed) else ("", "")
        before = (*found[-1].before, found[-1]) if code.startswith(CONTINUES) else ()
        printed = after[1] if after[0] == "text" else None
        found.append(Block(page, len(found) + 1, language, code, printed, before))
    return found


def written_pages(docs: Path) -> dict[str, str]:
    """Every page that somebody wrote, by its path."""
    return {
        file.relative_to(docs).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(docs.rglob("*.md"))
    }


def readme() -> str:
    """The text of the README."""
    return (DOCS / README).read_text(encoding="utf-8")


def agrees(printed: str, shown: str) -> bool:
    """Whether this was printed. A line of three dots stands for any lines; times are not compared."""
    printed, shown = (TIMES.sub("at some time", text) for text in (printed, shown))
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*".join(parts), printed) is not None
