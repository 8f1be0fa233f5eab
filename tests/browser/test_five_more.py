"""The reports that strangers read: their key is what they say, and their first screen has all of it."""

from collections.abc import Callable

import pytest

from rag_rule_explainer.report.html import as_html
from tests.browser.five_again import five_again
from tests.browser.five_more import five_more
from tests.browser.opening import DESKTOP, Opened

pytestmark = pytest.mark.browser

KEY = {
    "1": ({frozenset({"blog"}), frozenset({"leaflet"})}, {frozenset({"blog", "leaflet"})}),
    "2": ({frozenset({"minutes"})}, {frozenset({"minutes"})}),
    "3": ({frozenset({"recall-22", "note-518"})}, {frozenset({"recall-22"}), frozenset({"note-518"})}),
    "4": ({frozenset[str]()}, set[frozenset[str]]()),
    "5": ({frozenset({"forecast", "storm-rule"})}, {frozenset({"forecast"}), frozenset({"storm-rule"})}),
}
"""For each picture, what its retention and omission rules name: the key of ``five_more_reports.md``."""
AGAIN = {
    "1": (
        {frozenset({"survey", "notice-a"}), frozenset({"survey", "notice-b"})},
        {frozenset({"survey"}), frozenset({"notice-a", "notice-b"})},
    ),
    "2": ({frozenset({"summary"})}, set[frozenset[str]]()),
    "3": ({frozenset({"news-1", "news-web"})}, {frozenset({"news-1", "news-web"})}),
    "4": ({frozenset({"old-recipe"})}, {frozenset({"old-recipe"})}),
    "5": ({frozenset({"api-guide"})}, {frozenset({"api-guide"})}),
}
"""The key of ``five_again_reports.md``."""
READ = {
    **{f"five-more-{picture}": key for picture, key in KEY.items()},
    **{f"five-again-{picture}": key for picture, key in AGAIN.items()},
}


@pytest.mark.parametrize("picture", READ)
def test_the_first_screen_says_what_the_key_says(opened: Callable[..., Opened], picture: str) -> None:
    stories, number = picture.rsplit("-", 1)
    explanation = (five_more if stories == "five-more" else five_again)()[number]
    retained, omitted = READ[picture]
    assert {frozenset(each.sources) for each in explanation.retention_rules} == retained
    assert {frozenset(each.sources) for each in explanation.omission_rules} == omitted
    seen = opened(as_html(explanation))
    seen.shot(picture)
    for each in seen.page.locator(".rules > li, .fixes li").all():
        box = each.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= DESKTOP["height"]
