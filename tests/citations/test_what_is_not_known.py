"""What was never seen counts neither for nor against a citation, and neither is it called memory."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rag_rule_explainer import Answer, CitationClass, CitedAnswer, Explainer, InvalidInput, Source, cite
from rag_rule_explainer.citations import CitationCheck
from rag_rule_explainer.cli.citation_survey import CitationSurvey, SurveyedAnswer
from rag_rule_explainer.pytest_plugin import Undecided, assert_citations_decisive
from tests.citations.oracles import DECISIVE, DECORATIVE, QUESTION, SEVERAL, UNDECIDED, UNRESOLVABLE

SOURCES = [Source(each, f"The text of {each} has words of its own.") for each in "abcd"]
CLAIM = "The dose is five"


def cited_by(
    needs: Callable[[set[str]], bool],
    marks: str,
    sources: Sequence[Source] = SOURCES,
    pinned: Sequence[str] = (),
    **settings: Any,
) -> CitedAnswer:
    def application(question: str, shown: Sequence[Source]) -> str:
        return f"{CLAIM} {marks}." if needs({each.id for each in shown}) else "Nobody knows."

    return cite(Explainer(application, **settings), QUESTION, sources, pinned=pinned)


def check_of(cited: CitedAnswer) -> CitationCheck:
    (check,) = cited.checks
    return check


def exit_code(cited: CitedAnswer) -> int:
    return CitationSurvey((SurveyedAnswer("1", QUESTION, cited=cited),), 1).exit_code


def test_a_pinned_source_counts_neither_for_nor_against() -> None:
    cited = cited_by(lambda shown: "a" in shown, "[a]", pinned=["a"])
    check = check_of(cited)
    assert [each.citation_class for each in check.verdicts] == [UNRESOLVABLE]
    assert check.faithful is cited.faithful is check.sufficient is check.smallest_honest is None
    assert exit_code(cited) == 3
    with pytest.raises(Undecided):
        assert_citations_decisive(cited)
    assert "not enough" not in str(check)
    row = next(CitationSurvey((SurveyedAnswer("1", QUESTION, cited=cited),), 1).rows())
    assert (row.faithful.of, row.undecided) == (0, 1)


def test_what_needs_a_pinned_source_is_not_known_to_be_enough() -> None:
    check = check_of(cited_by(lambda shown: {"a", "b"} <= shown, "[b]", pinned=["a"]))
    assert [each.citation_class for each in check.verdicts] == [DECISIVE]
    assert check.sufficient is check.smallest_honest is None
    both = check_of(cited_by(lambda shown: {"a", "b"} <= shown, "[a][b]", pinned=["a"]))
    assert both.sufficient is True


def test_one_of_tied_duplicates_counts_neither_for_nor_against() -> None:
    copies = [Source("a", "A text of many words, all of which are here."), *SOURCES[1:]]
    copies[1] = Source("b", copies[0].text)
    cited = cited_by(lambda shown: bool({"a", "b"} & shown), "[a]", copies, merge_duplicates=True)
    check = check_of(cited)
    assert check.faithful is check.sufficient is check.smallest_honest is None
    assert check.uncited == ()
    assert "never asked" in str(check)
    assert exit_code(cited) == 3


def test_what_holds_only_relative_to_some_sources_counts_neither_for_nor_against() -> None:
    """With a partition, sources of different parts are never left out together."""
    cited = cited_by(lambda shown: {"b", "c"} <= shown, "[b][c]", SOURCES[:3], partition=2)
    check = check_of(cited)
    assert {each.claim for each in check.verdicts} == {"relative"}
    assert check.faithful is cited.faithful is None
    assert {each.citation_class for each in check.verdicts} == {DECISIVE}
    assert exit_code(cited) == 3
    row = next(CitationSurvey((SurveyedAnswer("1", QUESTION, cited=cited),), 1).rows())
    assert (row.faithful.of, row.undecided) == (0, 2)
    with pytest.raises(Undecided):
        assert_citations_decisive(cited)


def test_what_is_not_known_of_a_list_is_said_all_the_same() -> None:
    """A list may be for another statement; if there is none, its verdicts stay."""
    check = check_of(cited_by(lambda shown: {"b", "c"} <= shown, "(Sources: a, d)", miner="grouped"))
    assert {each.source: each.citation_class for each in check.verdicts} == {
        "a": DECORATIVE,
        "d": DECORATIVE,
    }
    assert {each.faithful for each in check.verdicts} == {None}
    assert check.faithful is None


def test_no_such_source_counts_against() -> None:
    cited = cited_by(lambda shown: "a" in shown, "[a][9]")
    assert [each.faithful for each in check_of(cited).verdicts] == [True, False]
    assert exit_code(cited) == 1
    with pytest.raises(AssertionError):
        assert_citations_decisive(cited)


def test_an_answer_that_was_given_for_no_sources_is_no_memory() -> None:
    cited = cited_by(lambda shown: True, "[a]", answer_without_sources=f"{CLAIM}.")
    check = check_of(cited)
    assert [each.citation_class for each in check.verdicts] == [UNDECIDED]
    assert check.smallest_honest is check.sufficient is None
    assert "was given" in check.verdicts[0].why
    assert "without any source [" not in str(check)


def test_a_claim_of_any_source_alone_may_be_memory() -> None:
    """The application returns early, and the model needs no source."""
    check = check_of(cited_by(bool, "[a]"))
    assert [each.citation_class for each in check.verdicts] == [UNDECIDED]
    assert "did not ask its model" in check.verdicts[0].why
    assert check.faithful is check.sufficient is None
    # Two that say the same are not so strange, and neither is a model that was asked and did not know.
    assert check_of(cited_by(bool, "[a]", SOURCES[:2])).verdicts[0].citation_class is SEVERAL

    def asking(question: str, shown: Sequence[Source]) -> Answer:
        return Answer(f"{CLAIM} [a]." if shown else "Nobody knows.", usage={"input_tokens": 3})

    assert check_of(cite(Explainer(asking), QUESTION, SOURCES)).verdicts[0].citation_class is SEVERAL


def test_a_claim_that_some_sources_prevent_is_said_to_be_made_without_any() -> None:
    check = check_of(cited_by(lambda shown: not shown or "a" in shown, "[a]"))
    assert check.without_sources is True
    assert check.sufficient is True
    assert "the claim is also made without any source" in str(check)


@pytest.mark.parametrize("listed", [[1, 3], [3, 1], [1, 3, 3]])
@pytest.mark.parametrize("marked", [True, False])
def test_a_list_beside_the_answer_is_for_all_of_it(listed: list[int], marked: bool) -> None:
    facts = {"a": CLAIM, "c": "The drug is calcium"}

    def application(question: str, shown: Sequence[Source]) -> Answer:
        ids = [each.id for each in shown]
        mark = {name: f" [{ids.index(name) + 1}]" if marked and name in ids else "" for name in facts}
        said = " ".join(f"{fact}{mark[name]}." for name, fact in facts.items() if name in ids)
        return Answer(said or "Nothing.", value={"answer": said or "Nothing.", "citations": listed})

    first, second = cite(Explainer(application), QUESTION, SOURCES).checks
    assert {each.source: each.citation_class for each in first.verdicts} == {"a": DECISIVE}
    assert {each.source: each.citation_class for each in second.verdicts} == {"c": DECISIVE}
    assert first.faithful is second.faithful is True


def test_what_no_statement_needs_is_said_of_each() -> None:
    def application(question: str, shown: Sequence[Source]) -> Answer:
        said = "One is so. Two is so." if {"a"} & {each.id for each in shown} else "Nothing."
        return Answer(said, value={"answer": said, "citations": [2]})

    checks = cite(Explainer(application), QUESTION, SOURCES).checks
    assert [check.of("b").citation_class for check in checks] == [DECORATIVE, DECORATIVE]


def test_an_answer_of_marks_alone_is_not_called_uncited() -> None:
    cited = cite(Explainer(lambda question, shown: "[1] [2]"), QUESTION, SOURCES)
    assert cited.unstated == ("[1]", "[2]")
    assert cited.faithful is None
    assert "the answer cites [1], [2], and states nothing" in str(cited)
    assert exit_code(cited) == 3


REFERENCES = [
    ("The dose is five [1].\n\nReferences:\n[1] https://wikipedia.org/Dose", None),
    ("The dose is five [^1].\n\n[^1]: Smith 2020", None),
    ("The dose is five [^1].\n\n[^1]: Source 3", "c"),
    ("The dose is five [1].\n\n[1]: [2]", "b"),
    ("The dose is five [^1].\n\n[^1]: b, page 4", "b"),
    ("The dose is five [2].\n\nSources:\n[1] a", "b"),
]


@pytest.mark.parametrize(("text", "source"), REFERENCES)
def test_a_reference_to_something_else_is_not_taken_for_its_number(text: str, source: str | None) -> None:
    (check,) = cite(Explainer(lambda question, shown: text), QUESTION, SOURCES).checks
    (verdict,) = check.verdicts
    assert verdict.source == source
    if source is None:
        assert verdict.citation_class is CitationClass.UNRESOLVABLE
        assert verdict.faithful is False
        assert "names none of the sources" in verdict.why


def test_a_statement_ends_where_its_words_and_numbers_do() -> None:
    """Other answers begin with the same letters, and say something else."""

    def application(question: str, shown: Sequence[Source]) -> str:
        return (
            "The dose is 5 [1]." if "a" in {each.id for each in shown} else "The dose is 50 mg, or 5.5."
        )

    (check,) = cite(Explainer(application), QUESTION, SOURCES).checks
    assert check.of("a").citation_class is DECISIVE


def test_marks_that_only_a_function_reads_are_named_beside_it() -> None:
    def application(question: str, shown: Sequence[Source]) -> str:
        ids = [each.id for each in shown]
        return f"{CLAIM} <<{ids.index('b') + 1}>>." if "b" in ids else "Nobody knows."

    def reading(output: str, ids: tuple[str, ...]) -> list[str]:
        return [ids[int(number) - 1] for number in re.findall(r"<<(\d)>>", output)]

    (check,) = cite(Explainer(application), QUESTION, SOURCES, reading=reading, marks=r"<<\d>>").checks
    assert check.statement == f"{CLAIM}."
    assert check.of("b").citation_class is DECISIVE
    with pytest.raises(InvalidInput, match="with a function as reading only"):
        cite(Explainer(application), QUESTION, SOURCES, marks=r"<<\d>>")


def test_one_id_that_is_a_number_turns_no_place_into_an_id() -> None:
    named = [Source(each, f"The text of {each}.") for each in ("2024", "guide", "x")]

    def application(question: str, shown: Sequence[Source]) -> str:
        ids = [each.id for each in shown]
        return f"{CLAIM} [{ids.index('guide') + 1}] [2024]." if "guide" in ids else "Nobody knows."

    (check,) = cite(Explainer(application), QUESTION, named).checks
    assert {each.source: each.citation_class for each in check.verdicts} == {
        "guide": DECISIVE,
        "2024": DECORATIVE,
    }


@pytest.mark.parametrize("bad", [[3], [None]])
def test_ids_that_are_no_texts_are_refused(bad: Any) -> None:
    explanation = check_of(cited_by(lambda shown: "a" in shown, "[a]")).explanation
    with pytest.raises(InvalidInput, match="ids of sources"):
        explanation.citations(cited=bad)
    with pytest.raises(InvalidInput, match="return a list of ids"):
        # A mistake, on purpose.
        explanation.citations(reading=lambda output, ids: None)  # type: ignore[arg-type, return-value]
