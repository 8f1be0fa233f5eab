"""How Sphinx builds the site; ``make docs`` puts its sources together and calls it."""

from pathlib import Path

from sphinx.application import Sphinx

from rag_rule_explainer.version import __version__

project = "rag-rule-explainer"
author = "The rag-rule-explainer authors"
copyright = author  # noqa: A001 -- Sphinx's name
release = version = __version__

extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["ci/*", "**/README.md"]
html_theme = "furo"
html_title = f"rag-rule-explainer {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Summaries are fetched, which a browser refuses to do from a folder.
html_show_search_summary = False

myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3

pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
# Blocks without a language are no Python.
highlight_language = "text"
copybutton_exclude = ".linenos, .gp, .go"

MENDED = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    "<pre>": '<pre tabindex="0">',
}


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("build-finished", mend)


def mend(app: Sphinx, failure: Exception | None) -> None:
    """Says to screen readers what Sphinx leaves out, and lets keys reach what moves sideways."""
    for page in Path(app.outdir).rglob("*.html") if failure is None else ():
        text = page.read_text(encoding="utf-8")
        for wrong, right in MENDED.items():
            text = text.replace(wrong, right)
        page.write_text(text, encoding="utf-8")
