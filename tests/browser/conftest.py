"""What tests with a real browser need: one browser for all of them, and pages that may ask for nothing.

``make browser`` installs the client; the browser is the system's own, or the one that CHROMIUM names.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.opening import Opened

if find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from tests.browser.opening import launched

    with launched() as found:
        yield found


@pytest.fixture
def opened(browser: "Browser", tmp_path: Path) -> "Iterator[Callable[..., Opened]]":
    """Opens an HTML text as a file. In the end, no page may have asked for anything or complained."""
    from tests.browser.opening import Opened

    pages: list[Opened] = []

    def open_page(html: str, **context: Any) -> Opened:
        file = tmp_path / f"report-{len(pages)}.html"
        file.write_text(html, encoding="utf-8")
        pages.append(Opened.of(browser, file, context))
        return pages[-1]

    yield open_page
    for each in pages:
        each.context.close()
    assert [said for each in pages for said in each.complaints] == []
