"""The pages of Phoenix and MLflow that show an annotated answer, in the system's own browser."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, Route, ViewportSize

from rag_rule_explainer.traces import Incident
from tests.browser.opening import launched

_SIZE: ViewportSize = {"width": 1400, "height": 1000}
_RETRIEVER = "BM25Retriever"


@contextmanager
def _opened(address: str) -> Generator[Page]:
    """Yields the page, which gets nothing from other machines."""

    def here_only(route: Route) -> None:
        if route.request.url.startswith(("http://127.0.0.1", "data:", "blob:")):
            route.continue_()
        else:
            route.abort()

    with launched() as browser:
        page = browser.new_context(viewport=_SIZE).new_page()
        page.set_default_timeout(120_000)
        page.route("**/*", here_only)
        page.goto(address)
        yield page


@contextmanager
def phoenix_page(place: str, incident: Incident) -> Generator[Page]:
    """Yields Phoenix's page of the retriever, with its documents."""
    assert incident.traced is not None
    with _opened(f"{place}/redirects/traces/{incident.traced.trace}") as page:
        page.get_by_text(_RETRIEVER).last.click()
        page.get_by_text("Document Annotations").first.wait_for()
        yield page


@contextmanager
def mlflow_page(place: str, incident: Incident) -> Generator[Page]:
    """Yields MLflow's page of the retriever, with the assessments beside it."""
    assert incident.traced is not None
    trace = incident.traced.trace
    with _opened(f"{place}/#/experiments/0/traces?selectedEvaluationId={trace}") as page:
        page.get_by_text(_RETRIEVER).last.click()
        if not page.get_by_text("Feedback (").count():
            page.locator('button:has-text("Assess")').last.click()
        page.get_by_text("Feedback (").first.wait_for()
        yield page


def unfold(page: Page, begun: str = "") -> None:
    """Unfolds MLflow's assessments whose value begins so, to show their rationale."""
    toggle = '[data-component-id$="toggle-assessment-expanded"]'
    for row in page.locator(f"div:has(> {toggle})").all():
        if begun in row.inner_text():
            row.locator(toggle).click()


def taken(page: Page, file: Path) -> None:
    """Takes the picture of the page that the documentation shows."""
    if "phoenix" in file.name:
        page.get_by_text("Document Annotations").nth(1).evaluate(
            "e => e.scrollIntoView({block: 'center'})"
        )
        page.mouse.move(0, 0)
        page.screenshot(path=file, clip={"x": 350, "y": 40, "width": 1050, "height": 920})
    else:
        page.screenshot(path=file, clip={"x": 0, "y": 0, "width": 978, "height": 660})
