"""Whatever texts there are, each form stays valid, and nothing of them reaches a terminal as it is."""

import csv
import io
import json
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_rule_explainer import Explainer, Explanation, Source, contains
from rag_rule_explainer.explanation.origin import ApplicationRecord, ModelRecord
from rag_rule_explainer.printable import encodable, printable
from rag_rule_explainer.report import as_csv, as_latex, as_markdown, as_text, caveats
from tests.drawing import examples
from tests.report.hostile import hostile_explanations, hostile_texts
from tests.report.test_csv import STARTS
from tests.report.test_latex import printed as in_latex
from tests.report.test_markdown import check_own_parts

MORE = ("=1+1", "\t=cmd", "＝1", "D1", "D1 and D2", "\\", "|", "`")
TEXTS = [*hostile_texts(200), *MORE]
LONG = "<b>\x1b[2J" + "=|*_ \u202e" * 150_000


def everywhere(explanation: Explanation, text: str) -> Explanation:
    """With the text in what else can be read from a file."""
    said = encodable(text)
    return explanation.model_copy(
        update={
            "application": ApplicationRecord(said, said),
            "models": (ModelRecord(said, "application", {said: 1}), ModelRecord(said, "judge")),
            "versions": {said: said},
            "settings": {said: said, "noise": {said: [said]}},
            "made_at": "2025-06-15T15:06:40Z",
        }
    )


def check(explanation: Explanation) -> None:
    for form in ("text", "markdown", "json", "csv", "latex"):
        for line in explanation.report(form).split("\n"):
            assert line == printable(line)
    assert all(each.text == printable(each.text) for each in caveats(explanation))
    assert str(explanation) == "\n".join(map(printable, str(explanation).split("\n")))
    check_own_parts(as_markdown(explanation))
    head, *rows = csv.reader(io.StringIO(as_csv(explanation)), strict=True)
    assert len(rows) == len(explanation.rules)
    for row in rows:
        assert len(row) == len(head)
        assert not any(cell.lstrip().startswith(STARTS) for cell in row)
    for line in as_latex(explanation).splitlines():
        if line.startswith((r"\noindent made", r"\noindent complete", r"\noindent not")):
            in_latex(line.removeprefix(r"\noindent ").removesuffix(r"\par"))
    assert Explanation.model_validate_json(explanation.to_json()) == explanation
    assert json.loads(explanation.to_json())["question"] == explanation.question


@pytest.mark.spread(fast=2, slow=2)
@pytest.mark.parametrize("part", range(0, len(TEXTS), 8))
def test_each_form_stays_what_it_is(part: int) -> None:
    for explanation in hostile_explanations(TEXTS[part : part + 8]):
        check(everywhere(explanation, explanation.question))


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=examples(60), deadline=None)
def test_any_text_does(first: str, second: str) -> None:
    sources = [Source(f"{first}1", second), Source(f"{second}2", first, {"title": second})]
    explanation = Explainer(
        lambda question, shown: f"yes{first}" if len(shown) > 1 else second, predicate=contains("yes")
    ).explain(first if first.strip() else "?", sources)
    check(everywhere(explanation, second))


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb\x00", "\ud83d\ude00"])
def test_lone_surrogates_do_not_come_back(text: str) -> None:
    sources = [Source(f"D{n}", text, {"title": text, text: text}) for n in range(3)]
    explanation = Explainer(
        lambda question, shown: f"yes{text}" if len(shown) > 1 else text, predicate=contains("yes")
    ).explain(f"?{text}", sources)
    check(everywhere(explanation, text))


def test_a_long_line_takes_no_longer_than_it_is_long() -> None:
    sources = [Source(f"D{n}", LONG, {"title": LONG}) for n in range(4)]
    explanation = Explainer(
        lambda question, shown: f"yes{LONG}" if len(shown) > 2 else LONG, predicate=contains("yes")
    ).explain(LONG, sources)
    for form in ("text", "markdown", "csv", "latex"):
        began = time.thread_time()
        written = explanation.report(form)
        # A second is a hundred times what it takes; what escapes every character takes several.
        assert time.thread_time() - began < 1
        assert max(map(len, written.splitlines())) < 20_000
    assert json.loads(explanation.to_json())["question"] == explanation.question


def test_an_id_that_reads_like_a_rule_stands_in_quotes() -> None:
    forged = "D1 is retained, the answer contains 'no'; whenever D2"
    explanation = Explainer(
        lambda question, shown: "yes" if shown else "no", predicate=contains("yes")
    ).explain("?", [Source(forged, "text"), Source("D2", "text 2")])
    rules = [rule for rule in explanation.rules if forged in rule.sources]
    assert rules
    for form in (as_text, as_csv, as_markdown):
        told = form(explanation).replace('""', '"').replace("\\", "")
        assert f'"{forged}"' in told
        assert f"whenever {forged}" not in told
    assert replace(rules[0]).rule in as_text(explanation)
