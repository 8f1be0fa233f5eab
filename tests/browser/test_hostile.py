"""Documents and answers that try to run: whatever they hold is text in the browser as well."""

from collections.abc import Callable

import pytest

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.report.html import as_html
from rag_rule_explainer.testing import ScriptedReplay
from tests.browser.opening import PHONE, Opened
from tests.report.hostile import DOES, hostile_explanations, hostile_texts

pytestmark = pytest.mark.browser

Opening = Callable[..., Opened]
OWNED = "document.documentElement.dataset.owned"


def provoked(seen: Opened) -> None:
    """Does everything that a reader could do to a page."""
    page = seen.page
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    page.evaluate("document.querySelectorAll('.found *, .sources *').forEach((each) => each.focus())")
    for mask in (0, 1, 15):
        page.locator(f'use[data-m="{mask}"]').first.dispatch_event("pointerover", {"bubbles": True})
        assert "Verdict" in page.locator("output.probe").first.inner_text()
    page.locator(".rules li").first.dispatch_event("click")
    page.get_by_label("Filter").fill("<script>")
    page.locator("table.probes th button").nth(4).click()


def test_two_hundred_texts_run_nothing(opened: Opening) -> None:
    seen = None
    for explanation in hostile_explanations(hostile_texts()):
        if seen is None:
            seen = opened(as_html(explanation))
        else:
            seen.file.write_text(as_html(explanation), encoding="utf-8")
            seen.page.reload()
        provoked(seen)
        assert seen.page.evaluate(OWNED) is None
        assert seen.page.evaluate("document.scripts.length") == 3
        assert seen.page.locator("iframe, object, embed, form, img, base, link").count() == 0
        assert seen.page.url == seen.file.as_uri()
        assert seen.complaints == []


def test_what_would_run_does_so_without_the_policy_and_the_escapes(opened: Opening) -> None:
    """So the tests above would see it."""
    seen = opened(f"<!doctype html><html><body><script>{DOES}</script></body></html>")
    assert seen.page.evaluate(OWNED) == "1"


def test_the_policy_alone_stops_them(opened: Opening) -> None:
    html = as_html(hostile_explanations(["text"])[0])
    seen = opened(html.replace("</main>", f"<script>{DOES}</script><p onclick='{DOES}'>x</p></main>"))
    seen.page.locator("main > p").dispatch_event("click")
    assert seen.page.evaluate(OWNED) is None
    assert len(seen.complaints) == 2
    assert all("Content Security Policy" in each for each in seen.complaints)
    seen.complaints.clear()


def test_a_line_of_a_megabyte_is_shown_cut(opened: Opening) -> None:
    line = "x" * 1_000_000
    explainer = Explainer(ScriptedReplay(lambda shown: f"yes{line}"), predicate=contains("yes"))
    seen = opened(
        as_html(explainer.explain(line, [Source("a", line), Source("b" * 3000, "")])), viewport=PHONE
    )
    assert seen.wider_than_the_screen() <= 0
    seen.page.locator("use").first.dispatch_event("pointerover", {"bubbles": True})
    assert len(seen.page.locator("output.probe").inner_text()) < 10_000
