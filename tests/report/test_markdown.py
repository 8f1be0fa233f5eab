"""The report as Markdown: what a renderer makes of it is the report's own, and nothing from outside."""

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag_rule_explainer import Explanation
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import as_markdown, as_text
from rag_rule_explainer.report.markdown import plain_markdown
from tests.report.test_csv import explained as of_ids
from tests.report.test_text import explained, forged_explanation, hostile_explanation, yes_if

RENDERER = MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(
    ["linkify", "table", "strikethrough"]
)
OWN = {
    *("heading", "paragraph", "inline", "text", "strong", "em", "bullet_list", "list_item"),
    *("softbreak", "text_special"),
}
"""The kinds of things that texts and lists of the report are made of."""
TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
FOLD = ["<details><summary>Sources, what was tried, cost and origin</summary>\n", "</details>\n"]
"""The only HTML of the report."""
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- -->",
    "<https://evil.example>",
    "https://evil.example/a.b?c=d",
    "www.evil.example and evil.com, mailto:a@evil.com, a@evil.com",
    "www.1 WWW.2 ftp://a.b http://1.2.3.4 http://localhost //a.b tel:1 xmpp:a@b",
    "[text](javascript:alert(1)) ![image](http://evil.example)",
    "[a]: http://evil.example",
    "*a* **b** _c_ ~~d~~ `e` ```f",
    "| a | b |\n|---|---|\n| c | d |",
    "&lt;script&gt; &#60;",
    "# heading",
    "1. item",
    "- item",
    "+ item",
    "---",
    "===",
    "    code",
    "> quote",
    "\\",
    "a\\",
    "\\<b>",
    "$$x$$ {{x}} {% x %}",
)


def tokens(text: str) -> Iterator[Token]:
    for token in RENDERER.parse(text):
        yield token
        yield from token.children or ()


def kinds(text: str) -> set[str]:
    return {re.sub(r"_(open|close)$", "", token.type) for token in tokens(text)}


def seen(text: str) -> str:
    """What a reader of the rendered text sees."""
    own = r"</?(p|strong|em|ul|li|h\d|br|table|thead|tbody|tr|th|td|details|summary)\s?/?>"
    rendered = re.sub(own, "", RENDERER.render(text))
    return html.unescape(rendered).strip("\n").replace("\u200c", "")


def check_own_parts(written: str) -> None:
    """Asserts that a report in Markdown is made of the report's own parts, and its tables are whole."""
    assert kinds(written) <= OWN | TABLES | {"html_block"}
    assert [token.content for token in tokens(written) if token.type == "html_block"] == FOLD
    for table in re.findall(r"(?:^\|.*\n)+", written, re.MULTILINE):
        rows = [token.type for token in tokens(table) if token.type in {"tr_open", "th_open", "td_open"}]
        columns = rows.count("th_open")
        assert len(table.splitlines()) - 1 == rows.count("tr_open")
        assert rows.count("td_open") == columns * (rows.count("tr_open") - 1)
        assert all(
            len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == columns + 1 for row in table.splitlines()
        )


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", ["{}", "- {}", "**a:** {}", "- **a** {}", "- *{}*"])
def test_no_text_is_markup(text: str, place: str) -> None:
    written = place.format(plain_markdown(printable(text)))
    assert kinds(written) <= OWN
    found = [token for token in tokens(written) if token.type.endswith("list_open")]
    assert len(found) == place.startswith("-")
    assert printable(text).strip() in seen(written)


@given(st.text(max_size=40).map(printable) | st.text("*_`[]()<>#|~-+=&:./@w\\ 1a!{}$^\"'", max_size=12))
def test_any_text_is_seen_as_it_is_and_nothing_else(text: str) -> None:
    written = f"- **a** {plain_markdown(text)}"
    assert kinds(written) <= OWN
    assert seen(written) == f"a {text.strip()}".replace("\u200c", "").strip()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_a_table(text: str) -> None:
    table = f"| a | b |\n|---|---|\n| {plain_markdown(printable(text))} | c |"
    assert [token.content for token in tokens(table) if token.type == "inline"][-1] == "c"
    assert not {"html_inline", "link_open"} & {token.type for token in tokens(table)}


@pytest.mark.parametrize(
    "make",
    [hostile_explanation, forged_explanation, *(lambda text=text: of_ids(text) for text in HOSTILE)],
)
def test_a_report_is_made_of_its_own_parts(make: Callable[..., Explanation]) -> None:
    check_own_parts(as_markdown(make()))


def test_rules_are_a_table_before_all_that_is_folded() -> None:
    written = as_markdown(explained(yes_if("D1", "D3")))
    assert (
        "| Rule | How sure it is |\n| --- | --- |\n"
        "| whenever D1 and D3 are retained, the answer contains 'yes' | proved on all 2 subsets |\n"
    ) in written
    assert written.index("*complete: these are all the rules there are*") < written.index("<details>")
    assert (
        written.index("What would flip it")
        < written.index("<details>")
        < written.index("| D1 | text 1 |")
    )


@pytest.mark.parametrize("text", ["#12", "see (#12)", "owner/repo#12", "GH-12", "gh-7", "@team", "a@b"])
def test_no_text_calls_for_a_person_or_an_issue(text: str) -> None:
    rendered = RENDERER.render(plain_markdown(text))
    assert not re.search(r"#\d|GH-\d|@\w", rendered, re.IGNORECASE)
    assert seen(plain_markdown(text)) == text


def test_it_says_what_the_text_says() -> None:
    explanation: Any = explained(yes_if("D1", "D3"))
    rendered = " ".join(seen(as_markdown(explanation)).split())
    for line in as_text(explanation).splitlines():
        for told in re.split(r"\s{2,}|^(?:Question|Answer): ", line.removeprefix("  - ").strip()):
            assert " ".join(told.split()) in rendered
