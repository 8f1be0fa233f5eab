"""What the report does under pointer, finger and keys."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from rag_rule_explainer import Source
from rag_rule_explainer.report.html import as_html
from tests.browser.opening import PHONE, Opened
from tests.browser.reports import full_ten
from tests.report.test_html import explained_of
from tests.report.test_text import explained, yes_if

pytestmark = pytest.mark.browser

Opening = Callable[..., Opened]
MOST_CHANGES = 16
"""Elements that one answer may add, remove or alter."""


def mark(page: Page, mask: int) -> str:
    return f'use[data-m="{mask}"]'


def told(page: Page) -> list[str]:
    """The lines of the panel."""
    return [line for line in page.locator("output.probe").inner_text().splitlines() if line]


@pytest.fixture
def pair(opened: Opening) -> Page:
    return opened(as_html(explained(yes_if("D1", "D2")))).page


class TestLattice:
    @pytest.mark.parametrize("how", ["hover", "click", "tap"])
    def test_a_mark_tells_what_was_kept_and_what_came_of_it(self, opened: Opening, how: str) -> None:
        touch = {"viewport": PHONE, "has_touch": True} if how == "tap" else {}
        page = opened(as_html(explained(yes_if("D1", "D2"))), **touch).page
        getattr(page.locator(mark(page, 0b011)), how)()
        assert told(page) == [
            "Verdict: the condition holds: the answer contains 'yes'",
            "Retained: D1, D2",
            "Omitted: D3",
            "Answer: yes",
        ]

    def test_what_it_tells_is_what_the_mark_shows(self, pair: Page) -> None:
        """Also where only the opposite condition was asked about."""
        states: set[str] = set()
        for mask in range(8):
            pair.locator(mark(pair, mask)).hover()
            shape = (pair.locator(mark(pair, mask)).get_attribute("href") or "").split("-")[-1]
            words = {"holds": "the condition holds", "breaks": "the condition does not hold"}[shape]
            assert told(pair)[0] == f"Verdict: {words}: the answer contains 'yes'"
            assert told(pair)[3] == f"Answer: {'yes' if shape == 'holds' else 'no'}"
            states.add(shape)
        assert len(states) == 2

    def test_what_failed_tells_why(self, opened: Opening) -> None:
        script = yes_if("D1")
        fails = explained(lambda shown: script(shown) if shown else TimeoutError("too slow"))
        page = opened(as_html(fails)).page
        page.locator(mark(page, 0)).hover()
        assert told(page)[0].startswith("Verdict: no verdict")
        assert "Reason: TimeoutError: too slow" in told(page)

    def test_what_was_not_asked_says_so(self, opened: Opening) -> None:
        page = opened(as_html(explained(lambda shown: "yes" if shown else "no", sources=3))).page
        unasked = page.locator("use[href$='unasked']")
        if unasked.count():
            unasked.first.hover()
            assert told(page)[0] == "Verdict: not asked"

    def test_keys_walk_over_it(self, pair: Page) -> None:
        pair.locator(".lattice .scrolled").focus()
        seen: list[str] = []
        for key in ("Home", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "End", "x"):
            pair.keyboard.press(key)
            seen.append(told(pair)[1].removeprefix("Retained: "))
        assert seen[0] == "D1, D2, D3"
        assert [len(each.split(", ")) for each in seen[:6]] == [3, 2, 2, 2, 1, 2]
        assert len({*seen[1:4]}) == 3
        assert seen[6:] == ["no documents", "no documents"]

    def test_every_mark_is_reached_by_keys(self, pair: Page) -> None:
        pair.locator(".lattice .scrolled").focus()
        pair.keyboard.press("Home")
        seen = {told(pair)[1]}
        for _ in range(4):
            for _ in range(3):
                pair.keyboard.press("ArrowRight")
                seen.add(told(pair)[1])
            pair.keyboard.press("ArrowDown")
            seen.add(told(pair)[1])
        assert len(seen) == 8

    def test_tab_leads_to_it_and_shows_all_kept(self, pair: Page) -> None:
        for _ in range(40):
            pair.keyboard.press("Tab")
            if pair.evaluate("document.activeElement.matches('.lattice .scrolled')"):
                break
        assert "Retained: D1, D2, D3" in told(pair)

    def test_a_rule_lights_up_what_it_covers(self, pair: Page) -> None:
        lit = "[...document.querySelectorAll('.lighting use.lit')].map((each) => +each.dataset.m).sort()"
        assert pair.evaluate(lit) == []
        pair.locator(".rules > li").first.hover()
        assert pair.evaluate(lit) == [0b011, 0b111]
        pair.mouse.move(5, 5)
        assert pair.evaluate(lit) == []
        buttons = pair.locator("button.label")
        buttons.nth(1).press("Enter")
        assert buttons.nth(1).get_attribute("aria-pressed") == "true"
        assert len(pair.evaluate(lit)) == 4
        buttons.nth(1).press("Enter")
        assert buttons.nth(1).get_attribute("aria-pressed") == "false"
        assert pair.evaluate(lit) == []


class TestProbes:
    def rows(self, page: Page, column: int) -> list[str]:
        return page.locator(f"table.probes tbody tr:visible td:nth-child({column})").all_inner_texts()

    def test_each_column_sorts_both_ways(self, opened: Opening) -> None:
        page = opened(as_html(explained(yes_if("D1", "D2"), sources=4))).page
        heads = page.locator("table.probes th button")
        before = self.rows(page, 1)
        assert before == [str(number) for number in range(1, 17)]
        heads.nth(0).click()
        assert self.rows(page, 1) == before
        heads.nth(0).click()
        assert self.rows(page, 1) == before[::-1]
        assert page.locator("th[aria-sort=descending]").inner_text().startswith("No.")
        heads.nth(2).press("Enter")
        assert self.rows(page, 3) == sorted(self.rows(page, 3), key=int)
        assert page.locator("th[aria-sort]").count() == 1

    def test_a_text_filters_them(self, opened: Opening) -> None:
        page = opened(as_html(explained(yes_if("D1", "D2"), sources=4))).page
        page.get_by_label("Filter").fill("DOES NOT")
        assert len(self.rows(page, 1)) == 12
        assert page.locator(".filter [role=status]").inner_text() == "12 of 16"
        page.get_by_label("Filter").fill("")
        assert len(self.rows(page, 1)) == 16


def test_a_name_of_a_document_leads_to_its_text(opened: Opening) -> None:
    page = opened(as_html(explained_of([Source("a", "the text"), Source("b", "other")]))).page
    page.locator(".rules a.source").first.click()
    assert page.url.endswith("#source-1")
    assert page.get_by_text("the text").is_visible()


def test_a_mark_answers_in_the_same_frame_with_little_work(opened: Opening) -> None:
    """A slow machine paints soon what changes few elements; tests/benchmarks measure how soon."""
    seen = opened(as_html(full_ten()))
    page = seen.page
    page.evaluate(
        """() => { window.counts = []; window.fresh = [];
        const panel = document.querySelector("output.probe");
        let count = 0;
        const changes = new MutationObserver((records) => { for (const each of records)
            count += Math.max(1, each.addedNodes.length + each.removedNodes.length); });
        changes.observe(document.body, { subtree: true, childList: true, attributes: true });
        document.addEventListener("pointerover", (event) => {
            if (!event.target.closest("use")) return;
            const before = panel.textContent;
            count = 0;
            requestAnimationFrame(() => {
                window.fresh.push(panel.textContent !== before);
                window.counts.push(count);
            });
        }, true); }"""
    )
    page.locator(".lattice .scrolled").scroll_into_view_if_needed()
    for place in range(20):
        page.locator("use").nth(300 + place * 7).hover()
        page.wait_for_function(f"window.counts.length > {place}")
    assert page.evaluate("window.fresh") == [True] * 20
    assert 0 < max(page.evaluate("window.counts")) <= MOST_CHANGES
    seen.shot("ten-hover")
