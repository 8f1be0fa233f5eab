"""What a notebook shows: the HTML, and what becomes of it in one that is executed."""

import re
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import Any, cast

import pytest
from typing_extensions import override

from rag_rule_explainer import InvalidInput, ProgressBar
from rag_rule_explainer.progress.notebook import NOTEBOOK_SECONDS, bars_as_html, in_notebook
from rag_rule_explainer.progress.wording import Row
from tests.progress.reports import HALF_WAY, told

_VOID = {"br", "hr", "img", "input", "link", "meta"}


class Elements(HTMLParser):
    """Every element with its attributes; fails where one is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def bars(self) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.found if attributes.get("role") == "progressbar"]


class TestHtml:
    def test_it_says_to_everybody_how_far_it_is(self) -> None:
        (bar,) = Elements(bars_as_html([Row(HALF_WAY)])).bars()
        said = {name: value for name, value in bar.items() if name.startswith("aria")}
        assert said == {
            "aria-label": "probes",
            "aria-valuemin": "0",
            "aria-valuenow": "137",
            "aria-valuemax": "258",
            "aria-valuetext": "137 / 258 probes needed so far (≤ 1,024)",
        }
        assert "width:53.1%" in bars_as_html([Row(HALF_WAY)])
        assert "≈ 3 s to 258 probes · 140 replays, 41.2/s" in bars_as_html([Row(HALF_WAY)])

    def test_there_is_nothing_in_it_that_runs_or_comes_from_elsewhere(self) -> None:
        rows = [Row(told(n, failures=2, retries=1, tokens=5, cost=0.00001), n) for n in range(1, 4)]
        html = bars_as_html(rows, waiting=True)
        elements = Elements(html)
        assert {tag for tag, _ in elements.found} == {"div", "span", "strong"}
        allowed = re.compile(r"style|role|aria-\w+")
        assert all(allowed.fullmatch(name) for _, attributes in elements.found for name in attributes)
        assert not re.search(r"url|import|http|javascript|@", html)
        assert "cost &lt; 0.0001" in html

    def test_nothing_is_needed_before_the_first_probe(self) -> None:
        (bar,) = Elements(bars_as_html([Row(told(0, needed=0))])).bars()
        assert bar["aria-valuemax"] == "1"

    def test_many_rows_are_few(self) -> None:
        html = bars_as_html([Row(told(n), n) for n in range(1, 101)])
        assert len(Elements(html).bars()) == 20
        assert "80 earlier" in html
        assert "#100  100 / 1,024" in html

    def test_text_that_has_a_colour_has_its_background(self) -> None:
        html = bars_as_html([Row(told(9, failures=1, retries=1))])
        styles = [a["style"] or "" for _, a in Elements(html).found if "style" in a]
        coloured = [style for style in styles if re.search(r"(^|;)color:", style)]
        assert len(coloured) == 2
        assert all("background:#" in style for style in coloured)


class TestDetection:
    def test_this_is_no_notebook(self) -> None:
        assert not in_notebook()

    def test_without_ipython_nothing_breaks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "IPython", None)
        assert not in_notebook()
        with pytest.raises(InvalidInput, match="IPython"):
            ProgressBar("notebook")
        ProgressBar().close()


SET_UP = """
import asyncio, time
from rag_rule_explainer import Explainer, ProgressBar, equals

calls = []

def replay(question, kept):
    calls.append(question)
    time.sleep(0.01)
    if len(kept) == 1:
        raise ValueError("<script>alert(1)</script>")
    return "yes" if kept and kept[0].id == "D1" else "no"

def explainer(progress, **more):
    settings = {"retries": 0, "miner": "exhaustive", **more}
    return Explainer(replay, predicate=equals("yes"), progress=progress, **settings)
"""
BLOCKING = """
began = time.monotonic()
explainer(True, concurrency=1).explain('?', list('abcdef'))
print(time.monotonic() - began)
"""
AWAITED = "(await explainer(ProgressBar()).aexplain('?', list('abc'))).counts.probes"
SEVERAL = """
with ProgressBar("notebook") as bar:
    found = await asyncio.gather(*(explainer(bar).aexplain("?", list("abcd")) for _ in range(3)))
"""
FAILED = """
bar = ProgressBar(keep=False)
try:
    explainer(bar).explain("?", ["a"])
except Exception as error:
    print(type(error).__name__)
"""
CANCELLED = """
before = len(calls)
task = asyncio.ensure_future(explainer(ProgressBar()).aexplain("?", list("abcdefghij")))
while len(calls) - before < 50:  # some probes have been told by then
    await asyncio.sleep(0.01)
task.cancel()
await asyncio.wait([task])
print(task.cancelled())
"""
WAITING = """
with ProgressBar():
    time.sleep(1)
"""


class Notebook:
    """A notebook that was executed, and the messages that its kernel sent for each cell."""

    def __init__(self, *sources: str) -> None:
        # Imported late: of all that every worker collects, these would take a tenth of the time.
        import nbformat
        from nbclient import NotebookClient

        v4: Any = cast("Any", nbformat).v4
        self.sent: list[tuple[int, str]] = []
        notebook: Any = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
        sent = self.sent

        class Client(NotebookClient):
            @override
            def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
                sent.append((cell_index, msg["msg_type"]))
                return super().process_message(msg, cell, cell_index)

        Client(notebook, timeout=120, kernel_name="python3").execute()
        self.cells = notebook.cells

    def html(self, cell: int) -> list[str]:
        outputs = self.cells[cell].outputs
        return [out.data["text/html"] for out in outputs if "text/html" in out.get("data", {})]

    def printed(self, cell: int) -> str:
        outputs = self.cells[cell].outputs
        return "".join(
            out.text for out in outputs if out.output_type == "stream" and out.name == "stdout"
        )

    def updates(self, cell: int) -> int:
        return self.sent.count((cell, "update_display_data"))


@pytest.mark.slow
@pytest.mark.waits
@pytest.mark.filterwarnings("ignore")
def test_an_executed_notebook() -> None:
    assert find_spec("IPython") is not None
    notebook = Notebook(SET_UP, BLOCKING, AWAITED, SEVERAL, FAILED, CANCELLED, WAITING)

    (blocking,) = notebook.html(1)
    assert Elements(blocking).bars()[0]["aria-valuetext"] == "64 probes"
    assert "6 failed" in blocking
    seconds = float(notebook.printed(1))
    assert 1 <= notebook.updates(1) <= 2 + seconds / NOTEBOOK_SECONDS  # of 65 reports

    (awaited,) = notebook.html(2)
    assert Elements(awaited).bars()[0]["aria-valuenow"] == "8"

    (several,) = notebook.html(3)
    assert sorted(bar["aria-valuetext"] or "" for bar in Elements(several).bars()) == [
        f"#{number}  16 probes" for number in (1, 2, 3)
    ]

    assert notebook.cells[4].outputs[-1].text == "BaselineFailed\n"
    assert notebook.html(4) == []

    (cancelled,) = notebook.html(5)
    assert "took" in cancelled
    assert notebook.cells[5].outputs[-1].text == "True\n"

    assert notebook.sent.count((6, "display_data")) == 1
    assert notebook.updates(6) == 1  # however long there was nothing new

    everything = "".join(html for cell in range(7) for html in notebook.html(cell))
    assert "<script" not in everything
