"""``rag-rules check``: the files of questions, and what leaves a question open."""

import json
import sys
from pathlib import Path

import pytest

from rag_rule_explainer import load
from tests.cli.runs import RagRules, assert_refused, jsonl
from tests.cli.shop import BONES, FORBID, HOURS, SHOP, UNKNOWN, checking, opened
from tests.report.checks import results_of


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return opened(tmp_path, monkeypatch)


@pytest.fixture
def check(rag_rules: RagRules, shop: Path) -> RagRules:
    return checking(rag_rules, shop)


def test_questions_may_bring_their_ids_and_sources(rag_rules: RagRules, shop: Path) -> None:
    own = [{"id": "mail", "text": "Adults should take the supplement iron for strong bones."}]
    file = jsonl(
        shop / "asked.jsonl",
        {"id": "usual", "question": BONES},
        {"id": 7, "question": BONES, "sources": own},
    )
    asked = ("check", "--questions", file, "--forbid", "contains:iron", "--format", "json")
    run = rag_rules(*asked, "--app", "checked_shop:chain")
    entries = json.loads(run.out)["questions"]
    assert [(each["id"], each["outcome"]) for each in entries] == [("usual", "clean"), ("7", "finding")]
    assert entries[1]["rules"][0]["sources"] == ["mail"]
    jsonl(shop / "texts.jsonl", {"id": "blog", "text": "The supplement for strong bones is iron."})
    run = rag_rules(*asked, "--sources", "texts.jsonl")
    assert [each["outcome"] for each in json.loads(run.out)["questions"]] == ["finding", "finding"]


def test_texts_and_json_may_stand_in_one_file(rag_rules: RagRules, shop: Path) -> None:
    own = [{"id": "mail", "text": "Adults should take the supplement iron for strong bones."}]
    with_sources = json.dumps({"question": BONES, "sources": own})
    (shop / "mixed.txt").write_text(f"[draft] {HOURS}\r{BONES}\r\n{with_sources}\n")
    asked = ("check", "--app", "checked_shop:chain", "--questions", "mixed.txt", "--format", "json")
    entries = json.loads(rag_rules(*asked, "--forbid", "contains:iron").out)["questions"]
    assert [each["question"] for each in entries] == [f"[draft] {HOURS}", BONES, BONES]
    assert [each["outcome"] for each in entries] == ["clean", "clean", "finding"]


def test_a_question_that_fails_has_one_fingerprint(check: RagRules) -> None:
    alone, beside = check(UNKNOWN, "--format", "sarif"), check(f"{UNKNOWN}\n{BONES}", "--format", "sarif")
    (first,) = results_of(alone.out)
    second = next(each for each in results_of(beside.out) if each["kind"] == "open")
    assert first["partialFingerprints"] == second["partialFingerprints"]


def test_the_place_of_questions_outside_the_folder_is_plain(
    check: RagRules, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "inner").mkdir()
    check(UNKNOWN)
    monkeypatch.chdir(shop / "inner")
    run = check(UNKNOWN, "--questions", "../questions.txt", "--format", "sarif")
    (result,) = results_of(run.out)
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (shop / "questions.txt").resolve().as_uri()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no questions"),
        ('{"question": " "}', "questions.txt, line 1: the question is empty"),
        ('{"question": "a"}\n{"question"', "questions.txt, line 2: "),
        (
            '{"id": "x", "question": "a"}\n\n{"id": "x", "question": "b"}',
            "line 3: the id 'x' is that of line 1",
        ),
        ('{"question": "a", "sources": []}', "line 1: sources is an empty list"),
        ('{"id": "a"}', "line 1: question"),
        ('{"quest": "a"}', "line 1: a question has no 'quest'; did you mean 'question'? its keys are "),
        (
            '{"question": "a", "documents": []}',
            "no 'documents'; did you mean 'sources'? its keys are question,",
        ),
        ('{"question": "a", "x": 1}', "no 'x'; its keys are question, id, sources"),
        ('What is "a"?\n{"question": "a", "sources": [{}]}', "questions.txt, line 2: sources.0: "),
        ('What is "a"?\n{not json', "questions.txt, line 2: "),
        ('["a", "b"]', "questions.txt, line 1: "),
        ("[\n]", "questions.txt, line 1: "),
        ("[{}]", "questions.txt, line 1: "),
    ],
)
def test_bad_questions_are_said_before_anything_is_asked(
    check: RagRules, content: str, said: str
) -> None:
    assert_refused(check(content), said)


HALF = """
from plain_rag_rule_explainer import gate, offline_client

client = offline_client()
TEXTS = {
    "guide": "For strong bones, adults should take the supplement vitamin D.",
    "blog": "For strong bones, adults should take the supplement calcium.",
}
search = gate(lambda question: [{"id": key, "text": text} for key, text in TEXTS.items()])

def answer(question):
    found = search(question)
    context = "\\n\\n".join(each["text"] for each in found)
    messages = [{"role": "user", "content": f"Context:\\n{context}\\n\\nQuestion: {question}"}]
    reply = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
    if [each["id"] for each in found] == ["guide"] and "women" in question:
        raise ConnectionError("the service is down")
    return reply.choices[0].message.content
"""


def test_a_replay_that_fails_under_votes_leaves_one_question_open(
    rag_rules: RagRules, shop: Path
) -> None:
    (shop / "half_shop.py").write_text(HALF)
    (shop / "half.txt").write_text(f"{BONES}\n{BONES.replace('adults', 'women')}\n")
    asked = ("--app", "half_shop:answer", "--questions", "half.txt", *FORBID, "--max-size", 0)
    run = rag_rules("check", *asked, "--samples", 15, "--retries", 0, "--out", "out.sarif")
    assert run.code == 3, run.err
    assert "0 with a finding, 1 undecided, 1 clean" in run.err
    (left_open,) = results_of((shop / "out.sarif").read_text())
    assert left_open["kind"] == "open"


CHANGED = SHOP.replace("k=2)", "k=2) | (lambda answer: answer.replace('calcium', 'HASH'))")


def test_the_store_of_an_earlier_version_decides_nothing(
    rag_rules: RagRules, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "questions.txt").write_text(BONES)
    asked = ("check", "--app", "checked_shop:chain", "--questions", "questions.txt")
    asked += ("--forbid", "contains:HASH", "--store", "answers.db", "--namespace", "one")
    for samples in ((), ("--samples", 15)):
        (shop / "answers.db").unlink(missing_ok=True)
        for version, code in ((SHOP, 0), (SHOP, 0), (CHANGED, 3), (SHOP, 0)):
            (shop / "checked_shop.py").write_text(version)
            monkeypatch.delitem(sys.modules, "checked_shop", raising=False)
            run = rag_rules(*asked, *samples, "--explanations", "saved")
            assert run.code == code, run
            assert "[proved" not in run.out
        saved = load(shop / "saved" / "line-00001.json")
        assert saved.complete
    assert "the application now answers otherwise than the store" not in run.out
    (shop / "checked_shop.py").write_text(CHANGED)
    monkeypatch.delitem(sys.modules, "checked_shop")
    run = rag_rules(*asked, "--explanations", "saved")
    assert (
        "the application now answers otherwise than the store: with all sources, the store has" in run.out
    )
    stale = load(shop / "saved" / "line-00001.json")
    assert {rule.claim for rule in stale.rules} <= {"unverified"}
    assert rag_rules(*asked[:-1], "two").code == 1
