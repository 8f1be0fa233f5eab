"""To which statement a mark belongs, wherever it stands: each application says one thing for each of two
sources, and cites it honestly."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_rule_explainer import CitedAnswer, Explainer, Source, cite
from tests.citations.oracles import DECISIVE, QUESTION

SOURCES = [Source(each, f"The text of {each}.") for each in ("alpha", "beta", "gamma")]
FACTS = {"alpha": "The dose is five", "beta": "The drug is calcium"}
Point = Callable[[int, str, int], str]
"""Writes the point with this place in the answer: what it says, and the number of its source."""


def cited(say: Callable[[list[tuple[str, int]]], str], **options: Any) -> CitedAnswer:
    """What is cited by an application that says these facts of these numbers."""

    def answer(question: str, sources: Sequence[Source]) -> str:
        ids = [each.id for each in sources]
        facts = [(fact, ids.index(name) + 1) for name, fact in FACTS.items() if name in ids]
        return say(facts) if facts else "Nothing is known."

    return cite(Explainer(answer), QUESTION, SOURCES, **options)


def points(point: Point, between: str) -> Callable[[list[tuple[str, int]]], str]:
    return lambda facts: between.join(point(place, *fact) for place, fact in enumerate(facts, 1))


def classes(found: CitedAnswer) -> list[dict[str | None, str]]:
    return [{each.source: each.citation_class for each in check.verdicts} for check in found.checks]


HONEST = [{"alpha": DECISIVE}, {"beta": DECISIVE}]
BEHIND = {
    "number": "[{}]",
    "round": "([{}])",
    "words": "(Source {})",
    "labelled": "(Source: [{}])",
    "square words": "[Source {}]",
    "corner": "【{}】",
    "bold": "**[{}]**",
    "link": "[{0}](https://x.org/a_({0}))",
    "with a stop": "(Source {}).",
}


@pytest.mark.spread(fast="each")
@pytest.mark.parametrize("between", [" ", "\n", "\n\n"], ids=["space", "line", "paragraph"])
@pytest.mark.parametrize("form", BEHIND)
def test_a_mark_behind_the_full_stop_belongs_to_the_sentence_before(form: str, between: str) -> None:
    found = cited(points(lambda place, fact, number: f"{fact}. {BEHIND[form].format(number)}", between))
    assert classes(found) == HONEST
    assert found.faithful is True
    assert found.unchecked == ()


NUMBERED: dict[str, Point] = {
    "round": lambda place, fact, number: f"({place}) {fact} [{number}].",
    "step": lambda place, fact, number: f"Step {place}: {fact} [{number}].",
    "roman": lambda place, fact, number: f"{'i' * place}. {fact} [{number}].",
    "letters": lambda place, fact, number: f"{'xAB'[place]}. {fact} [{number}].",
    "circled": lambda place, fact, number: f"{'x①②'[place]} {fact} [{number}].",
    "colon": lambda place, fact, number: f"{place}: {fact} [{number}].",
    "bold": lambda place, fact, number: f"**{place}.** {fact} [{number}].",
    "heading": lambda place, fact, number: f"### {place}. Point\n{fact} [{number}].",
    "nested": lambda place, fact, number: f"1.{place}. {fact} [{number}].",
    "quoted": lambda place, fact, number: f"> {place}. {fact} [{number}].",
    "by source": lambda place, fact, number: f"[{number}]: {fact}.",
    "by worded source": lambda place, fact, number: f"Source {number}: {fact}.",
    "source below": lambda place, fact, number: f"{fact}.\nSource: [{number}]",
    "source above": lambda place, fact, number: f"**Source {number}**\n{fact}.",
    "mark below": lambda place, fact, number: f"{fact}.\n[{number}]",
    "in brackets": lambda place, fact, number: f"({fact} [{number}].)",
}


@pytest.mark.parametrize("between", ["\n", "\n\n"], ids=["line", "paragraph"])
@pytest.mark.parametrize("form", NUMBERED)
def test_a_list_may_be_numbered_anew(form: str, between: str) -> None:
    found = cited(points(NUMBERED[form], between))
    assert classes(found) == HONEST
    assert found.faithful is True
    assert found.unchecked == ()


def test_a_bracket_that_closes_belongs_to_what_it_closes() -> None:
    found = cited(points(NUMBERED["in brackets"], " "))
    assert classes(found) == HONEST
    assert [each.statement for each in found.checks] == [f"({fact}.)" for fact in FACTS.values()]


@pytest.mark.parametrize(
    ("said", "otherwise", "language"),
    [
        ("7. Juli ist der Termin [{}].", "9. Juli ist der Termin.", "de"),
        ("7. Juli ist der Termin [{}].", "9. Juli ist der Termin.", "en"),
        ("1. Mai ist frei [{0}].\n2. Mai ist frei [{0}].", "8. Mai ist frei.\n9. Mai ist frei.", "de"),
        ("5) is the answer [{}].", "6) is the answer.", "en"),
        ("1) is the answer [{}].", "2) is the answer.", "en"),
        ("The share is 5 [{}].", "The share is 5%.", "en"),
        ("The share is 5 [{}].", "The share is 5 %.", "en"),
        ("Take 10 [{}].", "Take 10-20 mg.", "en"),
        ("Use C [{}].", "Use C++.", "en"),
        ("5 mg is enough [{}].", "-5 mg is enough.", "en"),
        ("The area is 5 [{}].", "The area is 5².", "en"),
    ],
)
def test_a_number_that_is_said_is_no_number_of_a_list(said: str, otherwise: str, language: str) -> None:
    def answer(question: str, sources: Sequence[Source]) -> str:
        ids = [each.id for each in sources]
        return said.format(ids.index("alpha") + 1) if "alpha" in ids else otherwise

    found = cite(Explainer(answer), QUESTION, SOURCES, language=language)
    assert {tuple(each.items()) for each in classes(found)} == {(("alpha", DECISIVE),)}


def for_all(form: str, between: str = ", ") -> Callable[[list[tuple[str, int]]], str]:
    def say(facts: list[tuple[str, int]]) -> str:
        marks = between.join(f"[{number}]" for _, number in facts)
        return " ".join(f"{fact}." for fact, _ in facts) + form.format(marks)

    return say


@pytest.mark.parametrize(
    ("form", "between"),
    [
        ("\n\nSources: {}", ", "),
        ("\nSources: {}", ", "),
        ("\n\n**Sources:** {}", " "),
        ("\n\n**Sources**: {}", " "),
        ("\n\nSources:\n{}", "\n"),
        ("\n\n## References\n{}", "\n\n"),
        ("\n\nSources:\n- {}", "\n- "),
        ("\n\nQuellen: {}", " und "),
        ("\n\n参考文献：{}", "、"),
        ("\n\nBased on documents: {}", " & "),
        ("\n\n{}", ""),
        ("\n{}", ""),
        (" {}", ""),
        (" (Sources: {})", ", "),
        (" (Quellen: {})", ", "),
    ],
)
def test_a_list_of_sources_is_for_what_stands_before_it(form: str, between: str) -> None:
    found = cited(for_all(form, between))
    assert classes(found) == HONEST
    assert found.faithful is True
    assert [each.statement for each in found.checks] == [f"{fact}." for fact in FACTS.values()]


def test_a_list_cites_only_for_its_own_part() -> None:
    def say(facts: list[tuple[str, int]]) -> str:
        told = dict(facts)
        first, second = (told.get(each, 9) for each in FACTS.values())
        return "\n\n".join(
            f"{fact}.\nSource: [{second if fact == FACTS['alpha'] else first}]" for fact, _ in facts
        )

    found = cited(say)
    assert [{*each.values()} for each in classes(found)] == [{"decorative"}, {"decorative"}]
    assert found.faithful is False


@pytest.mark.parametrize("mark", ["[{}]", "(Source {})", "(see Source {})", "(Quelle {})"])
def test_the_last_marks_of_a_line_are_for_their_own_sentence(mark: str) -> None:
    """A segmenter takes "1)" for the number of a point, and a lone word for sources is no list."""
    said = [("It is five", "1"), ("Water helps", "12"), ("It is so", ""), ("Tea is good", "31")]

    def answer(question: str, sources: Sequence[Source]) -> str:
        return " ".join(
            f"{fact} {' '.join(map(mark.format, cited))}".rstrip() + "." for fact, cited in said
        )

    found = cite(Explainer(answer), "How?", SOURCES, every_statement=True)
    cited = [[each.source for each in check.verdicts] for check in found.checks]
    names = dict(zip("123", ("alpha", "beta", "gamma"), strict=True))
    assert [check.statement for check in found.checks] == [f"{fact}." for fact, _ in said]
    assert cited == [[names[number] for number in numbers] for _, numbers in said]


def test_the_number_of_a_point_below_a_word_for_sources_is_no_citation() -> None:
    text = "Based on the documents:\n\n1. It is five [3]\n2. Water helps [2]"
    found = cite(Explainer(lambda question, sources: text), "How?", SOURCES)
    assert [[each.source for each in check.verdicts] for check in found.checks] == [["gamma"], ["beta"]]


def test_a_list_that_only_repeats_adds_nothing() -> None:
    def say(facts: list[tuple[str, int]]) -> str:
        marks = ", ".join(f"[{number}]" for _, number in facts)
        return " ".join(f"{fact} [{number}]." for fact, number in facts) + f"\n\nSources: {marks}"

    assert classes(cited(say)) == HONEST


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("form", ["The dose of Source {} is five.", "It is five (Source {})."])
def test_sources_may_be_counted_from_nought(form: str, number: int) -> None:
    name = SOURCES[number].id

    def answer(question: str, sources: Sequence[Source]) -> str:
        ids = [each.id for each in sources]
        return form.format(ids.index(name)) if name in ids else "Nothing."

    found = cite(Explainer(answer), QUESTION, SOURCES, numbers_from=0)
    assert classes(found) == [{name: DECISIVE}]
