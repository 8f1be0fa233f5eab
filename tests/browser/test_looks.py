"""The report where it is read: on a desk, on a phone, in the dark, on paper, by a screen reader."""

from collections.abc import Callable
from typing import Any

import pytest

from rag_rule_explainer import Explanation, Source
from rag_rule_explainer.report.html import as_html
from tests.browser.opening import DESKTOP, PHONE, Opened
from tests.browser.reports import shapes
from tests.report.test_html import explained_of

pytestmark = pytest.mark.browser

SHAPES = shapes()
ZOOMED = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
"""What a browser makes of 1280 x 800 at 200 %."""
each_shape = pytest.mark.parametrize("name", SHAPES)
Opening = Callable[..., Opened]


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "hostile"])
def test_the_rules_are_seen_without_scrolling(opened: Opening, name: str) -> None:
    seen = opened(as_html(SHAPES[name]))
    seen.shot(f"first-{name}")
    first = seen.page.locator(".found h2").first.bounding_box()
    assert first is not None
    assert first["y"] + first["height"] < DESKTOP["height"] / 2
    for part in (".found", ".fixes"):
        box = seen.page.locator(part).bounding_box()
        assert box is not None
        assert box["y"] < DESKTOP["height"] / 2
    rules = seen.page.locator(".rules > li")
    if SHAPES[name].rules:
        box = rules.first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= DESKTOP["height"]


@each_shape
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_anybody_out(opened: Opening, name: str, scheme: str) -> None:
    seen = opened(as_html(SHAPES[name]), color_scheme=scheme)
    seen.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert seen.violations() == []


@each_shape
@pytest.mark.parametrize("options", [{"viewport": PHONE}, ZOOMED], ids=["phone", "zoomed"])
def test_it_is_never_wider_than_the_screen(opened: Opening, name: str, options: dict[str, Any]) -> None:
    seen = opened(as_html(SHAPES[name]), **options)
    seen.shot(f"{'phone' if options['viewport'] == PHONE else 'zoomed'}-{name}")
    assert seen.wider_than_the_screen() <= 0
    seen.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert seen.wider_than_the_screen() <= 0


def test_a_phone_gets_the_same_to_read(opened: Opening) -> None:
    seen = opened(as_html(SHAPES["pair"]), viewport=PHONE, has_touch=True, is_mobile=True)
    assert seen.violations() == []
    seen.shot("phone-full", full=True)


def test_dark_is_dark(opened: Opening) -> None:
    for scheme, is_dark in (("light", False), ("dark", True)):
        seen = opened(as_html(SHAPES["pair"]), color_scheme=scheme)
        seen.shot(f"{scheme}-full", full=True)
        colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        channels = [int(each) for each in colour.removeprefix("rgb(").removesuffix(")").split(",")]
        assert (sum(channels) < 150) is is_dark


def test_on_paper_everything_is_open(opened: Opening) -> None:
    seen = opened(as_html(explained_of([Source("a", "the text of a"), Source("b", "a closed text")])))
    assert not seen.page.get_by_text("a closed text").is_visible()
    seen.page.emulate_media(media="print", color_scheme="dark")
    box = seen.page.get_by_text("a closed text").bounding_box()
    assert box is not None
    assert box["height"] > 5
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not seen.page.locator("output.probe").is_visible()
    seen.shot("paper", full=True)
    written = seen.page.pdf(tagged=True)
    assert written.startswith(b"%PDF-")
    assert len(written) > 20_000


@pytest.mark.parametrize("name", ["pair", "sampled"])
def test_without_script_all_of_it_can_be_read(opened: Opening, name: str) -> None:
    explanation: Explanation = SHAPES[name]
    seen = opened(as_html(explanation), java_script_enabled=False)
    shown = seen.page.locator("main").inner_text()
    folded = seen.page.locator("main details").all_text_contents()
    for rule in explanation:
        assert rule.evidence in shown or any(rule.evidence in each for each in folded)
    assert seen.page.locator("table.probes tbody tr").count() == len(explanation.probes)
    assert not seen.page.locator(".filter").is_visible()
