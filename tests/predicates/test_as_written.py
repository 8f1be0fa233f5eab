"""The paper's near-exact match, literally, beside this package's own."""

import re
from pathlib import Path

import pytest

from rag_rule_explainer import Answer, Source, consistent_with
from rag_rule_explainer.predicates.wording import equivalent, papers_form
from rag_rule_explainer.verdicts import Case, Judgement, Verdict

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "fidelity.md"
PAIRS = [
    ("3.5", "35", True, False),
    ("-3", "3", True, False),
    ("$5 m", "5 m", True, False),
    ("C++", "C", True, False),
    ("15", "15%", True, False),
    ("5000", "£5,000", True, False),
    ("東京", "大阪", True, False),
    ("New  York", "New York", False, True),
    ("2-3", "23", True, False),
    ("Curaçao", "curacao.", True, True),
    ("Lima", "lima!", True, True),
    ("Lima", "Quito", False, False),
]


@pytest.mark.parametrize(("first", "second", "papers", "ours"), PAIRS)
def test_where_they_differ(first: str, second: str, papers: bool, ours: bool) -> None:
    assert (papers_form(first) == papers_form(second)) is papers
    assert equivalent(first, second) is ours
    for as_written, wanted in ((True, papers), (False, ours)):
        predicate = consistent_with(second, as_written=as_written)
        case = Case("q", Answer(""), Answer(first), (Source("a", "b"),), (Source("a", "b"),))
        judged = predicate(case)
        assert isinstance(judged, Judgement)
        assert judged.verdict is Verdict.of(wanted)


def test_the_page_has_the_same_table() -> None:
    rows = re.findall(
        r"^\| `(.+?)` \| `(.+?)` \| (yes|no) \| (yes|no) \|$", PAGE.read_text("utf-8"), re.M
    )
    assert [(a, b, p == "yes", o == "yes") for a, b, p, o in rows] == PAIRS


def test_the_condition_says_which() -> None:
    assert str(consistent_with("x", as_written=True)) == (
        "the answer is consistent with 'x' (compared as the paper writes it)"
    )
    assert str(consistent_with("x")) == "the answer is consistent with 'x'"
