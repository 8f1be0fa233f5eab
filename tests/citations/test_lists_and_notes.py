"""What lists beside an answer and notes below it say is read as marks are, in every shape they have."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_rule_explainer import Answer, CitationClass, CitedAnswer, Explainer, Source, cite
from tests.citations.oracles import DECISIVE, DECORATIVE, QUESTION, UNDECIDED, UNRESOLVABLE

HOURS = "https://clinic.org/hours"
SOURCES = [
    Source("D1", "The clinic opens at nine in the morning.", {"title": "Hours", "source": HOURS}),
    Source(
        "D2", "Treatment lasts six weeks for all.", {"file_name": "g/guideline.pdf", "file_id": "f-2"}
    ),
    Source("D3", "Five pills are taken a day.", {"title": "Pills"}),
    Source("D4", "The fee is ten euro.", {"title": "Fees"}),
]
SAID = "It takes six weeks"
Found = list[tuple[str | None, CitationClass]]
SECOND: Found = [("D2", DECISIVE)]
FIRST: Found = [("D1", DECORATIVE)]


def found_in(cited: CitedAnswer) -> Found:
    (check,) = cited.checks
    return [(each.source, each.citation_class) for each in check.verdicts]


def needing_the_second(answer: Callable[[], Answer | str]) -> Found:
    """What is found if the application says this iff it is given D2."""

    def application(question: str, shown: Sequence[Source]) -> Answer | str:
        return answer() if "D2" in {each.id for each in shown} else "Nothing."

    return found_in(cite(Explainer(application), QUESTION, SOURCES))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (2, SECOND),
        ("[2]", SECOND),
        ("Source 2", SECOND),
        ("source_2", SECOND),
        ("2, p. 3", SECOND),
        ("Source 2, section 4", SECOND),
        ("Quelle 2", SECOND),
        ("［２］", SECOND),
        ("D2", SECOND),
        ("D2, p. 3", SECOND),
        ("guideline.pdf", SECOND),
        ("guideline.pdf, p. 3", SECOND),
        ({"source_id": "Source 2"}, SECOND),
        (HOURS, FIRST),
        (0, [(None, UNDECIDED)]),
        ("S2", [(None, UNDECIDED)]),
        ("2:3", [(None, UNDECIDED)]),
        (9, [(None, UNRESOLVABLE)]),
        ("Smith 2020", [(None, UNRESOLVABLE)]),
    ],
)
def test_an_entry_of_a_list_beside_the_answer(entry: Any, expected: Found) -> None:
    value = {"answer": f"{SAID}.", "citations": [entry]}
    assert needing_the_second(lambda: Answer(f"{SAID}.", value=value)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SAID} [^1].\n\n[^1]: guideline.pdf, p. 3", SECOND),
        (f"{SAID} [^1]\u200b.\n\n[^1]: D2", SECOND),
        (f"{SAID}¹.\n\n¹ guideline.pdf", SECOND),
        (f"{SAID}<sup>1</sup>.\n\n<sup>1</sup> guideline.pdf", SECOND),
        (f"{SAID}¹.\n\n1. guideline.pdf", SECOND),
        (f"{SAID} [1, p. 3].\n\nReferences:\n[1] guideline.pdf", SECOND),
        (f"{SAID} (Source 1).\n\nSources:\n1. guideline.pdf", SECOND),
        (f"{SAID} ［1］.\n\n参考文献：\n［1］ guideline.pdf", SECOND),
        (f"{SAID} [2].\n\nSources:\n- [2] [Hours]({HOURS})", FIRST),
        (f"{SAID} [2].\n\n[2]: {HOURS}", FIRST),
        (f"{SAID} [2].\n\nReferences:\n[2] Smith 2020, Journal", [(None, UNRESOLVABLE)]),
        (f"{SAID}².\n\nSources:\n1. Hours\n2. guideline.pdf", SECOND),
    ],
)
def test_a_note_below_the_answer(text: str, expected: Found) -> None:
    assert needing_the_second(lambda: text) == expected


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        (f"{SAID} [1]–[3].", ["D1", "D2", "D3"]),
        (f"{SAID} (sources 1 to 2).", ["D1", "D2"]),
        (f"{SAID} [D1-D2, D4].", ["D1", "D2", "D4"]),
    ],
)
def test_a_range_cites_all_of_its_sources(text: str, cited: list[str]) -> None:
    expected = [(each, DECISIVE if each == "D2" else DECORATIVE) for each in cited]
    assert needing_the_second(lambda: text) == expected
