"""What the tables say of each document, held against the definitions on every subset."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag_rule_explainer.audit import Audit, AuditedQuestion, DocumentRow
from tests.audit.brute import Log, Truth, logs


def ids(log: Log, name: str, of: Callable[[Truth], Iterable[str]]) -> list[str]:
    """The questions in which the document is among those that ``of`` returns."""
    return [each.id for each in log.questions if name in of(each)]


def others(log: Log, name: str, of: Callable[[Truth], set[tuple[str, str]]]) -> dict[str, list[str]]:
    found = dict[str, list[str]]()
    for each in log.questions:
        for pair in of(each):
            if name in pair:
                found.setdefault(next(other for other in pair if other != name), []).append(each.id)
    return found


def check_row(row: DocumentRow, log: Log) -> None:
    name, questions = row.name, log.questions
    assert row.shown == ids(log, name, lambda each: each.shown)
    bad = {each.id for each in questions if each.is_so("bad", each.everything)}
    assert row.bad == [each for each in row.shown if each in bad]
    assert row.not_bad == [each for each in row.shown if each not in bad]
    assert row.implicated == ids(log, name, lambda each: each.implicated)
    assert row.clear == [each for each in row.shown if each not in row.implicated]
    assert not row.unsure
    assert row.open == 0
    assert row.decisive == ids(log, name, lambda each: each.decisive)
    assert row.single_point == ids(log, name, lambda each: each.single_points)
    assert row.redundant == others(log, name, lambda each: each.redundant)
    assert row.conflicts == others(log, name, lambda each: each.conflicts)
    named = {n for each in questions for _, _, rule in each.rules for n in rule}
    assert row.never_needed is (name not in named)


@given(log=logs())
def test_each_cell_is_what_trying_everything_finds(log: Log) -> None:
    audit = log.audited()
    assert [each.id for each in audit.questions] == [each.id for each in log.questions]
    assert all(each.exhaustive for each in audit.questions)
    found = {
        each.id: {(rule.kind, rule.outcome, frozenset(rule.documents)) for rule in each.rules}
        for each in audit.questions
    }
    for truth in log.questions:
        assert truth.rules <= found[truth.id]
    assert {row.name for row in audit.documents} == {name for each in log.shown for name in each}
    for row in audit.documents:
        check_row(row, log)


@given(log=logs(), data=st.data())
def test_what_is_not_sure_counts_for_nothing(log: Log, data: st.DataObject) -> None:
    """Some questions are stopped early, and some rules are unverified: nothing is then counted that is
    not so, and what is left out is counted as open."""
    audit = log.audited()
    weak = [weakened(each, data) for each in audit.questions]
    seen = Audit(tuple(weak), audit.condition)
    whole = {row.name: row for row in audit.documents}
    for row in seen.documents:
        sure = whole[row.name]
        assert set(row.implicated) <= set(sure.implicated)
        assert set(row.clear) <= set(sure.clear)
        assert set(row.decisive) <= set(sure.decisive)
        assert set(row.single_point) <= set(sure.single_point)
        assert set(row.redundant) <= set(sure.redundant)
        assert set(row.conflicts) <= set(sure.conflicts)
        assert row.open == len(row.shown) - len(row.implicated) - len(row.clear)
        assert row.never_needed in {None, sure.never_needed}
        counting = {each.id for each in weak if is_named(row, each)}
        for ids_of in (row.implicated, row.decisive, row.single_point):
            assert counting.issuperset(ids_of)
        assert row.named is bool(counting)


@given(log=logs(), most=st.integers(1, 12))
def test_what_a_limit_left_unfinished_names_nothing_that_is_not_so(log: Log, most: int) -> None:
    """A rule that is proved and perhaps not minimal may name all documents that were shown."""
    for row in log.audited(limits=most).documents:
        name, questions = row.name, log.questions
        assert set(row.implicated) <= set(ids(log, name, lambda each: each.implicated))
        assert not set(row.clear) & set(ids(log, name, lambda each: each.implicated))
        assert set(row.decisive) <= set(ids(log, name, lambda each: each.decisive))
        assert set(row.single_point) <= set(ids(log, name, lambda each: each.single_points))
        redundant = others(log, name, lambda each: each.redundant)
        assert all(set(row.redundant[other]) <= set(redundant.get(other, ())) for other in row.redundant)
        conflicts = others(log, name, lambda each: each.conflicts)
        assert all(set(row.conflicts[other]) <= set(conflicts.get(other, ())) for other in row.conflicts)
        named = {n for each in questions for _, _, rule in each.rules for n in rule}
        assert row.never_needed in {None, name not in named}


def is_named(row: DocumentRow, question: AuditedQuestion) -> bool:
    """Whether a rule of the question names the document and counts."""
    sure = [each for each in question.rules if each.claim == "proved" and not question.doubted]
    return any(row.name in each.documents for each in sure)


def weakened(question: AuditedQuestion, data: st.DataObject) -> AuditedQuestion:
    if data.draw(st.booleans()):
        return question
    drawn = [
        (each, data.draw(st.sampled_from(["keep", "drop", "unverified", "relative"])))
        for each in question.rules
    ]
    rules = tuple(
        each if how == "keep" else replace(each, claim=how) for each, how in drawn if how != "drop"
    )
    doubted = data.draw(st.booleans())
    return replace(question, rules=rules, exhaustive=False, why_open="stopped", doubted=doubted)


@given(log=logs())
def test_a_line_of_json_is_read_as_it_was_written(log: Log) -> None:
    for each in log.audited().questions:
        assert AuditedQuestion.from_json_line(each.as_json_line()) == each
