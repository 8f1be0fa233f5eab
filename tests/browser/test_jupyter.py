"""The result of a cell in a real JupyterLab: run there, and read in a notebook that came from others."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rag_rule_explainer import Explanation
from rag_rule_explainer.report import notebook_html
from tests.report.test_text import explained, yes_if

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Route

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_spec("jupyterlab") is None, reason="there is no JupyterLab"),
]
CODE = """
from rag_rule_explainer import Explainer, contains


def replay(question, sources):
    texts = {source.text for source in sources}
    return "on Friday" if {"the memo", "the mail"} <= texts else "unknown"


Explainer(replay, predicate=contains("Friday")).explain("When?", ["the memo", "the mail", "the menu"])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a JupyterLab that knows nobody's settings, and the folder that it shows."""
    folder, own = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("jupyter")
    env = {
        **os.environ,
        **{f"JUPYTER_{name}_DIR": str(own / name) for name in ("CONFIG", "DATA", "RUNTIME")},
    }
    env |= {"HOME": str(own), "IPYTHONDIR": str(own / "ipython"), "JUPYTER_PLATFORM_DIRS": "0"}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [
        "--port=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
        "--expose-app-in-browser",
    ]
    with (own / "log").open("wb") as log:
        running = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        try:
            yield _address(running, own), folder
        finally:
            running.terminate()
            try:
                running.wait(60)
            except subprocess.TimeoutExpired:  # it waits for its kernels
                running.kill()
                running.wait()


def _address(running: "subprocess.Popen[bytes]", own: Path) -> str:
    until = time.monotonic() + 120
    while time.monotonic() < until and running.poll() is None:
        for file in (own / "RUNTIME").glob("jpserver-*.json"):
            if (text := file.read_text()).endswith("}"):
                return str(json.loads(text)["url"])
        time.sleep(0.2)
    raise AssertionError((own / "log").read_text(errors="replace")[-3000:])


class Lab:
    """A page of JupyterLab. ``complaints``: errors of the console, and requests to anywhere else."""

    def __init__(self, browser: "Browser", address: str, notebook: str) -> None:
        self.complaints: list[str] = []
        self.address, self.context = address, browser.new_context(viewport={"width": 1280, "height": 800})
        self.page: Page = self.context.new_page()
        self.context.route(lambda url: not url.startswith(address), self._refuse)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.goto(f"{address}lab/tree/{notebook}")
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=90_000)

    def _refuse(self, route: "Route") -> None:
        self.complaints.append(f"request: {route.request.url}")
        route.abort()

    def _heard(self, message: "ConsoleMessage") -> None:
        if message.type == "error":
            self.complaints.append(f"console: {message.text}")

    def run(self) -> None:
        """Runs the first cell as a reader does, once its kernel is there."""
        self.page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=90_000)
        self.page.locator(".jp-CodeCell .cm-content").first.click()
        self.page.keyboard.press("Shift+Enter")


def written(folder: Path, name: str, *outputs: dict[str, Any]) -> str:
    cell: dict[str, Any] = {"cell_type": "code", "id": "first", "metadata": {}, "source": CODE.strip()}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook: dict[str, Any] = {
        "cells": [{**cell, "outputs": list(outputs), "execution_count": None}],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / name).write_text(json.dumps(notebook))
    return name


def test_a_cell_that_is_run_shows_the_rules(browser: "Browser", server: tuple[str, Path]) -> None:
    address, folder = server
    lab = Lab(browser, address, written(folder, "run.ipynb"))
    # What JupyterLab itself says while it starts is not about a cell.
    lab.complaints.clear()
    lab.run()
    output = lab.page.locator(".jp-OutputArea-output .jp-RenderedHTMLCommon, .jp-RenderedHTML").first
    output.wait_for(timeout=60_000)
    output.get_by_text("the answer contains 'Friday'").first.wait_for()
    assert "proved on all 2 subsets" in output.inner_text()
    output.locator("summary").last.click()
    assert output.locator("img").last.is_visible()
    lab.page.screenshot(path=Path(os.environ.get("SCREENSHOTS", folder)) / "jupyterlab.png")
    assert lab.complaints == []
    lab.context.close()


def test_in_a_notebook_that_is_not_trusted_the_rules_can_be_read(
    browser: "Browser", server: tuple[str, Path]
) -> None:
    address, folder = server
    explanation: Explanation = explained(yes_if("D1", "D2"))
    shown = {
        "output_type": "execute_result",
        "data": {"text/html": notebook_html(explanation)},
        "metadata": {},
        "execution_count": 1,
    }
    lab = Lab(browser, address, written(folder, "sent.ipynb", shown))
    output = lab.page.locator(".jp-OutputArea-output .jp-RenderedHTMLCommon, .jp-RenderedHTML").first
    output.wait_for(timeout=60_000)
    output.locator("summary").last.click()
    text = output.inner_text()
    # Words of a drawing that was taken out would stand there, one after the other.
    assert text.index("complete") - text.index("All 8 subsets") < 200
    assert output.locator("img").last.is_visible()
    assert output.locator("img").last.evaluate("image => image.naturalWidth") > 0
    for rule in explanation:
        assert rule.antecedent in text
        assert rule.evidence in text
    lab.page.screenshot(path=Path(os.environ.get("SCREENSHOTS", folder)) / "jupyterlab-sent.png")
    lab.context.close()
