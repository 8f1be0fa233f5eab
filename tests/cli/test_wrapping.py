"""On a terminal, nothing is cut off, nothing runs over, and what goes on is indented."""

import io
import sys
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from rag_rule_explainer import Explanation
from rag_rule_explainer.cli.terminal import print_lines
from rag_rule_explainer.cli.wrapping import wrapped
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import lines
from tests.report.test_text import explained, forged_explanation, hostile_explanation, yes_if


def parts(text: str, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True)
    return [part.plain for part in wrapped(Text(text), console)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("short", ["short"]),
        ("Question: when was it built?", ["Question: when was", "  it built?"]),
        ("  - whenever D1 is retained", ["  - whenever D1 is", "    retained"]),
        ("      proved on all 4 subsets", ["      proved on", "      all 4", "      subsets"]),
        ("  D1    a text of words", ["  D1    a text of", "        words"]),
        ("  a-long-name-of-its-own  text", ["  a-long-name-of-i", "  ts-own  text"]),
    ],
)
def test_what_goes_on_is_indented(text: str, told: list[str]) -> None:
    assert parts(text, 18) == told


@example("、", 4, "  - ")
@example("ab、", 1, "")
@given(
    st.text(max_size=200).map(printable),
    st.integers(1, 40),
    st.sampled_from(["", "  ", "  - ", "    a  "]),
)
def test_nothing_is_lost_and_nothing_runs_over(text: str, width: int, beginning: str) -> None:
    told = parts(beginning + text, width)
    assert "".join("".join(told).split()) == "".join((beginning + text).split())
    assert all(cell_len(each) <= max(width, 12) for each in told)
    assert all(each == each.rstrip() for each in told)


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize(
    "make", [hostile_explanation, forged_explanation, lambda: explained(yes_if("D1"))]
)
@pytest.mark.parametrize("width", [1, 20, 60, 200])
def test_a_report_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Explanation], width: int
) -> None:

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "25")  # without it, Rich takes a dumb terminal for 80 columns wide
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    explanation = make()
    print_lines(lines(explanation))
    told = terminal.getvalue()
    assert max(map(cell_len, told.splitlines())) <= max(width, 12)
    assert "\x1b" not in told
    assert all(line == line.rstrip() for line in told.splitlines())
    said = "".join(line.plain for line in lines(explanation))
    assert "".join(told.split()) == "".join(said.split())


def test_elsewhere_lines_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines([Text("word " * 100)])
    assert capsys.readouterr().out.splitlines() == ["word " * 100]
