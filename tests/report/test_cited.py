"""The section of the HTML report on citations: every class by its sign and its style, and nothing of the
answer as markup."""

import re
from pathlib import Path

import pytest

from rag_rule_explainer import CitationClass, Explainer, Source, contains
from tests.citations.oracles import ORACLES, Oracle
from tests.citations.test_classes import explanation_of

CSS = (Path(__file__).parents[2] / "rag_rule_explainer/report/html/page.css").read_text("utf-8")


def section_of(html: str) -> str:
    found = re.search(r"<section><h2>Citations</h2>(.*?)</section>", html, re.DOTALL)
    return "" if found is None else found[1]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_each_citation_has_its_sign_its_style_and_its_claim(oracle: Oracle) -> None:
    section = section_of(explanation_of(oracle).to_html())
    for found in oracle.truth.values():
        assert f'class="cited {found.value.replace(" ", "-")}"' in section
        assert found.mark in section
        assert found.meaning in section
    assert "proved" in section


def test_every_class_has_a_style_of_its_own_that_is_no_colour_alone() -> None:
    styles = dict[str, str]()
    for each in CitationClass:
        found = re.search(rf"\.cited\.{each.value.replace(' ', '-')} {{([^}}]*)}}", CSS)
        assert found is not None, each
        styles[each.value] = re.sub(r"(?<![\w-])color: [^;]*;", "", found[1])
    assert len({*styles.values()}) == len(styles)


def test_an_answer_without_citations_has_no_such_section() -> None:
    sources = [Source("D1", "x"), Source("D2", "y")]
    explainer = Explainer(lambda question, kept: "yes" if kept else "no", predicate=contains("yes"))
    assert not section_of(explainer.explain("?", sources).to_html())


def test_hostile_answers_are_text() -> None:
    evil = "<script>alert(1)</script>"
    sources = [Source(evil, "x"), Source("D2", "y")]

    def answer(question: str, kept: object) -> str:
        return f"yes {evil} [{evil}] [D77] <b>[2]</b>" if kept else "no"

    html = Explainer(answer, predicate=contains("yes")).explain("?", sources).to_html()
    section = section_of(html)
    assert "<script" not in section
    assert "<b>" not in section
    assert section.count("unresolvable") >= 2
