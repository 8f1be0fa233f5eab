"""The documents to blame, found by an audit: the replays are fresh, are made of each kind of application,
are paid once, and are as many as was said before."""

import csv
import json
import random
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from itertools import count
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from rag_rule_explainer import Answer, Explainer, Limits, Retries, Source, contains, equals
from rag_rule_explainer.audit import Audit, audit
from rag_rule_explainer.audit.blame_plan import BlamePlan
from rag_rule_explainer.cli import main
from rag_rule_explainer.errors import InvalidInput
from tests.fixing.applications import BAD, FIVE, TEXTS

DOCUMENTS = tuple(Source(name, f"text of {name}") for name in "abcd")
QUESTIONS = [{"id": f"q{n}", "question": f"question {n}?", "documents": DOCUMENTS} for n in range(4)]


class Flaky:
    """An application that is bad with a, or with b and c, and says the opposite now and then."""

    def __init__(self, chance: float) -> None:
        self.calls, self._chance, self._draw = count(1), chance, random.Random(7)
        self.made = 0

    def __call__(self, question: str, sources: Sequence[Source]) -> str:
        self.made = next(self.calls)
        shown = {each.id for each in sources}
        is_bad = "a" in shown or {"b", "c"} <= shown
        return "bad" if is_bad is not (self._draw.random() < self._chance) else "good"


def audited(replay: Callable[..., Any], noise: int = 1, **fields: Any) -> Audit:
    explainer = Explainer(
        replay, noise=noise, concurrency=1, check_repeatable=False, retries=Retries(most=0)
    )
    return audit(explainer, QUESTIONS, equals("bad"), workers=1, report=False, **fields)


def blamed(found: Audit) -> set[str]:
    assert found.blame is not None
    return set(found.blame.documents)


@pytest.mark.parametrize("saved", [True, False])
def test_an_audit_lists_whom_to_blame(saved: bool, tmp_path: Path) -> None:
    plans: list[BlamePlan] = []
    made: list[int] = []
    flaky = Flaky(0.1)

    def on_plan(plan: BlamePlan) -> None:
        plans.append(plan)
        made.append(flaky.made)

    found = audited(flaky, 9, fdr=0.05, on_plan=on_plan, out=tmp_path / "out" if saved else None)
    assert blamed(found) == {"a", "b", "c"}
    assert "to blame, with a false discovery rate of 0.05:" in str(found)
    assert flaky.made - made[0] == plans[0].replays > 0  # as many as was said, and none of them stored


def test_what_is_proved_of_a_deterministic_application_needs_no_replay(tmp_path: Path) -> None:
    for out in (tmp_path / "out", None):
        steady = Flaky(0.0)
        found = audited(steady, fdr=0.05, deterministic=True, out=out)
        made = steady.made
        assert blamed(found) == {"a", "b", "c"}
        assert found.blame is not None
        assert {each.basis for each in found.blame} == {"proved"}
        assert found.blame.plan.replays == 0
        assert steady.made == made == sum(each.replays for each in found.questions)
        tested = audited(Flaky(0.0), fdr=0.05, out=tmp_path / "other" if out else None)
        assert blamed(tested) == {"a", "b", "c"}
        assert tested.blame is not None
        assert {each.basis for each in tested.blame} == {"tested"}


@pytest.mark.spread(fast=3, slow=1)
@pytest.mark.parametrize("kind", FIVE)
def test_each_kind_of_application_is_replayed(kind: str) -> None:
    application = FIVE[kind]().application
    plans: list[BlamePlan] = []
    framework = "plain" if isinstance(application, FunctionType) else None
    fields: dict[str, Any] = {"on_plan": plans.append, "framework": framework, "concurrency": 1}
    found = audit(application, ["What is the news?"], BAD, fdr=0.05, **fields)
    assert {each.partition("#")[0] for name in blamed(found) for each in found.document(name).ids} == {
        "D1",
        "D2",
        "D3",
    }
    assert found.blame is not None
    tables = [table for each in found.blame for table in each.tables]
    assert all(each.bad_with == each.of_with > 0 == each.bad_without for each in tables)
    assert sum(each.of_with + each.of_without for each in tables) == plans[0].replays


def test_what_was_paid_is_not_paid_again(tmp_path: Path) -> None:
    first = Flaky(0.0)
    found = audited(first, fdr=0.05, out=tmp_path)
    assert found.blame is not None
    lines = (tmp_path / "blame.jsonl").read_text().split()
    again = Flaky(0.0)
    assert str(audited(again, fdr=0.05, out=tmp_path)) == str(found)
    assert again.made == 0
    # One question is lost, another line is cut off, as a killed process leaves it.
    kept = (tmp_path / "blame.jsonl").read_bytes().strip().split(b"\n")
    (tmp_path / "blame.jsonl").write_bytes(b"\n".join(kept[1:]) + b'\n{"question": "q')
    after = Flaky(0.0)
    assert str(audited(after, fdr=0.05, out=tmp_path)) == str(found)
    assert 0 < after.made < found.blame.plan.replays
    assert lines


def test_what_a_limit_stopped_is_not_paid_twice_and_limits_hold_for_these_replays(
    tmp_path: Path,
) -> None:
    made = count(1)
    runs: list[int] = []

    def replay(_: str, sources: Sequence[Source]) -> Answer:
        runs.append(next(made))
        shown = {each.id for each in sources}
        return Answer("bad" if "a" in shown else "good", usage={"input_tokens": 90, "output_tokens": 10})

    fields: dict[str, Any] = {"out": tmp_path, "fdr": 0.05}
    audited(replay, out=tmp_path)
    searched = len(runs)
    limits = Limits(tokens=100 * (searched + 7), failures=None)
    cut = audited(replay, audit_limits=limits, **fields)
    assert len(runs) == searched + 7
    assert cut.blame is not None
    whole = cut.blame.plan.replays
    assert f"; {whole - 7} of their replays have no verdict" in str(cut)
    found = audited(replay, **fields)
    assert blamed(found) == {"a"}
    assert len(runs) == searched + whole


def test_verdicts_about_another_question_are_not_taken(tmp_path: Path) -> None:
    """The question has the same id, the same documents and the same rules."""
    audited(Flaky(0.0), out=tmp_path, fdr=0.05)
    steady, made = Flaky(0.0), list[int]()
    explainer = Explainer(steady, concurrency=1, check_repeatable=False)
    log = [{**each, "question": f"{each['question']} Really?"} for each in QUESTIONS]
    fields: dict[str, Any] = {"workers": 1, "report": False, "fdr": 0.05, "out": tmp_path}
    found = audit(explainer, log, equals("bad"), on_plan=lambda _: made.append(steady.made), **fields)
    assert found.blame is not None
    assert steady.made - made[0] == found.blame.plan.replays > 0


def test_documents_that_are_not_what_they_were_are_not_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = FIVE["a plain function"]().application
    fields: dict[str, Any] = {"workers": 1, "report": False, "framework": "plain", "out": tmp_path}
    asked = ["What is the news?"]
    audit(application, asked, BAD, **fields)
    monkeypatch.setitem(TEXTS, "D1", "fact 1: another text")
    found = audit(application, asked, BAD, fdr=0.05, **fields)
    assert found.blame is not None
    changed = found.document("D1").name
    assert changed not in blamed(found)
    tested = {each.document: each.tables for each in (*found.blame, *found.blame.not_shown)}
    assert all(each.of_with == 0 < each.unknown_with for each in tested[changed])


def test_replays_that_fail_count_neither_way() -> None:
    steady, failing = Flaky(0.0), [False]

    def replay(question: str, sources: Sequence[Source]) -> str:
        if failing[0]:
            raise RuntimeError("no model today")
        return steady(question, sources)

    def fail_from_now_on(_: BlamePlan) -> None:
        failing[0] = True

    found = audited(replay, fdr=0.05, on_plan=fail_from_now_on)
    assert found.blame is not None
    assert not found.blame
    for each in found.blame.not_shown:
        assert all(table.of_with == table.of_without == 0 for table in each.tables)
        assert each.p_value == 1


@pytest.mark.parametrize("most", [0, 1, 40, 200])
def test_no_more_is_spent_than_was_allowed(most: int) -> None:
    before = audited(Flaky(0.0))
    spent = sum(each.replays for each in before.questions)
    limited: list[dict[str, Any]] = [
        {"blame_replays": most},
        {"audit_limits": Limits(spent + most, failures=None)},
    ]
    for fields in limited:
        steady = Flaky(0.0)
        found = audited(steady, fdr=0.05, **fields)
        assert found.blame is not None
        assert steady.made - spent == found.blame.plan.replays <= most
        assert len(found.blame) == len(found.blame.plan.tested)
        assert bool(found.blame.plan.left_out) is (most < 200)


def test_retries_of_these_replays_do_not_pass_a_cap() -> None:
    spent = sum(each.replays for each in audited(Flaky(0.0)).questions)
    steady, runs = Flaky(0.0), count(1)

    def replay(question: str, sources: Sequence[Source]) -> str:
        if next(runs) > spent:
            raise ConnectionError("no model today")
        return steady(question, sources)

    retries = Retries(most=3, first_wait=0)
    explainer = Explainer(replay, concurrency=1, check_repeatable=False, retries=retries)
    audit(explainer, QUESTIONS, equals("bad"), workers=1, fdr=0.9, audit_limits=spent + 20)
    assert next(runs) == spent + 20 + 1


def test_options_that_cannot_be_are_refused_before_anything_is_asked() -> None:
    steady = Flaky(0.0)
    refused: list[dict[str, Any]] = [
        {"fdr": 1},
        {"fdr": 0.05, "blame_replays": -1},
        {"fdr": 0.05, "deterministic": 1},
        {"fdr": 0.05, "on_plan": 3},
    ]
    for fields in refused:
        with pytest.raises(InvalidInput, match=r"fdr|blame_replays|deterministic|on_plan"):
            audited(steady, **fields)
    assert steady.made == 0


def test_without_a_rate_there_is_no_list() -> None:
    assert audited(Flaky(0.0)).blame is None
    found = audit(
        Explainer(lambda _q, _s: "fine", check_repeatable=False), QUESTIONS, contains("bad"), fdr=0.05
    )
    assert found.blame is not None
    assert (len(found.blame), found.blame.plan.replays) == (0, 0)


def test_the_report_and_its_tables_say_whom_to_blame(tmp_path: Path) -> None:
    explainer = Explainer(Flaky(0.0), concurrency=1, check_repeatable=False)
    fields: dict[str, Any] = {"workers": 1, "fdr": 0.05}
    audit(explainer, QUESTIONS, equals("bad"), out=tmp_path / "out", **fields)
    first = (tmp_path / "out" / "index.html").read_text()
    assert "<h2>Documents to blame</h2>" in first
    assert "Under a false discovery rate of 0.05" in first
    with (tmp_path / "out" / "documents.csv").open(newline="") as file:
        rows = {row["document"]: row for row in csv.DictReader(file)}
    assert {name: row["blame"] for name, row in rows.items()} == {
        **dict.fromkeys("abc", "tested"),
        "d": "",
    }
    assert all(0 < float(rows[name]["blame_p_value"]) < 0.05 for name in "abc")
    assert rows["d"]["blame_p_value"] == ""
    pages = [each.read_text() for each in (tmp_path / "out" / "documents").iterdir()]
    assert sum("To blame:" in each for each in pages) == 3
    audit(explainer, QUESTIONS, equals("bad"), out=tmp_path / "out", workers=1)
    assert "Documents to blame" not in (tmp_path / "out" / "index.html").read_text()


def command(*arguments: str) -> "tuple[object, str, str]":
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main(list(arguments))
        except SystemExit as end:
            return end.code, out.getvalue(), " ".join(err.getvalue().split())
    return 0, out.getvalue(), " ".join(err.getvalue().split())


def test_the_command_lists_whom_to_blame_and_tells_the_cost_before(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    texts = ["The fee is 5 euros.", "The fee is 9 euros.", "The fee is 9 euros, as of May."]
    sources = [{"id": f"T{n}", "text": text} for n, text in enumerate(texts)]
    log.write_text(json.dumps({"question": "How much is the fee?", "sources": sources}) + "\n")
    asked = [
        "audit",
        "--questions",
        str(log),
        "--out",
        str(tmp_path / "out"),
        "--predicate",
        "contains:9",
    ]
    blaming = ["--fdr", "0.05", "--deterministic"]
    code, out, err = command(*asked, *blaming)
    assert code == 1, err
    assert "to find whom to blame: " in err
    assert "to blame, with a false discovery rate of 0.05:" in out
    for wrong in (["--deterministic"], ["--blame-replays", "9"], ["--fdr", "5"]):
        code, _, err = command(*asked, *wrong)
        assert (code, "0.05" in err) == (2, True), err
