"""The words around a citation change no verdict: an answer without the source may say it without them.

Each form is tried by an honest citer, by one that cites other sources than it uses, by one that needs
none, and by one that uses either of two.
"""

from collections.abc import Callable, Sequence

import pytest

from rag_rule_explainer import Explainer, Source, cite
from rag_rule_explainer.citations.said import words_said
from rag_rule_explainer.cli.citation_survey import CitationSurvey, SurveyedAnswer
from tests.citations.oracles import DECISIVE, DECORATIVE, MEMORY, QUESTION, SEVERAL

TITLES = {
    "alpha": "Dosing in adults",
    "beta": "Calcium handbook",
    "gamma": "Opening hours",
    "delta": "Fees of clinics",
}
SOURCES = [Source(name, f"The text of {name} is its own.", {"title": TITLES[name]}) for name in TITLES]
Facts = list[tuple[str, list[str]]]
"""What an answer says, and what it cites for each."""
Form = Callable[[Facts, Callable[[str], int]], str]
DOSE, DRUG = "The dose is five", "The drug is calcium"


def honest(there: set[str]) -> Facts:
    facts = ((DOSE, "alpha"), (DRUG, "beta"))
    return [(fact, [name]) for fact, name in facts if name in there]


def swapped(there: set[str]) -> Facts:
    named = {"alpha": (DOSE, "gamma"), "beta": (DRUG, "delta")}
    cites = {"gamma", "delta"} <= there
    return [(fact, [other] if cites else []) for name, (fact, other) in named.items() if name in there]


def memory(there: set[str]) -> Facts:
    facts = ((DOSE, "alpha"), (DRUG, "beta"))
    return [(fact, [name] if name in there else []) for fact, name in facts]


def either(there: set[str]) -> Facts:
    cited = {DOSE: ("alpha", "gamma"), DRUG: ("beta", "delta")}
    said = [(fact, [name for name in names if name in there]) for fact, names in cited.items()]
    return [(fact, names) for fact, names in said if names]


CITERS = {
    "honest": (honest, DECISIVE, 0),
    "swapped": (swapped, DECORATIVE, 1),
    "memory": (memory, MEMORY, 1),
    "either": (either, SEVERAL, 0),
}


def marked(form: str, mark: str = "[{}]", between: str = " and ", sep: str = " ") -> Form:
    """Each fact in this form, with its marks; or alone, if it has none."""

    def write(facts: Facts, number: Callable[[str], int]) -> str:
        said = list[str]()
        for fact, names in facts:
            marks = between.join(mark.format(number(name)) for name in names)
            said.append(form.format(fact=fact, marks=marks) if names else f"{fact}.")
        return sep.join(said)

    return write


def listed(head: str, line: str) -> Form:
    """Numbers of its own, with a list of what they stand for."""

    def write(facts: Facts, number: Callable[[str], int]) -> str:
        order = list(dict.fromkeys(name for _, names in facts for name in names))
        marks = {name: f"[{place}]" for place, name in enumerate(order, 1)}
        # All names are keys.
        said = " ".join(f"{fact} {''.join(map(marks.get, names))}".strip() + "." for fact, names in facts)  # type: ignore[arg-type]
        entries = (line.format(place=place, title=TITLES[each]) for place, each in enumerate(order, 1))
        return f"{said}{head}{''.join(entries)}" if order else said

    return write


def table(facts: Facts, number: Callable[[str], int]) -> str:
    rows = (f"| {fact} | {''.join(f'[{number(name)}]' for name in names)} |\n" for fact, names in facts)
    return "".join(["| fact | source |\n|---|---|\n", *rows])


FORMS: dict[str, Form] = {
    "according to": marked("According to {marks}, {fact}."),
    "according to, behind": marked("{fact}, according to {marks}."),
    "as stated in": marked("{fact}, as stated in {marks}."),
    "based on": marked("Based on {marks}, {fact}."),
    "states that": marked("{marks} states that {fact}."),
    "worded": marked("{marks} say: {fact}.", "Source {}"),
    "both": marked("Both {marks} say that {fact}."),
    "laut": marked("Laut {marks}: {fact}.", between=" und "),
    "zufolge": marked("{marks} zufolge: {fact}.", between=" und "),
    "根据": marked("根据{marks}，{fact}。", between="和", sep=""),
    "the danda": marked("{fact} {marks}।", between=" और "),
    "brackets of full width": marked("{fact}（来源：{marks}）。", between="、", sep=""),
    "arrows": marked("{fact}. → {marks}", between=", "),
    "books": marked("{fact}. 📚{marks}", between=""),
    "bold colon": marked("**{marks}:** {fact}.", between="", sep="\n\n"),
    "dash": marked("{fact} — {marks}", "Source {}", sep="\n"),
    "escaped": marked("{fact} {marks}.", "\\[{}\\]", between=""),
    "a table": table,
    "a list": listed("\n\nReferences:\n", "[{place}] {title}, 2020\n"),
    "a list under a line": listed("\n\nReferences\n----------\n", "{place}. {title}\n"),
    "a list of links": listed("\n\n**Sources**\n", "- [{place}] [{title}](https://x.org/{place})\n"),
    "a list with more below": listed("\n\nSources:\n", "[{place}] {title}\n"),
    "a list without a heading": listed("\n\n", "[{place}] {title}\n"),
    "a list in one line": listed("\n\nReferences: ", "[{place}] {title}; "),
}


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("citer", CITERS)
@pytest.mark.parametrize("form", FORMS)
def test_the_words_around_a_citation_change_no_verdict(form: str, citer: str) -> None:
    says, expected, code = CITERS[citer]

    def answer(question: str, sources: Sequence[Source]) -> str:
        ids = [each.id for each in sources]
        facts = says({*ids})
        closing = "\n\nAsk a doctor." if form == "a list with more below" else ""
        return f"{FORMS[form](facts, lambda name: ids.index(name) + 1)}{closing}" if facts else "Nothing."

    found = cite(Explainer(answer), QUESTION, SOURCES)
    verdicts = [each for check in found.checks for each in check.verdicts]
    assert {each.citation_class for each in verdicts} == {expected}
    assert len(verdicts) == (4 if citer == "either" else 2)
    assert CitationSurvey((SurveyedAnswer("1", QUESTION, cited=found),), 1).exit_code == code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Second, the dose is five.", "the dose is five"),
        ("Außerdem: die Dosis ist fünf", "die Dosis ist fünf"),
        ("(The dose is five.)", "The dose is five"),
        ("“The dose is five.”", "The dose is five"),
        ("According to, the dose is five.", "the dose is five"),
        ("According to the guideline, it is five.", "According to the guideline, it is five"),
        ("Nach fünf Tagen ist Schluss.", "Nach fünf Tagen ist Schluss"),
        ("-5 degrees", "-5 degrees"),
        ("f(x) is (y)", "f(x) is (y)"),
        ("First", "First"),
        ("...", "..."),
    ],
)
def test_what_is_said(text: str, words: str) -> None:
    assert words_said(text) == words
