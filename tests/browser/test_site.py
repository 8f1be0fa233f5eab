"""The documentation where it is read: from a folder, without a network, on a desk and on a phone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.opening import DESKTOP, PHONE, violations_of, wider_than_the_screen
from tests.documentation.making.site import build

pytestmark = pytest.mark.browser

LOOKED_AT = (
    "index.html",
    "tutorials/langchain.html",
    "how-to/choose-a-condition.html",
    "reference/settings.html",
    "compatibility.html",
    "gallery/index.html",
    "gallery/healthcare.html",
)


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    given: Path | None = request.config.getoption("--site")
    if given is not None:
        assert (given / "index.html").is_file(), f"there is no site in {given}; make docs builds one"
        return given.resolve()
    folder = tmp_path_factory.mktemp("documentation") / "site"
    assert build(folder) == 0
    return folder


@pytest.fixture
def asked(browser: Browser, site: Path) -> "Iterator[tuple[Page, list[str]]]":
    """A page, and what it asked of anybody or complained about."""
    options: Any = {"viewport": DESKTOP, "offline": True}
    context = browser.new_context(**options)
    complaints: list[str] = []

    def guard(route: Route) -> None:
        if route.request.url.startswith(site.as_uri()):
            route.continue_()
        else:
            complaints.append(f"request: {route.request.url}")
            route.abort()

    context.route("**/*", guard)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    yield page, complaints
    context.close()


def test_no_page_asks_anybody_for_anything(asked: tuple[Page, list[str]], site: Path) -> None:
    page, complaints = asked
    found = sorted(site.rglob("*.html"))
    assert len(found) > 30
    for each in found:
        page.goto(each.as_uri(), wait_until="load")
    assert complaints == []


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("false_condition", "reference/settings"),
        ("SourceLeak", "reference/errors"),
        ("condition", "how-to/choose-a-condition"),
        ("merge duplicates", "reference/"),
        ("answers JSON", "gallery/json-reply"),
    ],
)
def test_the_search_finds(asked: tuple[Page, list[str]], site: Path, words: str, wanted: str) -> None:
    page, complaints = asked
    page.goto((site / "index.html").as_uri())
    page.locator(".sidebar-search").fill(words)
    page.locator(".sidebar-search").press("Enter")
    page.get_by_text("Search finished").wait_for()  # results come one after the other
    links = page.locator("#search-results ul.search li a")
    found = [links.nth(number).get_attribute("href") or "" for number in range(links.count())]
    assert any(wanted in each for each in found), found
    links.first.click()
    page.locator("h1").wait_for()
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_nothing_keeps_a_reader_out(
    asked: tuple[Page, list[str]], site: Path, name: str, scheme: str
) -> None:
    page, _ = asked
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto((site / name).as_uri())
    assert violations_of(page) == []


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_phone_shows_all_of_it(asked: tuple[Page, list[str]], site: Path, name: str) -> None:
    page, _ = asked
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    page.goto((site / name).as_uri())
    assert wider_than_the_screen(page) <= 0
    assert violations_of(page) == []
    text = page.locator("article p").first
    size = text.evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
    assert size >= 14
