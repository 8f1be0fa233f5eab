"""``rag-rules audit``."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runs import RagRules, Run, assert_refused, jsonl

BUILT = "When was the iron tower built?"
PAINTED = "When was the iron tower painted?"
TEXTS = (
    {"id": "plaque", "text": "The iron tower was built in 1889."},
    {"id": "leaflet", "text": "The iron tower was built in 1900."},
    {"id": "paint", "text": "The iron tower was painted in 1899."},
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "corpus.jsonl", *TEXTS)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "q.txt"
    file.write_text(f"{BUILT}\n{PAINTED}\n")
    return file


def audited(rag_rules: RagRules, questions: Path, corpus: Path, *more: object) -> Run:
    out = () if "--out" in more else ("--out", questions.parent / "out")
    condition = () if "--predicate" in more else ("--predicate", "contains:1889")
    asked = ("--questions", questions, "--sources", corpus, "--top-k", 2)
    return rag_rules("audit", *asked, *condition, *out, *more)


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_it_says_what_to_remove_and_writes_the_report(
    rag_rules: RagRules, questions: Path, corpus: Path
) -> None:
    run = audited(rag_rules, questions, corpus)
    assert run.code == 1, run.err
    first, _, third, fourth, *_ = run.out.splitlines()
    assert first == "2 of 2 questions, 1 bad, 1 not bad"
    assert third == "removing 1 document ends 1 bad answer [proved]; no smaller set does"
    assert fourth == "  plaque"
    out = questions.parent / "out"
    assert f"the report is {out / 'index.html'}" in run.err
    documents = {row["document"]: row for row in rows(out / "documents.csv")}
    assert documents["plaque"]["in_smallest_removal"] == "true"
    assert [row["outcome"] for row in rows(out / "questions.csv")] == ["bad", "not bad"]
    again = audited(rag_rules, questions, corpus)
    assert again.out == run.out


def test_nothing_bad_and_something_undecided_have_codes_of_their_own(
    rag_rules: RagRules, questions: Path, corpus: Path
) -> None:
    out = questions.parent
    fine = audited(rag_rules, questions, corpus, "--predicate", "contains:1066", "--out", out / "fine")
    assert fine.code == 0, fine.err
    assert "there is no bad answer to end" in fine.out
    stopped = ("--predicate", "contains:1066", "--out", out / "stopped", "--all-replays", 1)
    cut = audited(rag_rules, questions, corpus, *stopped)
    assert cut.code == 3, cut.out
    assert "stopped: line 2: the audit's limit of 1 replays is reached" in cut.out


WRITTEN: dict[str, str] = {
    "q.csv": f'id,note,Question\na,x,"{BUILT}"\nb,y,{PAINTED}\n',
    "q.tsv": f"question\tid\n{BUILT}\ta\n{PAINTED}\tb\n",
    "q.jsonl": "".join(
        f"{json.dumps({'id': name, 'question': asked})}\n"
        for name, asked in (("a", BUILT), ("b", PAINTED))
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_questions_are_lines_of_json_or_rows_of_a_table(
    rag_rules: RagRules, tmp_path: Path, corpus: Path, name: str
) -> None:
    (tmp_path / name).write_text(WRITTEN[name])
    run = audited(rag_rules, tmp_path / name, corpus, "--explanations", "none")
    assert run.code == 1, run.err
    assert [row["id"] for row in rows(tmp_path / "out" / "questions.csv")] == ["a", "b"]
    assert not (tmp_path / "out" / "explanations").exists()


def test_a_question_may_bring_its_own_documents(rag_rules: RagRules, tmp_path: Path) -> None:
    line: dict[str, Any] = {"id": "a", "question": BUILT, "sources": [*TEXTS[:2]]}
    file = jsonl(tmp_path / "log.jsonl", line)
    asked = ("--questions", file, "--predicate", "contains:1889", "--out", tmp_path / "o")
    run = rag_rules("audit", *asked, "--good", "contains:1900")
    assert run.code == 1, run.err
    assert "1 of 1 questions, 1 bad" in run.out


REFUSED: list[tuple[Sequence[object], str]] = [
    (("--predicate", "contains"), "contains"),
    (("--rules", "retention"), "an audit needs rules of both kinds; leave --rules out"),
    (("--all-cost", 3), "--all-cost needs the price of tokens"),
    (("--app", "nowhere:app"), "--sources does not go with --app"),
    (("--baseline", "a.txt"), "--baseline is the answer to one question"),
    (("--scope", "retrieved"), "--scope goes with --app only"),
    (("--judge-model", "m"), "--judge-model has nothing to decide"),
    (("--namespace", "n"), "--store is missing"),
    (("--workers", 0), "'--workers'"),
    (("--engine", "spark"), "'--engine'"),
    (("--explanations", "pdf"), "'--explanations'"),
]


@pytest.mark.parametrize(("options", "said"), REFUSED)
def test_wrong_options_are_refused_before_anything_is_written(
    rag_rules: RagRules, questions: Path, corpus: Path, options: Sequence[object], said: str
) -> None:
    assert_refused(audited(rag_rules, questions, corpus, *options), said)
    assert not (questions.parent / "out").exists()


BROKEN: list[tuple[str, str, str]] = [
    ("q.csv", "text\nwhy?\n", "has no column 'question' in its first line"),
    ("q.csv", "question\n", "holds no questions"),
    ("q.csv", "question,Question\nwhy?,how?\n", "has two columns 'question'"),
    ("q.csv", "question\nwo ist die T\udcfcr?\n", "is not UTF-8 text: invalid start byte"),
    ("q.csv", "question,id\nwhy?,a\nhow?,a\n", "line 3: the id 'a' is that of line 2 as well"),
    ("q.csv", 'id,question\na,"  "\n', "line 2: the question is empty"),
    ("q.csv", 'question\n"why?\n', "q.csv, line 2:"),
    ("q.txt", "\n", "holds no questions"),
    ("q.jsonl", '{"question": "why?", "documents": []}\n', "did you mean 'sources'?"),
]


@pytest.mark.parametrize(("name", "content", "said"), BROKEN)
def test_files_that_hold_no_questions_are_refused(
    rag_rules: RagRules, tmp_path: Path, corpus: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    assert_refused(audited(rag_rules, tmp_path / name, corpus), said)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_audit_or_of_something_else_is_refused(
    rag_rules: RagRules, questions: Path, corpus: Path
) -> None:
    assert audited(rag_rules, questions, corpus).code == 1
    other = audited(rag_rules, questions, corpus, "--predicate", "contains:1900")
    assert_refused(other, "holds an audit with another bad outcome")
    assert_refused(audited(rag_rules, questions, corpus, "--out", corpus.parent), "holds something else")
    assert_refused(audited(rag_rules, questions, corpus, "--out", corpus), "cannot be written")


def test_there_has_to_be_something_to_answer_from(rag_rules: RagRules, questions: Path) -> None:
    asked = ("--questions", questions, "--predicate", "contains:1", "--out", questions.parent / "o")
    assert_refused(rag_rules("audit", *asked), "there is nothing to answer from; give --app, --sources")
