"""This package holds the pages of ``rag-rules help``, and finds the page of a name.

The folders ``errors``, ``settings``, ``claims`` and ``words`` have one Markdown file for each page. Its
heading is the name of the page. A last paragraph "Also called: ..." lists other names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ...errors import InvalidInput
from ...printable import shortened

KINDS: Mapping[str, str] = {
    "errors": "Errors",
    "settings": "Settings",
    "claims": "Claims, which say how sure a rule is",
    "words": "Words of a report",
}
"""The folders of the pages, each with its heading in the list of all pages."""
ALSO_CALLED = "Also called: "
"""The beginning of the last paragraph of a page, which lists other names of the page."""
_SHORTEST_PART = 4
"""The minimum number of characters by which a page is found if they are only a part of its name. A
shorter text finds a page only if it is the whole name."""


class HelpPage(NamedTuple):
    """A ``HelpPage`` explains one error, setting, claim or word.

    ``kind``: its folder. ``name``: the name of its file. ``title``: its heading. ``text``: its Markdown.
    ``others``: other names that find it.
    """

    kind: str
    name: str
    title: str
    text: str
    others: tuple[str, ...]


@cache
def help_pages() -> tuple[HelpPage, ...]:
    """Returns all pages, sorted by kind and name."""
    return tuple(_pages())


def _pages() -> Iterator[HelpPage]:
    for kind in KINDS:
        for file in sorted((files(__name__) / kind).iterdir(), key=lambda each: each.name):
            text = file.read_text(encoding="utf-8").strip()
            body, _, listed = text.partition(f"\n\n{ALSO_CALLED}")
            others = tuple(" ".join(each.split()) for each in listed.split(",") if each.strip())
            title = body.partition("\n")[0].removeprefix("# ")
            yield HelpPage(kind, file.name.removesuffix(".md"), title, text, others)


def find_page(asked: str) -> HelpPage | None:
    """Returns the page of a name; None if there is none.

    The name may be as users write it, such as "--samples", "Noise(samples=9)", "NotRepeatable" or "What
    would flip it".
    """
    known = _by_name()
    for form in _forms(asked):
        if form in known:
            return known[form][1]
    part = _forms(asked)[0]
    found = {page for name, (_, page) in known.items() if part in name}
    return next(iter(found)) if len(found) == 1 and len(part) >= _SHORTEST_PART else None


def no_page(asked: str, others: Iterable[str]) -> InvalidInput:
    """Returns the error for a name that has no page. ``others``: other names that the user may have meant
    and that have no page either, such as commands. The error suggests the most similar name."""
    written = {form: name for form, (name, _) in _by_name().items()} | {each: each for each in others}
    near = get_close_matches(_forms(asked)[0], written, n=1, cutoff=0.6)
    meant = f"did you mean {written[near[0]]!r}? " if near else ""
    return InvalidInput(f"{shortened(asked, 100)!r} has no page; {meant}rag-rules help lists all names")


@cache
def _by_name() -> dict[str, tuple[str, HelpPage]]:
    """Returns all pages by simplified forms of their names, such as "samples" for "Noise(samples=9)",
    each with the name as it is written on the page."""
    own = [(name, page) for page in help_pages() for name in (page.title, page.name)]
    others = [(name, page) for page in help_pages() for name in page.others]
    return {_forms(name)[0]: (name, page) for name, page in (*others, *own)}


def _forms(written: str) -> tuple[str, ...]:
    """Returns simplified forms of a name that a user wrote, such as "samples" for "Noise(samples=9)", the
    most exact form first. A page is looked up under each of them in turn."""
    plain = " ".join(written.casefold().replace("`", "").split())
    name = plain.lstrip("-").replace("-", "_").replace(" ", "_")
    begun = re.split(r"_*[(:=]", name)[0] or name
    exact = f"--{name}" if plain.startswith("--") else name
    return exact, name, begun, begun.partition(".")[0], begun.rpartition(".")[2]
