"""``rag-rules cite``: tables of shares, exit codes, logged answers, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.cli.citation_survey import CitationSurvey, SurveyedAnswer, as_survey_text
from tests.citations.applications import BY_NAME
from tests.citations.oracles import QUESTION
from tests.cli.runs import RagRules, jsonl

HONEST, WRONG = (
    ("--app", f"tests.citations.applications:{name}", "--framework", "plain")
    for name in ("honest", "wrong")
)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return jsonl(
        tmp_path / "q.jsonl",
        {"question": QUESTION, "model": "m1", "prompt": "p1", "latency": 3},
        {"question": f"{QUESTION} Really?", "model": "m1", "prompt": "p2"},
    )


def test_the_table_has_a_row_for_each_model_and_prompt(rag_rules: RagRules, questions: Path) -> None:
    run = rag_rules("cite", "--questions", questions, *HONEST)
    assert run.code == 0, run.err
    assert "● [2] (D2) decisive [proved]" in run.out
    assert "m1, p1: 1 answers, 1 of them cite" in run.out
    assert "m1, p2: 1 answers" in run.out
    assert "faithful" in run.out
    assert "95% interval" in run.out


def test_an_unfaithful_citation_is_exit_code_1(rag_rules: RagRules, questions: Path) -> None:
    run = rag_rules("cite", "--questions", questions, *WRONG, "--json")
    assert run.code == 1
    told: dict[str, Any] = json.loads(run.out)
    statement = told["answers"][0]["statements"][0]
    assert statement["citations"][0]["class"] == "decorative"
    assert statement["uncited"] == ["D2"]
    assert statement["smallest_honest"] == ["D2"]
    assert told["shares"][0]["classes"]["decorative"]["value"] == 1.0


def test_a_logged_answer_is_checked_by_replays(rag_rules: RagRules, tmp_path: Path) -> None:
    documents = [{"id": each.id, "text": each.text} for each in BY_NAME["honest"].sources]
    logged = "The treatment takes six weeks [D3]."
    file = jsonl(tmp_path / "log.jsonl", {"question": QUESTION, "answer": logged, "documents": documents})
    saved = tmp_path / "saved"
    run = rag_rules("cite", "--questions", file, *HONEST, "--explanations", saved)
    assert run.code == 1, run.err
    assert "○ [D3] decorative [proved]" in run.out
    assert [each.name for each in saved.iterdir()] == ["line-00001-1.json"]


def test_undecided_is_exit_code_3(rag_rules: RagRules, questions: Path) -> None:
    run = rag_rules("cite", "--questions", questions, *HONEST, "--max-replays", 3)
    assert run.code == 3
    assert "in no share" in run.out


def test_a_question_that_fails_does_not_end_the_others(rag_rules: RagRules, sources: Path) -> None:
    answers = (SurveyedAnswer("1", "?", error="it failed\n\x1b[2J"), SurveyedAnswer("2", "?"))
    survey = CitationSurvey(answers, 2)
    assert survey.exit_code == 3
    assert "no result: it failed" in as_survey_text(survey)
    assert "\x1b" not in as_survey_text(survey)
    assert CitationSurvey((), 2, interrupted=True).exit_code == 130


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"question": ""}, "question is empty"),
        ({"question": "?", "answer": " "}, "answer is empty"),
        ({"answer": "?"}, "question"),
        ({"question": "?", "documents": [{"id": "a"}]}, "text"),
    ],
)
def test_bad_lines_are_refused(rag_rules: RagRules, tmp_path: Path, line: Any, said: str) -> None:
    run = rag_rules("cite", "--questions", jsonl(tmp_path / "q.jsonl", line), *HONEST)
    assert run.code == 2
    assert said in run.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "nothing to answer from"),
        ((*HONEST, "--pattern", "("), "no regular expression"),
        ((*HONEST, "--judge-base-url", "http://x"), "--judge-model only"),
        ((*HONEST, "--format", "sarif"), "has no form"),
        ((*HONEST, "--numbers-from", 2), "numbers-from"),
    ],
)
def test_bad_options_are_refused(
    rag_rules: RagRules, questions: Path, options: tuple[object, ...], said: str
) -> None:
    run = rag_rules("cite", "--questions", questions, *options)
    assert run.code == 2
    assert said in run.err


def test_options_that_do_not_go_together_are_no_missing_results(
    rag_rules: RagRules, questions: Path
) -> None:
    run = rag_rules("cite", "--questions", questions, *HONEST, "--sources", "texts.jsonl")
    assert run.code == 2
    assert "no result" not in run.out


def test_a_line_that_is_wrong_does_not_end_the_others(rag_rules: RagRules, tmp_path: Path) -> None:
    twice = [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]
    lines = {"question": QUESTION}, {"question": "?", "documents": twice}, {"question": QUESTION, "id": 3}
    run = rag_rules("cite", "--questions", jsonl(tmp_path / "q.jsonl", *lines), *HONEST)
    assert run.code == 3
    assert "2 citations" in run.out
    assert "1 without a result" in run.out
    assert "q.jsonl, line 2: two documents have the id 'a'" in run.out


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        (
            [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}],
            "q.jsonl, line 1: two documents have the id",
        ),
        ([{"id": "a", "text": "x"}, {"id": " ", "text": "y"}], "q.jsonl, line 1"),
        ([], "documents is empty"),
    ],
)
def test_documents_that_cannot_be_used_are_told_by_the_users_line(
    rag_rules: RagRules, tmp_path: Path, documents: Any, said: str
) -> None:
    file = jsonl(tmp_path / "q.jsonl", {"question": QUESTION, "documents": documents})
    run = rag_rules("cite", "--questions", file, *HONEST)
    assert run.code == 2
    assert said in run.err
    assert "documents-1" not in run.err


def test_a_log_may_have_nulls_and_answers_that_state_nothing(rag_rules: RagRules, tmp_path: Path) -> None:
    lines = {"question": QUESTION, "answer": "[1]", "model": None, "prompt": None, "documents": None}
    run = rag_rules("cite", "--questions", jsonl(tmp_path / "q.jsonl", lines), *HONEST)
    assert run.code == 3
    assert "1 that cites and states nothing" in run.out


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder in which no file can be made")
def test_a_file_that_cannot_be_made_is_refused_before_anything_is_asked(
    rag_rules: RagRules, questions: Path
) -> None:
    run = rag_rules("cite", "--questions", questions, *HONEST, "--out", "/proc/cited.json")
    assert run.code == 2
    assert "cannot be written" in run.err
    assert not run.out


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_every_form_says_the_same(
    rag_rules: RagRules, questions: Path, tmp_path: Path, form: str
) -> None:
    run = rag_rules("cite", "--questions", questions, *WRONG, "--format", form)
    assert run.code == 1
    assert "decorative" in run.out
    file = tmp_path / {"text": "c.txt", "json": "c.json", "markdown": "c.md"}[form]
    saved = rag_rules("cite", "--questions", questions, *WRONG, "--out", file)
    assert saved.code == 1
    assert file.read_text("utf-8") == run.out
    assert "written to" in saved.err


def test_names_of_a_log_are_no_markup(rag_rules: RagRules, tmp_path: Path) -> None:
    evil = {"question": QUESTION, "model": "<img src=x>|*b*", "prompt": "[x](javascript:y)"}
    run = rag_rules(
        "cite", "--questions", jsonl(tmp_path / "q.jsonl", evil), *HONEST, "--format", "markdown"
    )
    assert "<img" not in run.out.replace("\\<img", "")
    assert "[x](" not in run.out.replace("\\[x", "")
    row = next(line for line in run.out.splitlines() if "img" in line)
    assert row.replace("\\|", "").count("|") == 4 + 7 + 2 + 1
