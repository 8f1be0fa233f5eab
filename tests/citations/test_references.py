"""What a reference means is known, or it is said that it is not: then it is never unfaithful."""

from collections.abc import Sequence
from typing import Any

import pytest

from rag_rule_explainer import CitationClass, Explainer, Source, cite
from rag_rule_explainer.citations.reading import CitableSources, read_citations
from tests.citations.oracles import QUESTION

UNDECIDED = CitationClass.UNDECIDED
FILES = (
    Source("c1", "The dose is five pills a day.", {"source": "files/guide.pdf", "page": "3"}),
    Source("c2", "The drug is calcium for adults.", {"source": "files/guide.pdf", "page": "4"}),
    Source("c3", "The clinic opens at nine.", {"source": "mail.pdf", "topic": "iron"}),
)
TITLES = (
    Source("x1", "Iron is a metal in food.", {"title": "Iron", "author": "Smith"}),
    Source("x2", "Too little of it is bad.", {"title": "Iron deficiency", "topic": "dosing"}),
    Source("x3", "Five pills are enough.", {"title": "Dosing guide", "section": "methods"}),
    Source("b", "Nothing else is known.", {"title": "Trial of Smith et al"}),
)


@pytest.mark.parametrize(
    ("reference", "sources", "expected"),
    [
        ("Iron deficiency. WHO 2020", TITLES, ["x2"]),
        ("Iron. WHO 2020", TITLES, ["x1"]),
        ("Dosing guide, p. 3", TITLES, ["x3"]),
        ("Trial of Smith et al, 2020", TITLES, ["b"]),
        ("b: a guide", TITLES, ["b"]),
        ("Iron deficiency; Dosing guide", TITLES, ["x2", "x3"]),
        ("x1 and x3", TITLES, ["x1", "x3"]),
        ("[2], [3]", TITLES, ["x2", "x3"]),
        ("mail.pdf, page 2", FILES, ["c3"]),
        ("guide.pdf: “The drug is calcium for adults.”", FILES, ["c2"]),
        ("c2 (guide.pdf)", FILES, ["c2"]),
        ("guide.pdf", FILES, None),
        ("Iron supplements in cattle, 2019", TITLES, None),
        ("New England Journal, methods section", TITLES, []),
        ("Smith 1999", TITLES, []),
        ("vitamin b in milk", TITLES, []),
    ],
)
def test_a_line_of_references(
    reference: str, sources: tuple[Source, ...], expected: list[str] | None
) -> None:
    """None: it is not known which source is meant. An empty list: none is."""
    text = f"The dose is five [1].\n\nReferences:\n[1] {reference}"
    found = read_citations(text, CitableSources(sources)).citations
    assert [each.source for each in found if each.source] == (expected or [])
    assert {each.is_open for each in found} == {expected is None}
    (check,) = cite(Explainer(lambda question, shown: text), QUESTION, sources).checks
    if not expected:
        assert check.faithful is (None if expected is None else False)
        assert (check.verdicts[0].citation_class is UNDECIDED) == (expected is None)


def test_of_names_within_each_other_the_longest_counts() -> None:
    titles = {"x1": "Vitamin D", "x2": "Vitamin D, intake", "x3": "Calcium"}
    sources = [Source(name, f"Text of {name}.", {"title": title}) for name, title in titles.items()]
    text = "So it is [1].\n\n[1]: Vitamin D, intake, 2020"
    (found,) = read_citations(text, CitableSources(tuple(sources))).citations
    assert found.source == "x2"


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ({"filename": "guide.pdf"}, None),
        ({"filename": "guide.pdf", "quote": "The drug is calcium"}, ["c2"]),
        ({"title": "guide.pdf", "document_index": 1, "cited_text": "The drug is calcium"}, ["c2"]),
        ({"filename": "mail.pdf"}, ["c3"]),
        ({"quote": "nothing of this is there"}, []),
    ],
)
def test_an_annotation(annotation: dict[str, Any], expected: list[str] | None) -> None:
    output = {"type": "text", "text": "So it is.", "annotations": [{"type": "citation", **annotation}]}
    found = read_citations(output, CitableSources(FILES)).citations
    assert [each.source for each in found if each.source] == (expected or [])
    assert {each.is_open for each in found} == {expected is None}


def test_the_name_of_several_means_the_one_that_was_shown() -> None:
    shown = CitableSources(FILES[1:], FILES[:1])
    assert [each.source for each in read_citations({"citations": ["guide.pdf"]}, shown).citations] == [
        "c2"
    ]


def test_a_partner_that_may_be_cited_is_not_called_missing() -> None:
    def answer(question: str, shown: Sequence[Source]) -> str:
        told = {"c1", "c3"} <= {each.id for each in shown}
        return "The dose is five [1][2].\n\n[1]: c3\n[2]: guide.pdf" if told else "Nothing."

    (check,) = cite(Explainer(answer), QUESTION, FILES).checks
    assert [each.citation_class for each in check.verdicts] == [UNDECIDED, UNDECIDED]
    assert check.faithful is check.sufficient is check.smallest_honest is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is so.\n\nSources:\n- mail.pdf\n- c1", ["c3", "c1"]),
        ("It is so.\n\nSources:\n[1] mail.pdf\n[2] Smith 1999", ["c3", None]),
        ("It is so [1].\n\nSources:\n[1] mail.pdf\n[2] c1", ["c3"]),
        ("It is so.\n\nSources:\n- spinach [1]\n- lentils [2]", [None, None]),
        ("It is so.\n\nSources:\n- spinach\n- lentils", [None, None]),
        ("It is so [^g].\n\n[^g]: c2", ["c2"]),
        ("It is so [^c2].", ["c2"]),
        ("It is so [^x].", [None]),
        ("It is so [1].\n\n[1]: c1\n[1]: c2", [None]),
        ("[1]: It is so.\n[2]: It is good.", ["c1", "c2"]),
        ("This is known:\n[1]: It is so.\n[2]: It is good.", ["c1", "c2"]),
    ],
)
def test_lists_of_references(text: str, expected: list[str | None]) -> None:
    assert [each.source for each in read_citations(text, CitableSources(FILES)).citations] == expected


@pytest.mark.parametrize(
    "heading", ["Bibliographie", "Footnotes", "Quotes:", "## Zitate", "**Belegstellen**", ""]
)
@pytest.mark.parametrize("line", ["[{}] {}", '[{}] "{}"'])
def test_a_list_under_any_heading_says_what_its_numbers_mean(heading: str, line: str) -> None:
    text = f"So it is [1].\n\n{heading}\n{line.format(1, FILES[1].text)}\n"
    found = read_citations(text, CitableSources(FILES)).citations
    assert [each.source for each in found] == [FILES[1].id]


@pytest.mark.parametrize("line", ["1: {}", "1. {}", "1 {}", "(1) {}"])
def test_a_raised_number_means_the_line_with_it(line: str) -> None:
    text = f"So it is.<sup>1</sup>\n\nFootnotes\n{line.format(FILES[1].text)}\n"
    found = read_citations(text, CitableSources(FILES)).citations
    assert [each.source for each in found] == [FILES[1].id]


def test_numbers_in_round_brackets_may_lead_to_a_list() -> None:
    text = f"So it is (1).\n\nSources\n(1) {FILES[1].text}\n"
    found = read_citations(text, CitableSources(FILES)).citations
    assert [(each.source, each.is_open, each.is_said) for each in found] == [(None, True, True)]


def test_a_line_that_may_be_what_is_said_is_undecided() -> None:
    text = "Iron is in these.\n\nSources:\n- spinach [1]\n- lentils [2]"
    found = cite(Explainer(lambda question, shown: text if shown else "No."), QUESTION, FILES)
    assert found.faithful is None
    assert {each.citation_class for check in found.checks for each in check.verdicts} == {UNDECIDED}


def test_annotations_without_a_place_are_for_what_needs_them() -> None:
    from rag_rule_explainer import Answer

    facts = {"c1": "The dose is five.", "c3": "The clinic opens at nine."}

    def answer(question: str, shown: Sequence[Source]) -> Answer:
        names = [each.id for each in shown if each.id in facts]
        said = " ".join(facts[name] for name in names) or "Nothing."
        notes = [{"type": "citation", "source": name} for name in names]
        return Answer(said, value=[{"type": "text", "text": said, "annotations": notes}])

    found = cite(Explainer(answer), QUESTION, FILES)
    assert [[each.source for each in check.verdicts] for check in found.checks] == [["c1"], ["c3"]]
    assert found.faithful is True
