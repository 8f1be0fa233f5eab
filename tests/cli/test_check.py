"""``rag-rules check``: many questions, one forbidden condition, and a code for CI."""

import json
import os
import signal
import sys
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from rag_rule_explainer import load
from tests.cli.runs import RagRules, assert_refused, finished, subprocess_of
from tests.cli.shop import BONES, FORBID, HOURS, UNKNOWN, checking, opened
from tests.report.checks import results_of, valid_junit

MANY = """
from langchain_core.documents import Document
from langchain_rag_rule_explainer import lexical_chain

SAID = "For strong bones, adults should take the supplement calcium."
DOCUMENTS = [Document(id=f"page-{n}", page_content=f"Page {n} is for adults.") for n in range(11)]
DOCUMENTS.append(Document(id="blog", page_content=SAID))
chain = lexical_chain(DOCUMENTS, k=12)
"""


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return opened(tmp_path, monkeypatch)


@pytest.fixture
def check(rag_rules: RagRules, shop: Path) -> RagRules:
    return checking(rag_rules, shop)


@pytest.mark.spread(fast=2)
@pytest.mark.parametrize("more", [(), ("--yes",), ("--miner", "sampled")])
def test_with_many_documents_it_decides_and_says_how_sure_it_is(
    rag_rules: RagRules, shop: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    monkeypatch.delitem(sys.modules, "many_pages", raising=False)
    (shop / "many_pages.py").write_text(MANY)
    (shop / "q.txt").write_text(f"{BONES}\n")
    asked = ("check", "--app", "many_pages:chain", "--questions", "q.txt", "--max-size", 2)
    found = rag_rules(*asked, *FORBID, *more)
    assert found.code == 1
    assert "whenever blog is retained, the answer contains 'calcium' [tested: held on" in found.out
    assert "with 95 % confidence no rule here fails on more than 5 % of such" in found.out
    assert "wrong with a chance of at most 0.05" in found.out
    clean = rag_rules(*asked, "--forbid", "contains:zinc", *more)
    assert clean.code == 0
    assert "no retention rule of at most 2 sources for: the answer contains 'zinc'" in clean.out


def test_a_finding_is_said_with_rule_document_and_answer(check: RagRules) -> None:
    run = check(f"{BONES}\n\n{HOURS}\n", "--max-size", 2)
    assert run.code == 1
    said = "the answer contains 'calcium'"
    answer = "For strong bones, adults should take the supplement calcium."
    assert run.out.splitlines() == [
        f"FINDING    questions.txt:1  line 1: {BONES}",
        f"           whenever corpus/blog.md is retained, {said} [proved on all 2 subsets]",
        f"           with corpus/blog.md retained, it answered: {answer}",
        f"CLEAN      questions.txt:3  line 3: {HOURS}",
        f"           no retention rule of at most 2 sources for: {said}",
        "2 questions: 1 with a finding, 0 undecided, 1 clean",
    ]


def test_codes(check: RagRules) -> None:
    assert check(HOURS).code == 0
    assert check(f"{HOURS}\n{UNKNOWN}").code == 3
    assert check(f"{UNKNOWN}\n{BONES}\n{UNKNOWN}").code == 1
    assert check(BONES, "--max-size", 0).code == 0
    assert check(BONES, "--max-size", 1, "--max-replays", 2).code == 3
    # Whenever the blog is left out, calcium is not said: no rule of omission is forbidden.
    assert check(BONES, "--kind", "omission").code == 0
    assert check(HOURS, "--forbid", "not:contains:calcium", "--kind", "both").code == 1


def test_one_bad_question_loses_nothing(check: RagRules, shop: Path) -> None:
    run = check(f"{BONES}\n{UNKNOWN}\n{HOURS}", "--explanations", "saved/all")
    assert [line.split()[0] for line in run.out.splitlines() if "questions.txt" in line] == [
        "FINDING",
        "UNDECIDED",
        "CLEAN",
    ]
    saved = sorted((shop / "saved" / "all").iterdir())
    assert [each.name for each in saved] == ["line-00001.json", "line-00003.json"]
    assert load(saved[0]).question == BONES


def test_sarif_junit_and_json_are_written_into_a_file(check: RagRules, shop: Path) -> None:
    questions = f"{BONES}\n{UNKNOWN}"
    for form in ("sarif", "junit", "json"):
        run = check(questions, "--format", form, "--out", f"out.{form}")
        assert (run.code, run.out) == (1, "")
        assert f"1 with a finding, 1 undecided, 0 clean; written to out.{form}" in run.err
    found, left_open = results_of((shop / "out.sarif").read_text())
    place = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "corpus/blog.md", "uriBaseId": "SRCROOT"}
    assert (found["kind"], left_open["kind"]) == ("fail", "open")
    valid_junit((shop / "out.junit").read_text())
    (suite,) = fromstring((shop / "out.junit").read_text())  # noqa: S314 -- ours
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    entries = json.loads((shop / "out.json").read_text())["questions"]
    assert [each["outcome"] for each in entries] == ["finding", "undecided"]
    assert [each["shown_by_plain_answer"] for each in entries] == [True, None]


def test_a_corpus_folder_is_where_a_finding_stands(rag_rules: RagRules, shop: Path) -> None:
    (shop / "corpus" / "blog.md").write_text(
        "For strong bones, adults should take the supplement calcium."
    )
    (shop / "corpus" / "hours.txt").write_text("The shop is open from nine to five on weekdays.")
    (shop / "questions.txt").write_text(BONES)
    run = rag_rules(
        *("check", "--sources", "corpus", "--questions", "questions.txt", *FORBID, "--format", "sarif")
    )
    (found,) = results_of(run.out)
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "corpus/blog.md"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--forbid", "nonsense:x"), "nonsense"),
        (("--format", "html"), "this command has no form 'html'; give --format one of text, json"),
        (("--app", "checked_shop:nothing"), "checked_shop has no 'nothing'"),
        (("--baseline", "x.txt"), "--baseline is the answer to one question"),
        (("--questions", "nowhere.txt"), "there is no nowhere.txt"),
        (("--sources", "corpus"), "--sources does not go with --app"),
    ],
)
def test_bad_options_are_said_before_anything_is_asked(
    check: RagRules, more: tuple[str, ...], said: str
) -> None:
    assert_refused(check(BONES, *more), said)


ODD = """
import asyncio, shutil, sys
from plain_rag_rule_explainer import gate

TEXTS = {"a": "the text of the first document", "b": "the text of the second one"}
search = gate(lambda question: [{"id": key, "text": text} for key, text in TEXTS.items()])

def answer(question):
    found = search(question)
    if question == "cancelled":
        raise asyncio.CancelledError
    if question == "ends":
        sys.exit(3)
    if question == "later" and len(found) == 1:
        raise asyncio.CancelledError
    if question == "no folder":
        shutil.rmtree("saved")
    return "a fine answer"
"""


def test_whatever_an_application_does_the_others_are_asked(rag_rules: RagRules, shop: Path) -> None:
    (shop / "odd_shop.py").write_text(ODD)
    (shop / "odd.txt").write_text("fine\ncancelled\nends\nlater\nno folder\nfine")
    asked = ("--app", "odd_shop:answer", "--questions", "odd.txt", "--forbid", "contains:fine")
    run = rag_rules("check", *asked, "--max-size", 1, "--explanations", "saved")
    # No model reports what it is sent, so nothing is decided; but all were asked.
    assert run.code == 3
    assert run.out.splitlines()[-1] == "6 questions: 0 with a finding, 6 undecided, 0 clean"
    reasons = [line.strip() for line in run.out.splitlines() if line.startswith("           undecided")]
    assert [each.count("fidelity not checked") for each in reasons] == [1, 0, 0, 1, 1, 1]
    assert "CancelledError" in reasons[1]
    assert "the application ended the program" in reasons[2]
    assert "line-00005.json cannot be written" in run.err


STOPPING = """
import os, signal, time
from plain_rag_rule_explainer import gate

DOCUMENTS = {"a": "the first text of this shop", "b": "the second text of this shop"}
search = gate(lambda question: [{"id": k, "text": v} for k, v in DOCUMENTS.items()])
asked = []

def answer(question):
    found = search(question)
    if question == "three":
        print("asked", flush=True)
        time.sleep(60)
    return "yes" if found else "no"
"""


@pytest.mark.slow
@pytest.mark.waits
def test_an_interrupt_shows_what_was_done(shop: Path) -> None:
    (shop / "stopping_shop.py").write_text(STOPPING)
    (shop / "questions.txt").write_text("one\ntwo\nthree\nfour")
    place = {"PYTHONPATH": os.pathsep.join([str(shop), *sys.path])}
    asked = ("check", "--app", "stopping_shop:answer", "--questions", "questions.txt", "--forbid")
    process = subprocess_of(*asked, "contains:yes", "--format", "sarif", "--out", "out.sarif", env=place)
    assert process.stderr is not None
    while "asked" not in (line := process.stderr.readline()):
        assert line
    process.send_signal(signal.SIGINT)
    run = finished(process)
    assert run.code == 130, run.err
    assert "2 not asked" in run.err
    assert [each["kind"] for each in results_of((shop / "out.sarif").read_text())] == ["open", "open"]
