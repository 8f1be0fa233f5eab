"""Docstrings as Markdown: parameters become a list, and nothing in them is taken for markup."""

import inspect
import re
from collections.abc import Iterator, Mapping

PARAMETER = re.compile(r"(?:^|(?<=[.;:)]) )(``[a-zA-Z_]\w*``(?:(?:, | and )``\w+``)*): ")
"""Where a docstring begins to describe a parameter, or several."""
SPAN = re.compile(r"(``.+?``)", re.DOTALL)
MARKUP = re.compile(r"([\\*_<>\[\]{}|$`#~])")


def plain(text: str, links: Mapping[str, str] | None = None) -> str:
    """Running text as Markdown. ``links``: where a name that stands in code marks is described."""
    parts = SPAN.split(text)
    return "".join(
        _code(part[2:-2], links or {}) if part.startswith("``") and len(part) > 4 else _escaped(part)
        for part in parts
    )


def _escaped(text: str) -> str:
    return MARKUP.sub(r"\\\1", text)


def _code(text: str, links: Mapping[str, str]) -> str:
    code = f"`{text}`"
    return f"[{code}]({links[text]})" if text in links else code


def described(docstring: str) -> tuple[str, dict[str, str]]:
    """A paragraph's opening, and what it says of each parameter that it names."""
    starts = list(PARAMETER.finditer(docstring))
    if not starts:
        return docstring, {}
    ends = [each.start() for each in starts[1:]] + [len(docstring)]
    told: dict[str, str] = {}
    for found, end in zip(starts, ends, strict=True):
        for name in re.findall(r"\w+", found[1].replace(" and ", " ")):
            told[name] = docstring[found.end() : end].strip()
    return docstring[: starts[0].start()].strip(), told


def paragraphs(docstring: str) -> list[str]:
    """The paragraphs of a docstring; lines of running text are joined, indented ones kept."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(docstring))
    return [block if block.startswith("    ") else " ".join(block.split("\n")) for block in blocks]


def parameters_of(docstring: str) -> dict[str, str]:
    """What a docstring says of each parameter, in all of its paragraphs."""
    told: dict[str, str] = {}
    for paragraph in _with_errors_apart(paragraphs(docstring)):
        told.update(described(paragraph)[1])
    return told


def as_markdown(docstring: str, links: Mapping[str, str] | None = None) -> str:
    """The docstring as Markdown."""
    written: list[str] = []
    for paragraph in _with_errors_apart(paragraphs(docstring)):
        if paragraph.startswith("    "):
            written.append(f"```text\n{inspect.cleandoc(paragraph)}\n```")
            continue
        opening, told = described(paragraph)
        if opening:
            written.append(
                plain(opening.removesuffix("::") + ("." if opening.endswith("::") else ""), links)
            )
        if told:
            written.append("\n".join(f"- `{name}`: {plain(text, links)}" for name, text in told.items()))
    return "\n\n".join(written)


def _with_errors_apart(told: list[str]) -> Iterator[str]:
    """What is raised stands in a paragraph of its own, after the parameters."""
    for paragraph in told:
        before, raised, after = paragraph.partition(" Raises ")
        apart = bool(raised) and before.endswith(".")
        yield from (before, f"Raises {after}") if apart else (paragraph,)
