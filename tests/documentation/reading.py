"""How hard a page is to read: the grade of Flesch and Kincaid, by the package ``readability``."""

import re
from importlib import import_module
from typing import Any
from warnings import catch_warnings, simplefilter

SKIPPED = re.compile(
    r"^(`{3,}|:{3,}).*?^\1$"  # blocks and directives
    r"|^\|[^\n]*$"  # tables
    r"|^#[^\n]*$"  # headings
    r"|<!--.*?-->"
    r"|^\([\w.-]+\)=$",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ITEM = re.compile(r"^\s*(?:[-*>]|\d+\.) ", re.MULTILINE)
END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*A-Z])")
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def prose(markdown: str) -> list[str]:
    """The sentences of a page, without blocks, tables, headings and the marks around words. What stands
    in code marks is one word."""
    text = LINK.sub(r"\1", SKIPPED.sub("", markdown))
    text = re.sub(r"`[^`]+`", "name", text)
    text = ITEM.sub("\n\n", text)
    parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    return [
        sentence
        for part in parts
        for sentence in END.split(" ".join(part.split()))
        if WORD.search(sentence)
    ]


def words(markdown: str) -> int:
    """How many words its prose has."""
    return sum(len(WORD.findall(sentence)) for sentence in prose(markdown))


def grade(markdown: str) -> float:
    """The years of school that its prose asks for."""
    with catch_warnings():
        simplefilter("ignore")  # its tables have an escape that Python warns of where it compiles them
        readability: Any = import_module("readability")
    lines = [" ".join(WORD.findall(sentence)) + " ." for sentence in prose(markdown)]
    return readability.getmeasures("\n".join(lines), lang="en")["readability grades"]["Kincaid"]
