"""However an application writes its marks, the class of a citation depends on what the answer says."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Source, cite, ignoring_citations, same_answer
from rag_rule_explainer.citations import CitationCheck
from rag_rule_explainer.predicates.without_marks import without_marks
from tests.citations.oracles import DECISIVE, QUESTION, SEVERAL
from tests.citations.test_statements import NOBODY, of

SOURCES = [Source(each, f"The text of {each}.") for each in ("alpha", "beta", "gamma", "delta")]
KNOWN = [each.id for each in SOURCES]
Write = Callable[[Sequence[int]], str]
"""Writes the marks of sources with these numbers."""


def each(form: str, between: str = "") -> Write:
    return lambda numbers: between.join(form.format(number) for number in numbers)


def around(opening: str, write: Write, closing: str) -> Write:
    return lambda numbers: f"{opening}{write(numbers)}{closing}"


WAYS: dict[str, Write] = {
    "one after the other": each("[{}]"),
    "commas": each("[{}]", ", "),
    "and": each("[{}]", " and "),
    "hyphens": each("[{}]", "-"),
    "strokes": each("[{}]", "/"),
    "und": each("[{}]", " und "),
    "et": each("[{}]", " et "),
    "y": each("[{}]", " y "),
    "i": each("[{}]", " i "),
    "to": each("[{}]", " to "),
    "plus": each("[{}]", " + "),
    "dash": each("[{}]", " — "),
    "as well as": each("[{}]", " as well as "),
    "and also": each("[{}]", ", and also "),
    "Chinese": each("[{}]", "、"),
    "Chinese comma": each("[{}]", "，"),
    "Chinese and": each("[{}]", "和"),
    "Russian": each("[{}]", " и "),
    "Arabic": each("[{}]", " و "),
    "und inside": around("[", each("{}", " und "), "]"),
    "Chinese inside": around("[", each("{}", "、"), "]"),
    "strokes inside": around("[", each("{}", "/"), "]"),
    "spaces inside": around("[", each("{}", " "), "]"),
    "Quellen": around("(Quellen: ", each("[{}]", ", "), ")"),
    "breaks": each("[{}]", "<br>"),
    "brackets around": around("(", each("[{}]", ", "), ")"),
    "see": around("(see ", each("[{}]", "; "), ")"),
    "words": around("(", each("Source {}", ", "), ")"),
    "words apart": around("(", each("Source {}", "; "), ")"),
    "links": each("[{0}](https://x.org/{0})"),
    "bracketed links": each("[[{0}]](https://x.org/{0})", ", "),
    "links with brackets": each("[{0}](https://x.org/a_({0}))"),
    "links with titles": each('[{0}](https://x.org/{0} "The title {0}")'),
    "links to files": each("[{0}](doc{0}.pdf)"),
    "anchors": each("[{0}](#ref{0})"),
    "html anchors": each('<a href="#r{0}">[{0}]</a>', " "),
    "superscript": each('<sup id="c{0}">[{0}]</sup>'),
    "bold": each("**[{}]**"),
    "code": each("`[{}]`", ", "),
    "what services add": each("【{}:0†source】"),
    "links in brackets": each("([x.org](https://x.org/?id={}))"),
}


BESIDE = ("what services add", "links in brackets")
"""Marks beside which annotations say what they mean."""


def checked(says: Callable[[list[str]], str], **options: Any) -> CitationCheck:
    explainer = Explainer(lambda question, sources: says([source.id for source in sources]))
    (check,) = cite(explainer, QUESTION, SOURCES, **options).checks
    return check


@pytest.mark.parametrize("way", WAYS)
def test_the_number_of_marks_does_not_matter(way: str) -> None:
    """Either of two sources will do, and it cites all of them that are there."""

    def says(ids: list[str]) -> str:
        numbers = [ids.index(name) + 1 for name in ("alpha", "beta") if name in ids]
        return f"The dose is five {WAYS[way](numbers)}." if numbers else "Nobody knows."

    check = checked(says, every_statement=True)
    assert check.statement == "The dose is five."
    assert [rule.sources for rule in check.explanation.retention_rules] == [("alpha",), ("beta",)]
    found = {verdict.source: verdict.citation_class for verdict in check.verdicts}
    assert found == ({} if way in BESIDE else dict.fromkeys(("alpha", "beta"), SEVERAL))


@pytest.mark.parametrize("way", WAYS)
def test_new_numbers_do_not_matter(way: str) -> None:
    def says(ids: list[str]) -> str:
        number = [ids.index("beta") + 1] if "beta" in ids else []
        return f"The dose is five {WAYS[way](number)}." if number else "Nobody knows."

    explanation = checked(says, every_statement=True).explanation
    assert [rule.sources for rule in explanation.rules] == [("beta",), ("beta",)]


def test_new_numbers_of_a_list_do_not_matter() -> None:
    def says(ids: list[str]) -> str:
        facts = {"alpha": "The dose is five", "beta": "The drug is calcium"}
        said = [f"{fact} [{ids.index(name) + 1}]" for name, fact in facts.items() if name in ids]
        return "\n".join(f"{place}. {point}" for place, point in enumerate(said, 1)) or "Nothing."

    explainer = Explainer(lambda question, sources: says([source.id for source in sources]))
    checks = cite(explainer, QUESTION, SOURCES).checks
    assert [check.verdicts[0].citation_class for check in checks] == [DECISIVE, DECISIVE]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("**Dose** [1] **Drug**", "**Dose** **Drug**"),
        ("One [1]\n[2] Two", "One\n Two"),
        ("It is (so [1]).", "It is (so)."),
        ("Bring document 7 to room [1].", "Bring document 7 to room."),
        ("As in document 2, so.", "As in, so."),
        ("f(x) = (1) [1]", "f(x) = (1)"),
        ("a * b [1] * c", "a * b * c"),
        ("Sources:\n- spinach [1]\n- lentils [2]", "Sources:\n- spinach\n- lentils"),
        ("Eat.\n\nSources:\n- spinach [1]\n- lentils [2]", "Eat."),
        ("```\nx[1] = 2\n```\nSo [1].", "```\nx[1] = 2\n```\nSo."),
    ],
)
def test_what_is_no_mark_stays(text: str, bare: str) -> None:
    assert without_marks(text, KNOWN, KNOWN) == bare


def test_an_answer_that_is_a_list_of_sources_is_not_empty() -> None:
    def says(ids: list[str]) -> str:
        return f"Sources:\n- {'spinach' if 'alpha' in ids else 'iron pills'}"

    explainer = Explainer(
        lambda question, sources: says([source.id for source in sources]),
        predicate=ignoring_citations(same_answer()),
    )
    rules = explainer.explain(QUESTION, SOURCES).rules
    assert [rule.sources for rule in rules] == [("alpha",), ("alpha",)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1] A is so. [2] B is so.", [("A is so.", ["D1"]), ("B is so.", ["D2"])]),
        ("[1] A is so.\n[2] B is so.", [("A is so.", ["D1"]), ("B is so.", ["D2"])]),
        ("- [1] A is so.\n- [2] B is so.", [("- A is so.", ["D1"]), ("- B is so.", ["D2"])]),
        ("(Source 1) A is so. (Source 2) B is so.", [("A is so.", ["D1"]), ("B is so.", ["D2"])]),
        (
            "[1] A is so. B is so. [2] C is so.",
            [("A is so.", ["D1"]), ("B is so.", NOBODY), ("C is so.", ["D2"])],
        ),
        ("A is so.\n\n[1] B is so.", [("A is so.", NOBODY), ("B is so.", ["D1"])]),
        ("A is so. [1][2] B is so. [3]", [("A is so.", ["D1", "D2"]), ("B is so.", ["D3"])]),
        ("A is so. [1] B is so.", [("A is so.", ["D1"]), ("B is so.", NOBODY)]),
        ("[1] A is so. [2]", [("A is so.", ["D1", "D2"])]),
    ],
)
def test_a_mark_may_stand_before_what_it_is_for(text: str, expected: object) -> None:
    assert of(text) == expected
