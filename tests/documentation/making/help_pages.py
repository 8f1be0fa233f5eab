"""The pages of ``rag-rules help``, as pages of the site."""

import re
from collections.abc import Iterator

from rag_rule_explainer.cli.pages import KINDS, HelpPage, help_pages

OPENING = """\
# Help pages

`rag-rules help NAME` prints each of these: an error, a setting, a claim, or a word of a report.
"""


def pages() -> Iterator[tuple[str, str]]:
    """Each page by its path, and the list of all."""
    listed = help_pages()
    for each in listed:
        yield f"{each.kind}/{each.name}.md", f"{each.text}\n"
    parts = [
        _listed(heading, [each for each in listed if each.kind == kind])
        for kind, heading in KINDS.items()
    ]
    yield "index.md", "\n".join([OPENING, *parts])


def _listed(heading: str, pages: list[HelpPage]) -> str:
    rows = "".join(f"- [{each.title}]({each.kind}/{each.name}.md)\n" for each in pages)
    tree = "".join(f"{each.kind}/{each.name}\n" for each in pages)
    return f"## {heading}\n\n{rows}\n```{{toctree}}\n:hidden:\n\n{tree}```\n"


def body_of(kind: str, name: str) -> str:
    """What a page says below its heading, for a page in ``reference``; nothing if there is no page."""
    found = [each.text for each in help_pages() if (each.kind, each.name) == (kind, name)]
    if not found:
        return ""
    told = found[0].partition("\n")[2].partition("\n\nAlso called: ")[0].strip()
    told = re.sub(r"\]\(\.\./(?=\w)", "](../help/", told)
    return re.sub(r"\]\((?=[\w-]+\.md)", f"](../help/{kind}/", told)
