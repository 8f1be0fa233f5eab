"""The rules as a table for a spreadsheet."""

import csv
import io
from dataclasses import replace

import pytest

from rag_rule_explainer import Explainer, Explanation, Source, condition, contains
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import as_csv
from rag_rule_explainer.report.view import RuleRow

HEAD = "kind,sources,rule,claim,support,question,made_at\n"
STARTS = ("=", "+", "-", "@", "\t=", " =", "\u00a0=", "\n+", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def explained(*ids: str, said: str = "the answer is yes", needed: int = 2) -> Explanation:
    """Of an answer that needs the first sources."""
    return Explainer(
        lambda question, sources: "yes" if set(ids[:needed]) <= {each.id for each in sources} else "no",
        predicate=condition(lambda case: case.answer.text == "yes", said),
        rules="retention",
    ).explain("Is it so?", [Source(each, f"text of {each!r}") for each in ids])


def rows(explanation: Explanation) -> list[RuleRow]:
    head, *found = csv.reader(io.StringIO(as_csv(explanation)))
    assert tuple(head) == (*RuleRow._fields, "question", "made_at")
    return [RuleRow(*row[:-2]) for row in found]


def test_one_row_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
    explanation = Explainer(
        lambda question, sources: "yes" if {"D1", "D3"} <= {each.id for each in sources} else "no",
        predicate=contains("yes"),
    ).explain("Is it so?", [Source(f"D{n}", f"text {n}") for n in range(1, 4)])
    assert as_csv(explanation) == (
        HEAD + 'retention,"D1, D3",'
        "\"whenever D1 and D3 are retained, the answer contains 'yes'\",proved,proved on all 2 subsets,"
        "Is it so?,2025-06-15T15:06:40Z\n"
        "omission,D1,"
        "\"whenever D1 is omitted, the answer does not contain 'yes'\",proved,proved on all 4 subsets,"
        "Is it so?,2025-06-15T15:06:40Z\n"
        "omission,D3,"
        "\"whenever D3 is omitted, the answer does not contain 'yes'\",proved,proved on all 4 subsets,"
        "Is it so?,2025-06-15T15:06:40Z\n"
    )


def test_without_rules_there_is_a_header() -> None:
    assert as_csv(explained("D1").model_copy(update={"retention_rules": ()})) == HEAD


def test_all_of_many_rules() -> None:
    made = explained("D1", "D2")
    many = made.model_copy(update={"retention_rules": made.rules * 300})
    assert len(rows(many)) == 300


def test_a_rule_on_unnamed_sources_says_so() -> None:
    made = explained("D1", "D2")
    beside = replace(made.rules[0], with_others=True)
    (row,) = rows(made.model_copy(update={"retention_rules": (beside,)}))
    assert row.sources == "D1, D2"
    assert row.rule.startswith("whenever D1, D2 and all sources of other batches are retained, ")


@pytest.mark.parametrize("start", STARTS)
def test_no_id_is_a_formula(start: str) -> None:
    (row,) = rows(explained(f"{start}1+1", needed=1))
    assert row.sources.startswith(("'", '"'))
    (row,) = rows(explained(f"{start}cmd|' /C calc'!A0", needed=1))
    assert row.sources.startswith(("'", '"'))


@pytest.mark.parametrize("start", STARTS)
def test_nothing_that_was_read_back_is_a_formula(start: str) -> None:
    made = explained("D1", needed=1)
    text = f"{start}HYPERLINK(1)"
    forged = replace(made.rules[0], claim="tested", sampling=text, condition=text, sources=())
    found = rows(made.model_copy(update={"retention_rules": (forged,)}))
    for cell in found[0]:
        assert not cell.lstrip().startswith(STARTS)


def test_hostile_text_stays_in_its_cell() -> None:
    hostile = '\x1b[2J\u202e",x\r\n=1+1,"\ny'
    (row,) = rows(explained(hostile, said=hostile, needed=1))
    assert all(cell == printable(cell) for cell in row)
    assert "\x1b" not in as_csv(explained(hostile, said=hostile, needed=1))
    assert len(as_csv(explained(hostile, said=hostile, needed=1)).splitlines()) == 2
