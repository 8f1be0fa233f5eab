"""What is said of an explanation is decided once; a form only lays it out."""

from rag_rule_explainer import Explainer, Source, contains
from rag_rule_explainer.report import as_text
from rag_rule_explainer.report.view import sections

SOURCES = [Source(f"D{n}", f"text {n}") for n in range(1, 4)]


def test_the_text_says_all_of_it_in_this_order_and_nothing_else() -> None:
    explanation = Explainer(
        lambda question, sources: "yes" if {"D1", "D3"} <= {each.id for each in sources} else "no",
        predicate=contains("yes"),
    ).explain("Is it so?", SOURCES)
    said = list(sections(explanation))
    text, at = as_text(explanation), 0
    for section in said:
        for told in [
            section.heading,
            *(
                told
                for entry in section.entries
                for told in (*(cell.text for cell in entry.cells), entry.below)
            ),
            section.remark,
        ]:
            found = text.find(told, at)
            assert found >= at, told
            # What stands between is layout alone.
            assert not text[at:found].strip(" \n-:"), text[at:found]
            at = found + len(told)
    assert not text[at:].strip()


def test_of_what_there_is_nothing_to_say_there_is_no_section() -> None:
    explanation = Explainer(lambda question, sources: "yes").explain("?", SOURCES)
    headings = [section.heading for section in sections(explanation)]
    assert headings[0] == ""
    assert headings[-2:] == ["Cost", "Made"]
    assert not {"Left open", "What would flip it"} & set(headings)
    assert all(section.entries for section in sections(explanation))
