"""This module joins the parts of the HTML report to one file that needs no other file and no network."""

import base64
import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources

from markupsafe import Markup
from pydantic_core import PydanticSerializationError

from ...explanation.explanation import Explanation
from ...printable import printable, shortened
from ..plain_words import LEGEND
from ..section import Section
from ..short_names import short_names
from ..subsets import subset_views
from ..view import sections
from .cited import citation_section
from .documents import importance_table, rule_matrix, source_list
from .lattice import lattice_figure
from .markup import isolated, joined_markup
from .naming import SourceNames
from .probes import probe_table
from .rules import missing_rules, opening, rule_lists, smallest_changes

_STYLES = ("page.css", "figures.css")
_SCRIPTS = ("lattice.js", "probes.js")
_LAID_OUT_HERE = ("Sources", "Retention rules", "Omission rules", "What would flip it", "Importance")
"""The beginnings of the headings of those sections that this module lays out in its own way. The other
sections of a report are written as simple lists."""


def as_html(explanation: Explanation) -> str:
    """Returns the report as one HTML file that needs no network, ending in a newline.

    If the browser runs no scripts, the diagram of the subsets does not show details when a subset is
    selected. The table of probes has these details as well. Texts of the explanation are escaped, so they
    never act as markup. The element with the id *explanation* contains the explanation itself as JSON.
    """
    return "".join(_page(explanation))


def _page(explanation: Explanation) -> Iterator[str]:
    names = SourceNames(explanation)
    styles, scripts, policy = _assets()
    title = Markup("{}").format(shortened(printable(explanation.question), 100))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>Why this answer? {title}</title>\n{styles}</head>\n<body>\n"
    )
    missing = missing_rules(explanation, names)
    yield f'<header>{opening(explanation)}{missing}</header>\n<main>\n<div class="first">'
    yield f'<section class="found" aria-label="Rules">{rule_lists(explanation, names)}</section>'
    changes = smallest_changes(explanation, names)
    yield f'<section class="fixes" aria-label="Changes">{changes}</section></div>\n'
    yield from _parts(explanation, names)
    yield "</main>\n"
    yield f'<script type="application/json" id="explanation">{embedded_json(explanation)}</script>\n'
    yield f"{scripts}</body>\n</html>\n"


def _parts(explanation: Explanation, names: SourceNames) -> Iterator[str]:
    yield _legend()
    yield _part("Citations", citation_section(explanation))
    yield _part(f"Documents ({len(explanation.sources):,})", source_list(explanation))
    views = subset_views(explanation)
    units = short_names(explanation)
    figures = joined_markup(lattice_figure(each, f"lattice-{n}", units) for n, each in enumerate(views))
    yield _part("All subsets" if views else "Rules by documents", figures or rule_matrix(explanation))
    yield _part("Importance", importance_table(explanation))
    for section in sections(explanation):
        if section.heading and not section.heading.startswith(_LAID_OUT_HERE):
            yield _part(section.heading, _listed(section))
    yield _part(f"Every probe ({len(explanation.probes):,})", probe_table(explanation, names))


def _part(heading: str, content: Markup) -> str:
    if not content:
        return ""
    return Markup("<section><h2>{}</h2>{}</section>\n").format(heading, content)


def _legend() -> str:
    terms = joined_markup(Markup("<dt>{}</dt><dd>{}</dd>").format(*each) for each in LEGEND)
    return Markup(
        '<details class="legend"><summary>How to read this</summary><dl>{}</dl></details>\n'
    ).format(terms)


def _listed(section: Section) -> Markup:
    entries = joined_markup(
        Markup("<li>{}{}</li>").format(
            Markup(" ").join(
                Markup('<span class="{}">{}</span>').format(cell.tone, isolated(cell.text))
                for cell in entry.cells
            ),
            Markup("<small>{}</small>").format(isolated(entry.below)) if entry.below else "",
        )
        for entry in section.entries
    )
    more = (
        Markup('<p class="aside">… and {:,} more</p>').format(section.left_out)
        if section.left_out
        else ""
    )
    remark = Markup('<p class="aside">{}</p>').format(section.remark) if section.remark else Markup()
    return Markup('<ul class="plain">{}</ul>{}{}').format(entries, more, remark)


def embedded_json(explanation: Explanation) -> str:
    """Returns the explanation as JSON for a ``script`` element. The JSON contains no ``<``, so no HTML
    parser finds the end of the element inside the JSON."""
    try:
        text = explanation.model_dump_json()
    except PydanticSerializationError:  # the explanation has lone surrogates, which UTF-8 cannot write
        text = json.dumps(explanation.model_dump(mode="json"))
    text = text.replace("<", "\\u003c")
    if text.isprintable():
        return text
    # A person may read the file as text. So characters that are invisible, or that change how other
    # characters are displayed, are escaped.
    unseen = (character for character in set(text) if not character.isprintable())
    return text.translate({ord(character): json.dumps(character)[1:-1] for character in unseen})


@lru_cache(maxsize=1)
def _assets() -> tuple[str, str, str]:
    """Returns the styles, the scripts, and the content security policy that allows only these."""
    here = resources.files("rag_rule_explainer.report.html")
    styles = [here.joinpath(name).read_text("utf-8") for name in _STYLES]
    scripts = [here.joinpath(name).read_text("utf-8") for name in _SCRIPTS]
    policy = (
        f"default-src 'none'; style-src {_hashes(styles)}; script-src {_hashes(scripts)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        "".join(f"<style>{text}</style>\n" for text in styles),
        "".join(f'<script type="module">{text}</script>\n' for text in scripts),
        policy,
    )


def _hashes(texts: list[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
