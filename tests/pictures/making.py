"""The pictures of README and documentation, made from the demo's second story and from the gallery.

The SVGs are the same on every machine. A screenshot is not, so what it was taken of is compared instead.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from html import escape
from itertools import takewhile
from pathlib import Path

from rich.console import Console

from rag_rule_explainer import Explanation
from rag_rule_explainer.cli.demo import explained_story
from rag_rule_explainer.cli.stories import REHABILITATION
from rag_rule_explainer.cli.wrapping import wrapped
from rag_rule_explainer.explanation.origin import ApplicationRecord
from rag_rule_explainer.report import as_html, lines, notebook_html
from rag_rule_explainer.report.html.still import lattice_svg
from rag_rule_explainer.report.subsets import subset_views
from tests.pictures.gallery import file_of, shown_as

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
TAKEN_OF = FOLDER / "taken_of.json"
"""For each screenshot, the hash of the page that it was taken of."""
WIDTH = 100
_NOT_OF_A_RUN: Mapping[str, object] = {
    "id": "",
    "versions": {},
    "made_at": "2026-01-01T00:00:00Z",
    "application": ApplicationRecord(),
}
_UP_TO = "What is not a rule"
"""The heading before which the picture of the terminal ends."""
_STILL = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace;
font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}</defs>
{chrome}<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""
"""Rich's own format loads a font from elsewhere; this one does not."""
_NOTEBOOK = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>A notebook</title><style>
body {{ margin: 0; padding: 16px; font: 14px/1.4 system-ui, sans-serif; }}
body {{ background: #fff; color: #1b1f24; }}
.in {{ display: flex; gap: 12px; margin-bottom: 12px; }}
.in pre {{ flex: 1; margin: 0; padding: 8px 10px; background: #f5f6f8; border: 1px solid #d4d8de; }}
.in span {{ color: #1257b8; padding-top: 9px; font-family: monospace; white-space: pre; }}
.out {{ margin-left: 68px; }}
</style><div class="in"><span>[1]:</span><pre>{code}</pre></div><div class="out">{cell}</div></html>
"""
_DEMO = "rag-rules demo"
_TYPED = ">>> print(explanation.report())"
_CODE = 'explainer = RuleExplainer(chain, predicate=contains("six weeks"))\nexplainer.explain(question)'


@lru_cache(maxsize=1)
def told() -> Explanation:
    """The story's explanation, without what differs from run to run."""
    made = explained_story(REHABILITATION, lockstep=True)
    return without_its_run(made.model_copy(update={"settings": {**made.settings, "lockstep": False}}))


def without_its_run(made: Explanation) -> Explanation:
    """The same, whenever and wherever it was made."""
    probes = tuple(replace(probe, latency=None) for probe in made.probes)
    return made.model_copy(update={**_NOT_OF_A_RUN, "probes": probes})


def terminal(title: str, typed: str, explanation: Explanation) -> str:
    """A terminal with what was typed, and the report up to what is not a rule."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(f"{typed}\n", style="dim", highlight=False)
    for line in takewhile(lambda line: line.plain != _UP_TO, lines(explanation)):
        for part in wrapped(line, console):
            console.print(part, highlight=False)
    console.print("…")
    return console.export_svg(title=title, code_format=_STILL, unique_id="demo")


def lattice(explanation: Explanation) -> str:
    """All subsets, as the report draws them."""
    (view,) = subset_views(explanation)
    return f"{lattice_svg(view)}\n"


def drawings() -> Mapping[str, str]:
    """The SVGs, by the name of their file."""
    in_terminals = {
        each.picture: terminal(file_of(each.name).name, _TYPED, without_its_run(each.explanation))
        for each in shown_as("terminal")
    }
    return {
        "terminal.svg": terminal(_DEMO, f"$ {_DEMO}\n{REHABILITATION.introduction}", told()),
        "lattice.svg": lattice(told()),
        **in_terminals,
        **{each.picture: lattice(each.explanation) for each in shown_as("lattice")},
    }


def pages() -> Mapping[str, str]:
    """The pages that screenshots are taken of, by the name of the screenshot."""
    cell = notebook_html(told()).replace("<details style", "<details open style")
    return {
        "report.png": as_html(told()),
        "notebook.png": _NOTEBOOK.format(code=escape(_CODE), cell=cell),
        **{each.picture: as_html(without_its_run(each.explanation)) for each in shown_as("report")},
    }


def hashes() -> Mapping[str, str]:
    return {name: hashlib.sha256(page.encode()).hexdigest() for name, page in pages().items()}


def taken_of() -> Mapping[str, str]:
    return json.loads(TAKEN_OF.read_text())
