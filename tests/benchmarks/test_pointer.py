"""This module measures how soon a mark of the lattice answers to the pointer, with a processor throttled
four times."""

from pathlib import Path
from statistics import median
from typing import Any

import pytest

from rag_rule_explainer.report.html import as_html
from tests.benchmarks.ratios import STUDIES
from tests.browser.reports import full_ten

pytestmark = pytest.mark.benchmark
MOST_MILLISECONDS = 100
ROUNDS = 20


def times_of(page: Any, marks: str) -> list[float]:
    """Milliseconds from the pointer's event to the end of the paint, without a first one to warm up."""
    page.evaluate(
        """(marks) => { window.times = []; document.addEventListener("pointerover", (event) => {
            if (!event.target.closest(marks)) return;
            const began = event.timeStamp;
            requestAnimationFrame(() => { const after = new MessageChannel();
                after.port1.onmessage = () => window.times.push(performance.now() - began);
                after.port2.postMessage(0); });
        }, true); }""",
        marks,
    )
    for place in range(ROUNDS + 1):
        page.locator(marks).nth(300 + place * 7).hover()
        page.wait_for_function(f"window.times.length > {place}")
    return page.evaluate("window.times")[1:]


def met(times: list[float]) -> str:
    """Says whether the bar is met. Nothing asserts it: a busy machine is no fault of the report."""
    return "yes" if median(times) <= MOST_MILLISECONDS else "NO"


def test_from_pointer_to_paint(tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="make browser installs it")
    from tests.browser.opening import Opened, launched

    report, bare = tmp_path / "report.html", tmp_path / "bare.html"
    report.write_text(as_html(full_ten()), encoding="utf-8")
    bare.write_text("<!doctype html>" + "<button>mark</button> " * 1024, encoding="utf-8")
    measured: dict[str, list[float]] = {}
    with launched() as browser:
        for file, marks in ((bare, "button"), (report, "use")):
            page = Opened.of(browser, file, {}).page
            session: Any = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
            measured[file.stem] = times_of(page, marks)
    STUDIES["from pointer to paint, processor throttled 4 times (ms)"] = [
        ("page", f"at most {MOST_MILLISECONDS}", "median", "most"),
        *(
            (name, met(times), f"{median(times):.0f}", f"{max(times):.0f}")
            for name, times in measured.items()
        ),
    ]
