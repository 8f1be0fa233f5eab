"""Two hundred texts that try to be more than texts, through every form."""

import csv
import json
from pathlib import Path

import pytest

from rag_rule_explainer import Explanation, load
from rag_rule_explainer.explanation.records import SourceRecord
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import FORMS
from tests.report.hostile import hostile_explanations, hostile_texts
from tests.report.test_text import explained


@pytest.fixture(scope="module")
def explanations() -> list[Explanation]:
    return hostile_explanations(hostile_texts())


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("form", FORMS)
def test_nothing_raw_reaches_a_terminal(form: str, explanations: list[Explanation]) -> None:
    for explanation in explanations:
        for line in explanation.report(form).splitlines():
            assert line == printable(line)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("suffix", [".json", ".html"])
def test_what_is_saved_is_read_again(
    suffix: str, explanations: list[Explanation], tmp_path: Path
) -> None:
    for explanation in explanations:
        explanation.save(tmp_path / f"a{suffix}")
        assert load(tmp_path / f"a{suffix}") == explanation


def test_no_cell_is_a_formula_and_every_row_is_whole(explanations: list[Explanation]) -> None:
    for explanation in explanations:
        heads, *rows = csv.reader(explanation.report("csv").splitlines())
        assert len(rows) == len(explanation.rules)
        for row in rows:
            assert len(row) == len(heads)
            assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row)


def test_json_is_ascii(explanations: list[Explanation]) -> None:
    for explanation in explanations:
        assert explanation.to_json().isascii()
        assert json.loads(explanation.to_json())["question"] == explanation.question


def test_a_text_with_lone_surrogates_and_a_megabyte_in_one_line_is_written(tmp_path: Path) -> None:
    line = "é" * 1_000_000
    explanation = explained(lambda _: f"yes {line}").model_copy(
        update={
            "sources": tuple(SourceRecord(f"D{place}", line) for place in (1, 2, 3)),
            "question": f"\ud800{line}\udfff",
            "notes": ("\udc00", line),
        }
    )
    for name in FORMS:
        explanation.save(tmp_path / f"a{FORMS[name].suffixes[0]}")
    # The JSON in it has all of each text, and what is to be read has a part.
    html, json_text = ((tmp_path / f"a.{suffix}").stat().st_size for suffix in ("html", "json"))
    assert html < json_text + 1_000_000
