"""A page in a real browser, which writes down whatever it complains about or asks for."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page, Route, sync_playwright

ROOT = Path(__file__).parents[2]
MODULES = Path(os.environ.get("NODE_MODULES", ROOT / ".venv-browser" / "node_modules"))
"""Where ``make browser`` puts what comes from npm."""
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}


@contextmanager
def launched() -> Generator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    assert found, "there is no chromium; install one, or name it in CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@dataclass
class Opened:
    """``complaints``: messages of the console, errors, dialogs, and requests."""

    page: Page
    context: BrowserContext
    file: Path
    complaints: list[str] = field(default_factory=list[str])

    @classmethod
    def of(cls, browser: Browser, file: Path, options: dict[str, Any]) -> "Opened":
        chosen: dict[str, Any] = {"viewport": DESKTOP, "offline": True, **options}
        context = browser.new_context(**chosen)
        page = context.new_page()
        made = cls(page, context, file)
        context.route("**/*", made._guard)
        page.on("console", lambda message: made.complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: made.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: made.complaints.append(f"dialog: {dialog.message}"))
        page.on("popup", lambda popup: made.complaints.append(f"popup: {popup.url}"))
        page.goto(file.as_uri())
        return made

    def _guard(self, route: Route) -> None:
        if route.request.url.split("#")[0] == self.file.as_uri():
            route.continue_()
        else:
            self.complaints.append(f"request: {route.request.url}")
            route.abort()

    def shot(self, name: str, *, full: bool = False) -> Path:
        """Takes a picture; where SCREENSHOTS names a folder, it is kept there."""
        folder = Path(os.environ.get("SCREENSHOTS", self.file.parent))
        path = folder / f"{name}.png"
        try:
            self.page.screenshot(path=path, full_page=full)
        except Error as error:
            # Chromium takes no picture of a page that it is just composing anew; it says so at once.
            if "Unable to capture screenshot" not in str(error):
                raise
            self.page.evaluate("() => new Promise(requestAnimationFrame)")
            self.page.screenshot(path=path, full_page=full)
        assert path.stat().st_size > 5_000
        return path

    def violations(self) -> list[str]:
        """What axe-core finds, with the elements it finds it in."""
        return violations_of(self.page)

    def wider_than_the_screen(self) -> int:
        """By how many pixels the page can be scrolled sideways."""
        return wider_than_the_screen(self.page)


def violations_of(page: Page) -> list[str]:
    """What axe-core finds in a page, with the elements it finds it in."""
    # Not by a script element, which the page's policy would rightly stop.
    page.evaluate((MODULES / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate("axe.run()")
    return [
        f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}"
        for each in found["violations"]
    ]


def wider_than_the_screen(page: Page) -> int:
    """By how many pixels a page can be scrolled sideways."""
    return page.evaluate("document.scrollingElement.scrollWidth - document.documentElement.clientWidth")
