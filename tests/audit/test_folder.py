"""An audit in a folder goes on where it was stopped, pays nothing twice, and is of one condition."""

import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Case, Explainer, InvalidInput, Limits, Source, contains, judged
from rag_rule_explainer.audit import Audit, AuditedQuestion, audit
from rag_rule_explainer.audit.sameness import definition_of
from rag_rule_explainer.errors import CallbackFailed
from tests.audit.shop import CONDITION, FOUR, Shop, run, said
from tests.interrupting import stops


def test_what_a_folder_holds_is_not_asked_again(tmp_path: Path) -> None:
    shop = Shop()
    first = run(shop, FOUR[:2], out=tmp_path)
    runs = Counter(shop.asked)
    second = run(shop, FOUR, out=tmp_path)
    assert {name: shop.asked[name] for name in runs} == runs
    assert said(second) == said(run(Shop(), FOUR))
    assert second.questions[:2] == first.questions
    again = run(shop, FOUR, out=tmp_path)
    assert shop.asked.total() == sum(each.replays for each in second.questions)
    assert again.questions == second.questions
    assert again.documents == second.documents
    assert all((tmp_path / each.explanation).is_file() for each in again.questions)


def test_a_question_that_failed_is_counted_named_and_asked_again(tmp_path: Path) -> None:
    found = run(Shop(fails="question 1"), out=tmp_path)
    assert found.counts["failed"] == 1
    assert found.summary == "4 of 4 questions, 2 bad, 1 not bad, 1 failed"
    assert "failed: q1: the application failed on all 3 sources" in str(found)
    assert "no answer to question 1" in found.questions[1].reason
    assert len(found.document("blog").shown) == 2
    shop = Shop()
    mended = run(shop, out=tmp_path)
    assert set(shop.asked) == {"question 1"}
    assert said(mended) == said(run(Shop()))


def test_a_question_whose_text_changed_is_asked_again(tmp_path: Path) -> None:
    run(Shop(), out=tmp_path)
    shop = Shop()
    run(shop, [replace(FOUR[0], question="another question"), *FOUR[1:]], out=tmp_path)
    assert set(shop.asked) == {"another question"}


def test_a_question_whose_documents_changed_is_asked_again(tmp_path: Path) -> None:
    run(Shop(), FOUR[:1], out=tmp_path)
    shop = Shop()
    found = run(shop, [replace(FOUR[0], documents=FOUR[2].documents)], out=tmp_path)
    assert shop.asked
    assert [each.outcome for each in found.questions] == ["not bad"]
    assert {row.name for row in found.documents} == {"guide", "list"}


def test_a_question_whose_documents_have_another_title_is_asked_again(tmp_path: Path) -> None:
    """A title is shown to the model with the text."""

    def audited(**metadata: Any) -> Audit:
        def replay(_: str, sources: Sequence[Source]) -> str:
            return "bad" if any("2019" in each.passage for each in sources) else "fine"

        documents = [Source("report", "A report.", metadata), Source("other", "Another one.")]
        asked_now = {"question": "when?", "documents": documents}
        return audit(Explainer(replay), [asked_now], CONDITION, out=tmp_path, report=False)

    assert audited(title="Of 2019", score=0.5).questions[0].outcome == "bad"
    again = audited(title="Of 2019", score=0.4).questions[0]
    assert (again.outcome, again.replays) == ("bad", audited(title="Of 2019").questions[0].replays)
    assert audited(title="Of 2024").questions[0].outcome == "not bad"


def test_a_question_under_another_id_is_not_paid_twice(tmp_path: Path) -> None:
    """A line was put before the first line of a file, so all questions have the ids of others."""
    first = run(Shop(), FOUR[:3], out=tmp_path)
    moved = [replace(each, id=f"q{n}") for n, each in enumerate([FOUR[3], *FOUR[:3]])]
    asked_then = list[set[str]]()
    for shop in (Shop(), Shop()):
        found = run(shop, moved, out=tmp_path)
        asked_then.append(set(shop.asked))
        assert [each.question for each in found.questions] == [each.question for each in moved]
        assert [each.rules for each in found.questions[1:]] == [each.rules for each in first.questions]
        assert len({each.explanation for each in found.questions}) == 4
        for each in found.questions:
            assert each.question in (tmp_path / each.explanation).read_text()
    assert asked_then == [{"question 3"}, set()]


def test_a_line_that_a_crash_cut_off_is_asked_again(tmp_path: Path) -> None:
    wanted = run(Shop(), out=tmp_path)
    lines = (tmp_path / "questions.jsonl").read_bytes()
    (tmp_path / "questions.jsonl").write_bytes(lines[:-40])
    shop = Shop()
    found = run(shop, out=tmp_path)
    assert found.counts["stopped"] == 0
    assert not shop.asked  # its answers are in the store of the folder
    assert said(found) == said(wanted)
    for line in (tmp_path / "questions.jsonl").read_text().splitlines():
        json.loads(line)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_limit_of_all_questions_is_kept_and_the_rest_is_asked_later(
    tmp_path: Path, workers: int
) -> None:
    shop = Shop()
    limits = Limits(replays=9, failures=None)
    found = run(shop, out=tmp_path, audit_limits=limits, workers=workers)
    assert shop.asked.total() == 9
    stopped = [each for each in found.questions if each.outcome == "stopped"]
    assert stopped
    assert {each.reason for each in stopped} == {"the audit's limit of 9 replays is reached"}
    assert found.exit_code in {1, 3}
    explained = {each.question for each in found.questions if each.is_explained}
    more = Shop()
    whole = run(more, out=tmp_path)
    assert not explained & set(more.asked)
    assert said(whole) == said(run(Shop()))


def test_what_was_found_is_kept_where_a_callback_fails(tmp_path: Path) -> None:
    def fail(question: AuditedQuestion) -> None:
        if question.id == "q1":
            raise KeyError("no such column")

    for out in (tmp_path, None):
        with pytest.raises(CallbackFailed) as failed:
            run(Shop(), out=out, on_question=fail, workers=1)
        said_so = str(failed.value)
        assert "on_question failed for the question 'q1': KeyError: 'no such column'" in said_so
        assert (str(tmp_path) if out else "the attribute audit of this error") in said_so
        assert [each.id for each in failed.value.audit.questions] == ["q0", "q1"]
    assert (tmp_path / "index.html").is_file()
    shop = Shop()
    assert said(run(shop, out=tmp_path)) == said(run(Shop()))
    assert set(shop.asked) <= {"question 2", "question 3"}


@pytest.mark.waits
def test_ctrl_c_keeps_what_was_found_and_the_audit_goes_on(tmp_path: Path) -> None:
    shop = Shop()
    with stops() as stopped:

        def replay(question: str, sources: Sequence[Source]) -> str:
            if question == "question 2":
                os.kill(os.getpid(), signal.SIGINT)
                stopped.wait(60)
            return shop(question, sources)

        explainer = Explainer(replay, check_repeatable=False, concurrency=1)
        found = audit(explainer, FOUR, CONDITION, out=tmp_path, workers=1)
    assert found.interrupted
    assert found.exit_code == 130
    assert [each.id for each in found.questions] == ["q0", "q1"]
    assert found.summary == "2 of 4 questions, 1 bad, 1 not bad, interrupted"
    assert (tmp_path / "index.html").is_file()
    again = Shop()
    assert said(run(again, out=tmp_path)) == said(run(Shop()))
    assert set(again.asked) == {"question 2", "question 3"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"explanation": "/etc/passwd"}, "explanation: no file of an audit"),
        ({"explanation": "explanations/../../other.html"}, "explanation: no file of an audit"),
        ({"shown": []}, "a rule names a document not shown"),
        ({"seconds": -1}, "seconds"),
        ({"rules": [5]}, "rules"),
    ],
)
def test_a_line_that_no_audit_wrote_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    run(Shop(), out=tmp_path)
    file = tmp_path / "questions.jsonl"
    first, *others = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps({**json.loads(first), **change}), *others, ""]))
    shop = Shop()
    with pytest.raises(InvalidInput, match="line 1: a line is no audited question") as error:
        run(shop, out=tmp_path)
    assert said in str(error.value)
    assert not shop.asked


def test_a_line_that_is_no_text_of_a_document_is_refused(tmp_path: Path) -> None:
    run(Shop(), out=tmp_path)
    (tmp_path / "documents.jsonl").write_text("5\n")
    with pytest.raises(InvalidInput, match=r"documents.jsonl, line 1: it is no text of a document"):
        run(Shop(), out=tmp_path)


def test_a_report_that_cannot_be_written_is_written_by_the_next_run(tmp_path: Path) -> None:
    run(Shop(), FOUR[:2], out=tmp_path, report=False)
    (tmp_path / "index.html").mkdir()
    with pytest.raises(InvalidInput, match=r"audit with the same folder again"):
        run(Shop(), out=tmp_path)
    (tmp_path / "index.html").rmdir()
    shop = Shop()
    assert said(run(shop, out=tmp_path)) == said(run(Shop()))
    assert not shop.asked


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InvalidInput, match=r"holds something else, such as 'thesis.tex'"):
        run(Shop(), out=tmp_path)
    run(Shop(), out=tmp_path / "audit")
    with pytest.raises(InvalidInput, match="holds an audit with another bad outcome"):
        audit(Shop().explainer, FOUR, contains("fine"), out=tmp_path / "audit")
    (tmp_path / "audit" / "questions.jsonl").write_text("{}\n")
    with pytest.raises(InvalidInput, match=r"line 1: a line is no audited question"):
        run(Shop(), out=tmp_path / "audit")
    with pytest.raises(InvalidInput, match="cannot be written"):
        run(Shop(), out=tmp_path / "thesis.tex" / "audit")


def says(word: str) -> Callable[[Case], bool]:
    return lambda case: word in case.answer.text


# A lambda is what is tested.
says_anyhow: Callable[[Case], bool] = lambda case: "bad" in case.answer.text.lower()  # noqa: E731


def test_functions_that_are_worded_alike_are_told_apart(tmp_path: Path) -> None:
    audit(Shop().explainer, FOUR, says("bad"), out=tmp_path)
    shop = Shop()
    assert audit(shop.explainer, FOUR, says("bad"), out=tmp_path).exit_code == 1
    for other in (says("fine"), says_anyhow):
        with pytest.raises(InvalidInput, match="holds an audit with another definition of the outcomes"):
            audit(shop.explainer, FOUR, other, out=tmp_path)
    assert not shop.asked


def test_a_reference_of_the_same_length_is_another_condition() -> None:
    def judge(request: object) -> dict[str, bool]:
        raise NotImplementedError

    one, other = (judged("is right", judge, reference) for reference in ("1889", "1900"))
    assert str(one) == str(other)
    assert definition_of(one) != definition_of(other)
    assert definition_of(one) == definition_of(judged("is right", judge, "1889"))
    assert definition_of(one & other) != definition_of(one | other)
