"""The report of an audit in a real browser, from files alone: also of ten thousand questions."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.audit import audit
from rag_rule_explainer.audit.report.writing import write_report
from tests.audit.synthetic import synthetic_audit
from tests.browser.opening import DESKTOP, MODULES

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that must not complain, and may ask for nothing but files."""
    # A plain dict.
    context = browser.new_context(viewport=DESKTOP, offline=True)  # pyright: ignore[reportArgumentType]
    opened, complaints = context.new_page(), list[str]()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    opened.on("request", lambda request: complaints.extend(_foreign(request.url)))
    yield opened
    context.close()
    assert complaints == []


def _foreign(url: str) -> list[str]:
    return [] if url.startswith("file:") else [url]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    write_report(synthetic_audit(10_000), folder)
    return folder


def test_a_document_is_found_by_typing_among_ten_thousand_questions(page: Page, large: Path) -> None:
    page.goto((large / "index.html").as_uri())
    status = page.get_by_role("status")
    expect(status).to_have_text("5,000")
    rows = page.locator("table.audited tbody tr")
    expect(rows).to_have_count(100)
    page.get_by_label("Find").press_sequentially("document-1234.")
    expect(status).to_have_text("1 of 5,000")
    expect(rows).to_have_count(1)
    rows.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("document-1234.md")
    expect(page.get_by_text("The text of corpus/")).to_be_visible()
    page.get_by_role("link", name="What is known of matter").first.click()
    expect(page.locator(".outcome")).to_contain_text("The answer is")
    page.get_by_role("link", name="Documents", exact=True).click()
    expect(status).to_have_text("5,000")


def test_the_list_is_filtered_sorted_and_shown_to_its_end(page: Page, large: Path) -> None:
    page.goto((large / "index.html").as_uri())
    rows = page.locator("table.audited tbody tr")
    page.get_by_label("Show").select_option("Implicated")
    expect(page.get_by_role("status")).to_have_text("201 of 5,000")
    page.get_by_role("button", name="Shown").click()
    shown = [int(each) for each in rows.locator("td:nth-child(2)").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    page.get_by_role("button", name="Shown").click()
    expect(page.locator("th").nth(1)).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(201)


def test_questions_are_found_by_their_text_and_by_what_became_of_them(page: Page, large: Path) -> None:
    page.goto((large / "questions.html").as_uri())
    page.get_by_label("Show").select_option("Failed")
    expect(page.get_by_role("status")).to_contain_text("of 10,000")
    page.locator("table.audited tbody a").first.click()
    expect(page.locator(".outcome")).to_contain_text(
        "The question failed, so it is in no table: no reply"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_texts_are_texts_on_every_page(
    browser: Browser, page: Page, tmp_path: Path, scheme: str
) -> None:
    name = f'"{HOSTILE}\u202e'
    documents = [Source(name, HOSTILE), Source("עברית", "text"), Source("plain", "text")]
    explainer = Explainer(lambda _, kept: HOSTILE if kept else "none", check_repeatable=False)
    asked = [{"id": HOSTILE, "question": HOSTILE, "documents": documents}]
    found = audit(explainer, asked, contains("alert"), out=tmp_path)
    assert found.counts["bad"] == 1
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto((tmp_path / "index.html").as_uri())
    page.get_by_label("Find").fill("<img src=x")
    expect(page.get_by_role("status")).to_have_text("1 of 3")
    page.locator("table.audited tbody a").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x onerror=alert(1)>")
    page.get_by_role("heading", level=3).first.get_by_role("link").click()
    page.get_by_role("link", name="The whole explanation").click()
    assert page.title().startswith("Why this answer?")
    page.go_back()
    assert page.evaluate("document.querySelectorAll('img, script').length") == 0
    for file in tmp_path.rglob("*.html"):
        page.goto(file.as_uri())


def test_everybody_can_read_it(page: Page, tmp_path: Path) -> None:
    write_report(synthetic_audit(150), tmp_path)
    pages = [tmp_path / "index.html", tmp_path / "questions.html"]
    pages += [next((tmp_path / each).iterdir()) for each in ("documents", "questions")]
    script = (MODULES / "axe-core" / "axe.min.js").read_text()
    for file in pages:
        page.goto(file.as_uri())
        page.evaluate(script)
        found = page.evaluate(
            "axe.run({ preload: false }).then(found => found.violations.map(each => each.id))"
        )
        assert found == [], file


def test_without_scripts_the_first_entries_are_there(browser: Browser, tmp_path: Path) -> None:
    write_report(synthetic_audit(600), tmp_path)
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto((tmp_path / "index.html").as_uri())
    expect(opened.locator("table.audited tbody tr")).to_have_count(100)
    expect(opened.get_by_text("… and 200 more; see documents.csv")).to_be_visible()
    expect(opened.locator(".find")).to_be_hidden()
    context.close()
