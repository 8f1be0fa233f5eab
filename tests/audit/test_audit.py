"""An audit says what is bad and why, wherever it runs, and refuses wrong input."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import Explainer, InvalidInput, Limits, Settings, Source
from rag_rule_explainer.audit import Audit, AuditedQuestion, AuditJob, aaudit, audit
from rag_rule_explainer.audit.asking import audited_answer, explainer_for
from rag_rule_explainer.audit.in_process import LocalMeter
from tests.audit.shop import CONDITION, FOUR, Shop, asked, run, said
from tests.fixing import applications
from tests.fixing.applications import BAD


def test_it_says_which_answers_are_bad_and_why() -> None:
    found = run(Shop())
    assert [each.outcome for each in found.questions] == ["bad", "not bad", "not bad", "bad"]
    assert found.removal.documents == ("blog",)
    blog = found.document("blog")
    assert blog.decisive == ["q0", "q3"]
    assert blog.conflicts == {"guide": ["q1"]}
    assert found.document("guide").never_needed is False
    assert found.document("list").never_needed is True
    assert str(found).splitlines() == [
        "4 of 4 questions, 2 bad, 2 not bad",
        "bad answers: 0.500 (2 of 4; 95% interval 0.150 to 0.850)",
        "removing 1 document ends 2 bad answers [proved]; no smaller set does",
        "  blog",
        "implicated most often:",
        "  blog: 1.000 (3 of 3; 95% interval 0.439 to 1.000)",
    ]
    assert found.exit_code == 1


async def test_it_says_the_same_on_any_loop_and_with_any_number_of_workers() -> None:
    wanted = await aaudit(Shop().explainer, FOUR, CONDITION, workers=1)
    for workers in (2, 9):
        found = await aaudit(Shop().explainer, FOUR, CONDITION, workers=workers)
        assert said(found) == said(wanted)
        assert found.documents == wanted.documents


async def test_a_limit_that_comes_before_the_first_answer_is_no_failure(tmp_path: Path) -> None:
    limits = Limits(replays=1, failures=None)
    explainer = Explainer(Shop(), check_repeatable=False, concurrency=1)
    engine_job = AuditJob(application=explainer, condition=CONDITION, limits=limits)
    asking = explainer_for(engine_job, LocalMeter(limits))
    outcomes = [(await audited_answer(asking, engine_job, each)).question.outcome for each in FOUR[:2]]
    assert outcomes == ["stopped", "stopped"]


def test_all_questions_without_a_result_are_counted_where_they_are_named() -> None:
    many = [replace(FOUR[0], id=f"q{n}", question="question 1") for n in range(13)]
    assert str(run(Shop(fails="question 1"), many)).endswith("\n… and 3 more questions without a result")


def test_each_question_is_told_as_soon_as_it_is_known() -> None:
    told: list[AuditedQuestion] = []
    found = run(Shop(), on_question=told.append)
    assert sorted(told, key=lambda each: each.id) == list(found.questions)


FRAMEWORKS = {
    "a retriever of a store": None,
    "an index": None,
    "a plain function": "plain",
    "an async function": "plain",
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_applications_of_each_framework_retrieve_by_themselves(name: str) -> None:
    """Fact 1 makes the news bad, or facts 2 and 3; each shows five facts."""
    application = applications.FIVE[name]().application
    asking = ["What is the news?", {"question": "Any news?", "id": "any"}]
    found = audit(application, asking, BAD, framework=FRAMEWORKS[name])
    assert [each.outcome for each in found.questions] == ["bad", "bad"], found
    assert [each.id for each in found.questions] == ["1", "any"]
    assert len(found.documents) == 5
    assert found.removal.is_smallest
    assert len(found.removal.documents) == 2
    by_size = sorted(found.documents, key=lambda row: -len(row.implicated))
    assert [len(row.implicated) for row in by_size] == [2, 2, 2, 0, 0]
    assert sorted(map(len, (row.redundant for row in found.documents))) == [0, 0, 0, 0, 0]


def test_settings_go_to_the_explainer_of_the_application(tmp_path: Path) -> None:
    application = applications.FIVE["a plain function"]().application
    fields: dict[str, Any] = {"miner": "exhaustive", "store": tmp_path / "s.db", "framework": "plain"}
    fields["out"] = tmp_path / "o"
    first = audit(application, ["What is the news?"], BAD, **fields)
    assert first.questions[0].probes == 32
    fields["out"] = tmp_path / "p"
    second = audit(application, ["What is the news?"], BAD, **fields)
    assert second.questions[0].stored >= 30
    assert second.documents == first.documents


CHAIN = Path(applications.__file__)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"questions": []}, "there is no question"),
        ({"questions": "why?"}, "questions is 'why?'; give a list"),
        ({"questions": [3]}, "question 1 is 3; give a text"),
        ({"questions": [{"question": " ", "documents": ["x"]}]}, "is ' '; give its text"),
        ({"questions": [{"querstion": "?"}]}, "did you mean 'question'"),
        ({"questions": ["why?"]}, "has no documents, and an Explainer retrieves none"),
        ({"questions": [FOUR[0], FOUR[0]]}, "two questions have the id 'q0'"),
        ({"questions": [{"id": "\ud800", "question": "?"}]}, "the id of a question is '\\ud800'"),
        ({"questions": [replace(FOUR[0], id=5)]}, "the id of a question is 5"),
        ({"questions": [{"question": "?", "documents": "text"}]}, "sources is one string"),
        ({"questions": [{"question": "?", "documents": 5}]}, "sources is 5"),
        ({"workers": 0}, "workers is 0"),
        ({"out": 5}, "out is 5; give the path of a folder"),
        ({"engine": "rya"}, "did you mean 'ray'"),
        ({"explanations": "pdf"}, "give 'html', 'json' or None"),
        ({"miner": "exact"}, "miner is a setting of the explainer"),
        ({"minr": "exact"}, "did you mean 'miner'"),
        ({"omission_predicate": CONDITION}, "set by the audit itself"),
        ({"application": "app:app", "rules": "retention"}, "an audit needs rules of both kinds"),
        ({"application": "app:app", "settings": Settings(rules="omission")}, "rules of both kinds"),
        ({"application": Explainer(Shop(), rules="omission"), "questions": FOUR}, "rules of both kinds"),
        ({"application": applications.FIVE["a plain function"]()}, "give what it wraps (.application)"),
        ({"application": "nowhere:app"}, "there is no module 'nowhere'"),
        ({"audit_limits": "many"}, "limits is 'many'"),
        ({"condition": 5}, "5"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_asked(change: dict[str, Any], said: str) -> None:
    shop = Shop()
    given: dict[str, Any] = {"application": shop.explainer, "questions": FOUR, "condition": CONDITION}
    if "application" in change and "questions" not in change:
        given["questions"] = ["why?"]
    call: Callable[..., Audit] = audit
    with pytest.raises(InvalidInput) as error:
        call(**{**given, **change})
    assert said in str(error.value)
    assert not shop.asked


def test_documents_of_the_same_name_have_different_names_in_the_tables() -> None:
    questions = asked(("blog",), ("blog",))
    changed = replace(questions[1], documents=(Source("blog", "a new text"),))
    found = run(Shop(), [questions[0], changed])
    names = sorted(row.name for row in found.documents)
    assert len(names) == 2
    assert all(name.startswith("blog#") for name in names)
    with pytest.raises(InvalidInput, match="several documents have"):
        found.document("blog")
    with pytest.raises(InvalidInput, match="no document has"):
        found.document("nobody")
