"""No line of a report for people ends in a space, whatever texts there are."""

import io
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from rag_rule_explainer import Answer, Explanation, diff
from rag_rule_explainer.cli.wrapping import wrapped
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import as_markdown, as_text, lines
from rag_rule_explainer.report.check_text import as_check_text
from tests.drawing import examples
from tests.report.checks import asked, check_of
from tests.report.hostile import hostile_explanations

TEXTS = st.text("ab .\t\n\u00a0\u3000", max_size=30)


def ends(told: Iterable[str]) -> list[str]:
    """The lines that end in a space."""
    return [line for line in told if line != line.rstrip()]


def explained(*texts: str) -> Explanation:
    (made,) = hostile_explanations([f".{text}" for text in texts], sources=len(texts))
    return made


@given(TEXTS, TEXTS, st.integers(1, 100))
@settings(max_examples=examples(20), deadline=None)
def test_no_line_of_a_report_does(one: str, two: str, width: int) -> None:
    made = explained(one, two, "c")
    written = [as_text(made), as_markdown(made), as_check_text(check_of(asked(1, made, question=one)))]
    assert ends(line for text in written for line in text.splitlines()) == []
    console = Console(file=io.StringIO(), width=width, force_terminal=True)
    assert ends(part.plain for line in lines(made) for part in wrapped(line, console)) == []


@given(TEXTS, TEXTS)
@settings(max_examples=examples(20), deadline=None)
def test_nor_of_a_comparison(one: str, two: str) -> None:
    made = explained(one, "c")
    other = made.model_copy(update={"baseline": Answer(two), "warnings": (two,), "stop_reason": two})
    assert ends(str(diff(made, other)).splitlines()) == []


@given(st.text(max_size=200).map(printable), st.integers(4, 50))
def test_nor_a_part_of_a_wrapped_line(text: str, width: int) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True)
    parts = [part.plain for part in wrapped(Text(text), console)]
    assert ends(parts) == []
    assert "".join("".join(parts).split()) == "".join(text.split())
