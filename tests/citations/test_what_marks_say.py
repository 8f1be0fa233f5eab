"""What stands in a mark is read by one reader; what it is not sure of is undecided, never some source."""

from typing import Any

import pytest

from rag_rule_explainer import Explainer, Source, cite, cites
from rag_rule_explainer.citations.cite_options import CiteOptions
from rag_rule_explainer.citations.reading import CitableSources, read_citations
from rag_rule_explainer.citations.statements import CitedStatement, statements_in
from rag_rule_explainer.predicates.attribution import is_attribution
from rag_rule_explainer.predicates.plain_signs import UNSEEN, plain_signs
from rag_rule_explainer.predicates.without_marks import without_marks
from rag_rule_explainer.verdicts import Verdict
from tests.citations.oracles import QUESTION, UNDECIDED
from tests.predicates.cases import case, judged

SOURCES = tuple(
    Source(f"D{place}", f"The text number {place} is its own.", {"title": f"Title {place}"})
    for place in range(1, 6)
)
SHOWN = CitableSources(SOURCES)
OPEN, NONE = "?", "none"


def read(text: str, shown: CitableSources = SHOWN) -> list[str]:
    found = read_citations(text, shown).citations
    return [each.source or (OPEN if each.is_open else NONE) for each in found]


def divided(text: str) -> tuple[CitedStatement, ...]:
    return statements_in(read_citations(text, SHOWN), SHOWN, CiteOptions().divided)


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("[1, p. 3]", ["D1"]),
        ("[1, p. 3; 2, p. 5]", ["D1", "D2"]),
        ("[1, p. 3, 4]", ["D1", OPEN]),
        ("[1, pp. 3-5, Source 2]", ["D1", "D2"]),
        ("[2, §4]", ["D2"]),
        ("[D2 p.4]", ["D2"]),
        ("[2 – p. 4]", ["D2"]),
        ("[1(a)]", ["D1"]),
        ("[1: 3]", [OPEN]),
        ("[1:3]", [OPEN]),
        ("[S1]", [OPEN]),
        ("[R-2]", [OPEN]),
        ("[1-3]", ["D1", "D2", "D3"]),
        ("[1–3, 5]", ["D1", "D2", "D3", "D5"]),
        ("[1 to 3]", ["D1", "D2", "D3"]),
        ("[1 bis 3]", ["D1", "D2", "D3"]),
        ("[1 до 3]", ["D1", "D2", "D3"]),
        ("[1至3]", ["D1", "D2", "D3"]),
        ("[D1–D3]", ["D1", "D2", "D3"]),
        ("[D4-D6]", ["D4", "D5", NONE]),
        ("[1]–[3]", ["D1", "D2", "D3"]),
        ("[1] to [3]", ["D1", "D2", "D3"]),
        ("[1]…[3]", ["D1", "D2", "D3"]),
        ("[1], [3]", ["D1", "D3"]),
        ("(sources 1 to 3)", ["D1", "D2", "D3"]),
        ("(sources 1 through 3)", ["D1", "D2", "D3"]),
        ("(Source 1, p. 3)", ["D1"]),
        ("(Source 1; Source 3)", ["D1", "D3"]),
        ("(Source 1 and Figure 2)", ["D1"]),
        ("(1, 2)", []),
        ("(source code, 2)", []),
        ("[Figure 1]", []),
        ("[B12]", []),
        ("[-1]", []),
        ("[1.2]", []),
        ("[@D1; @D2]", ["D1", "D2"]),
        ("\\parencite[see][12]{D1}", ["D1"]),
        ("【1:0†source】", []),
        ("【1†L3-L9】", ["D1"]),
        ("¹", ["D1"]),
        ("¹,³", ["D1", "D3"]),
        ("¹²", [OPEN]),
        ("<sup>1,2</sup>", ["D1", "D2"]),
        ('<sup><a href="#fn2">2</a></sup>', ["D2"]),
    ],
)
def test_what_stands_in_a_mark(mark: str, expected: list[str]) -> None:
    assert read(f"It is so {mark}.") == expected
    if expected:
        assert without_marks(f"It is so {mark}.", SHOWN.ids, SHOWN.known) == "It is so."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is so [2: Title 2].", ["D2"]),
        ("It is so [2: Title 3].", [OPEN]),
        ("It is so [Source 2: Title 3].", [OPEN]),
        ("It is so [2](https://x.org/other.pdf).", ["D2"]),
        ("It is so [0] and [1].", [OPEN, OPEN]),
        ("It is so [0].", [OPEN]),
        ("In arr[0] it is so [1].", [OPEN, "D1"]),
        ("The vector [0, 1] is so [2].", [OPEN, OPEN, "D2"]),
        ("The area is 5 m² or 10³ [1].", ["D1"]),
    ],
)
def test_a_number_that_may_mean_another_source_is_undecided(text: str, expected: list[str]) -> None:
    assert read(text) == expected


ADDRESSES = CitableSources(
    (
        Source("a", "The first text.", {"url": "https://x.org/a.pdf"}),
        Source("b", "The second text.", {"url": "https://x.org/b.pdf"}),
    )
)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[1](https://x.org/a.pdf)", ["a"]),
        ("[1](https://x.org/a.pdf#page=3)", ["a"]),
        ("[1](https://x.org/b.pdf)", [OPEN]),
        ("[1](https://elsewhere.org)", [OPEN]),
        ("[1](#ref-2)", ["a"]),
        ("[[1]](b.pdf)", [OPEN]),
    ],
)
def test_the_address_of_a_link_has_to_agree_with_its_number(link: str, expected: list[str]) -> None:
    assert read(f"It is so {link}.", ADDRESSES) == expected


def test_a_list_beside_the_answer_that_counts_from_0_is_undecided() -> None:
    found = read_citations({"answer": "It is so.", "citations": [0, 2]}, SHOWN).citations
    assert [each.is_open for each in found] == [True, True]
    known = read_citations({"answer": "It is so.", "citations": [0, 2]}, CitableSources(SOURCES, (), 0))
    assert [each.source for each in known.citations] == ["D1", "D3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("As noted by [1], it is so.", ""),
        ("According to [1], it is so.", ""),
        ("Nach Ansicht von [1], ist es so.", "Nach Ansicht von"),
        ("Aspirin [1], the drug, is good.", "Aspirin"),
        ("[1] observes that it is so.", "observes"),
        ("Source 1 observes that it is so.", "observes"),
        ("[1]指出，剂量是五毫克。", "指出"),
        ("It is so (so [1]).", "so"),
        ("It is so, as [1] confirms.", "confirms."),
        ("[1] It is so.", ""),
        ("- [1] done", ""),
        ("Source 1: It is so.", ""),
        ("It is so, twice daily [1].", ""),
        ("It is so, as anyone reads within [1].", "within"),
        ("It is so in [1] and out [2].", ""),
        ("The answer is no [1].", ""),
        ("Die Wirkung lässt nach [1].", ""),
        ("One is so.\n\nTwo is so.\n\nTutto ciò si legge [1] e [2].", "names the sources"),
        ("The dose of Source 2 is five.", ""),
        ("One is so.\n\nTwo is so.\n\nTutto ciò viene da [1] e [2].", "“da”"),
        ("One is so.\n\nTwo is so.\n\nTutto ciò viene da [1].", "“da”"),
    ],
)
def test_words_that_may_belong_to_a_citation_leave_its_statement_undecided(text: str, said: str) -> None:
    doubt = divided(text)[-1].doubt
    assert bool(doubt) == bool(said)
    assert said in doubt


@pytest.mark.parametrize(
    ("text", "of_part"),
    [
        ("It is so in all cases [1], and that is good for all [2].", [True, True]),
        ("It is so in all cases [1], but not in the night.", [True]),
        ("[1] says it is so in all cases, while [2] says that it is not.", [True, True]),
        ("According to [1] and [2], it is so in all cases.", [False, False]),
        ("It is so in all cases [1], [2].", [False, False]),
        ("The dose in adults [1] is five pills a day.", [False]),
        ("这种药物对成人很有效[1]，而儿童不应该服用[2]。", [True, True]),
    ],
)
def test_a_mark_within_a_sentence_may_be_for_a_part_of_it(text: str, of_part: list[bool]) -> None:
    (statement,) = divided(text)
    assert [each.of_part for each in statement.citations] == of_part


@pytest.mark.parametrize(
    ("text", "scoped"),
    [
        ("A is so [1]. [2] B is so.", ["D2"]),
        ("A is so [1]. B is so [2].", []),
        ("A is so. [1] B is so [2].", []),
        ("A is so [1].\n[2] B is so.", []),
    ],
)
def test_a_mark_between_two_sentences_that_both_may_have_it_is_for_either(
    text: str, scoped: list[str]
) -> None:
    found = [each for statement in divided(text) for each in statement.citations]
    assert sorted({str(each.source) for each in found if each.scope}) == scoped


def test_a_part_is_never_called_unfaithful_by_what_the_whole_needs() -> None:
    """Either source is enough for the first part; both parts together need only the second one."""

    def answer(question: str, shown: Any) -> str:
        ids = {each.id for each in shown}
        said = "It is so in all cases [1], and that is good for all [2]."
        return said if "D2" in ids else "Nothing."

    (check,) = cite(Explainer(answer), QUESTION, SOURCES[:3]).checks
    assert check.of("D1").citation_class is UNDECIDED
    assert "split it finer" in check.of("D1").why
    assert check.faithful is None


def test_whether_citations_are_valid_is_not_known_where_one_is_in_doubt() -> None:
    assert judged(cites(), case("So list[1] is.")).verdict is Verdict.UNKNOWN
    assert judged(cites("D1"), case("So list[1] is.")).verdict is Verdict.UNKNOWN
    assert judged(cites("D1"), case("So list[1] is [D1].")).verdict is Verdict.HOLDS
    assert judged(cites(), case("So list[1] is [D99].")).verdict is Verdict.BREAKS


def test_plain_signs_keep_their_places() -> None:
    text = f"So［１］（a）{UNSEEN}\u202f‑x"
    assert len(plain_signs(text)) == len(text)
    assert plain_signs(text).startswith("So[1](a)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This answer is based on the following documents:", True),
        ("Sources:", True),
        ("Die Antwort basiert auf den Quellen", True),
        ("本回答基于文档", True),
        ("यह उत्तर पर आधारित है", True),
        ("The dose is based on weight", False),
        ("The answer is five", False),
        ("", False),
    ],
)
def test_words_that_only_say_where_an_answer_is_from(text: str, expected: bool) -> None:
    assert is_attribution(text) is expected
