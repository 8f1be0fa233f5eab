"""``rag-rules judge-check``: labels from a file, a judge behind an endpoint, exit codes, bad input."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from rag_rule_explainer import JudgeCheck
from rag_rule_explainer.storing.opened import close_all
from tests.cli.runs import (
    UNREACHABLE,
    Holding,
    RagRules,
    assert_refused,
    finished,
    jsonl,
    subprocess_of,
)
from tests.interrupting import until
from tests.support.faults import Fault
from tests.support.judging import judging
from tests.support.openai_server import OpenAIServer

QUESTION = "Who found radium?"


def line(answer: str, label: object, **more: object) -> dict[str, object]:
    return {"question": QUESTION, "answer": answer, "label": label, **more}


CURIE = (
    line("Marie Curie.", True, truth="Marie Curie", id="verbatim"),
    line("Mme Curie", True, truth="Marie Curie"),
    line("Pierre Curie", False, truth="Marie Curie", note="her husband"),
)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "labels.jsonl", *CURIE)


def check_of(out: str) -> JudgeCheck:
    return JudgeCheck.model_validate_json(out)


def test_near_exact_match_with_the_truth_of_each_line(rag_rules: RagRules, labels: Path) -> None:
    run = rag_rules("judge-check", labels)
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines() == [
        "condition: the answer is consistent with 'Marie Curie'",
        "3 labelled answers, 3 distinct, 0 requests to the judge",
        "                      judged true  judged false    no verdict",
        "labelled true                   1             1             0",
        "labelled false                  0             1             0",
        "precision            1.000 (1 of 1; 95% interval 0.207 to 1.000)",
        "recall               0.500 (1 of 2; 95% interval 0.095 to 0.905)",
        "false positive rate  0.000 (0 of 1; 95% interval 0.000 to 0.793)",
        "disagreements: 1",
        "  line 2: labelled true, judged false: 'Mme Curie'",
    ]
    assert "disagreements: 1, 0 of them here" in rag_rules("judge-check", labels, "--show", 0).out


@pytest.mark.waits
@pytest.mark.slow
def test_the_real_command_writes_json_and_nothing_else(labels: Path) -> None:
    run = finished(subprocess_of("judge-check", labels, "--json"))
    assert (run.code, run.err) == (0, "")
    assert run.out.isascii()
    check = check_of(run.out)
    assert (check.tp, check.fn, check.tn, check.fp) == (1, 1, 1, 0)
    assert [each.id for each in check.disagreements] == ["line 2"]


@pytest.mark.parametrize(
    ("predicate", "given", "judged_true"),
    [
        ("consistent-with:Marie Curie", line("Marie Curie!", True), True),
        ("not:consistent-with", line("Marie Curie", True, truth="marie curie"), False),
        ("contains:curie", line("Marie Curie", True), True),
        ("same-answer", line("Marie", True, baseline="marie."), True),
        ("same-answer:0.6", line("Marie Curie", True, baseline="Marie S Curie"), True),
        ("not:same-answer", line("Marie", True, baseline="Pierre"), True),
        ("refuses", line("I don't know.", True), True),
        ("cites:D2", line("[2]", True, sources=[{"text": "a"}, {"text": "b"}]), True),
        ("cites:D2", line("[2]", True, sources=[{"text": "a"}, {"text": "b"}], kept=["D1"]), False),
        (
            "cites:b",
            line("[1]", True, sources=[{"text": "a"}, {"id": "b", "text": ""}], kept=["b"]),
            True,
        ),
        ("mentions:D1", line("see Leaflet", True, sources=[{"text": "a", "title": "Leaflet"}]), True),
        ("json-path:$.dose=5", line('{"dose": 5}', True), True),
    ],
)
def test_any_predicate_of_the_command_line(
    rag_rules: RagRules, tmp_path: Path, predicate: str, given: dict[str, object], judged_true: bool
) -> None:
    run = rag_rules("judge-check", jsonl(tmp_path / "l.jsonl", given), "--predicate", predicate, "--json")
    assert run.code == 0, run.err
    check = check_of(run.out)
    assert (check.tp, check.fn) == ((1, 0) if judged_true else (0, 1))


class TestJudge:
    @pytest.fixture
    def server(self) -> Iterator[OpenAIServer]:
        with OpenAIServer(judging(lambda answer: "Curie" in answer)) as server:
            yield server

    @pytest.mark.waits
    def test_the_figures_are_those_of_its_known_errors(self, with_key: RagRules, tmp_path: Path) -> None:
        draw = random.Random(6)
        true = {f"she, number {n}" for n in range(300)}
        false = {f"he, number {n}" for n in range(500)}
        missed, taken = draw.sample(sorted(true), 24), draw.sample(sorted(false), 10)
        unsure = draw.sample(sorted(true.difference(missed)), 3) + draw.sample(sorted(false), 5)

        def says(answer: str) -> bool | str:
            if answer in unsure:
                return "unsure"
            return (answer in true) != (answer in {*missed, *taken})

        mixed = draw.sample([*sorted(true), *sorted(false)], 800)
        file = jsonl(tmp_path / "l.jsonl", *(line(each, each in true) for each in mixed))
        with OpenAIServer(judging(says)) as server:
            run = with_key(
                *("judge-check", file, "--predicate", "judged:is about her"),
                *("--judge-model", "j", "--judge-base-url", server.base_url, "--json"),
                *("--judge-batch", 20),
            )
            assert len(server.requests) == ceil(800 / 20)
        assert run.code == 3
        check = check_of(run.out)
        taken = [each for each in taken if each not in unsure]
        tp, fp = 300 - 24 - 3, len(taken)
        assert (check.tp, check.fn, check.fp, check.tn) == (tp, 24, fp, 500 - 5 - fp)
        assert check.unknown == len(check.undecided) == 8
        assert check.precision.value == tp / (tp + fp)
        assert check.recall.value == tp / (300 - 3)
        assert check.false_positive_rate.value == fp / (500 - 5)
        wrong = [each for each in mixed if each in {*missed, *taken}]
        assert [each.answer for each in check.disagreements] == wrong
        assert {each.reason for each in check.disagreements} == {"by its words"}
        assert check.judge_requests == ceil(800 / 20)
        assert [each for each in check.warnings if each.startswith("the judge saw several")]

    @pytest.mark.waits
    def test_a_thousand_labels_with_forty_answers(
        self, with_key: RagRules, tmp_path: Path, server: OpenAIServer
    ) -> None:
        names = ("Pierre", "Curie")
        given = [line(f"{names[n % 2]} {n % 40}", n % 2 == 1) for n in range(1000)]
        run = with_key(
            *("judge-check", jsonl(tmp_path / "l.jsonl", *given), "--predicate", "judged:is about her"),
            *("--judge-model", "j", "--judge-base-url", server.base_url),
        )
        assert run.code == 0, run.err
        assert len(server.requests) == 40
        assert "1,000 labelled answers, 40 distinct, 40 requests to the judge" in run.out
        assert "precision            1.000 (500 of 500; " in run.out
        assert run.out.startswith("WARNING: 960 of the 1,000 cases repeat others; ")

    @pytest.mark.waits
    def test_it_decides_where_the_wording_does_not(
        self, with_key: RagRules, labels: Path, server: OpenAIServer
    ) -> None:
        judge = ("--judge-model", "j", "--judge-base-url", server.base_url, "--judge-samples", 3)
        check = check_of(with_key("judge-check", labels, *judge, "--json").out)
        assert (check.tp, check.fp) == (2, 1)
        host = urlsplit(server.base_url).netloc
        assert check.condition == (
            f"the answer is consistent with 'Marie Curie' (judged by j at {host}, majority of 3)"
        )
        sent = [json.loads(body["messages"][-1]["content"]) for body in server.requests]
        assert {each["truth"] for each in sent} == {"Marie Curie"}
        assert {item["answer"] for each in sent for item in each["candidates"]} == {
            "Mme Curie",
            "Pierre Curie",
        }
        assert check.disagreements[0].reason == "2 of 2 judges for it, 0 against; by its words"

    @pytest.mark.waits
    def test_a_line_has_its_own_reference_or_that_of_the_file(
        self, with_key: RagRules, tmp_path: Path, server: OpenAIServer
    ) -> None:
        file = tmp_path / "all.txt"
        file.write_text("for all", encoding="utf-8")
        given = jsonl(tmp_path / "l.jsonl", line("Curie", True, reference="its own"), line("Curie", True))
        run = with_key(
            *("judge-check", given, "--predicate", "judged:agrees", "--reference", file),
            *("--judge-model", "j", "--judge-base-url", server.base_url),
        )
        assert run.code == 0
        sent = [json.loads(body["messages"][-1]["content"]) for body in server.requests]
        assert sorted(each["reference"] for each in sent) == ["for all", "its own"]

    @pytest.mark.waits
    def test_malformed_replies_are_no_verdicts(self, with_key: RagRules, labels: Path) -> None:
        with OpenAIServer(lambda _: '{"opinions": "yes"}') as server:
            judge = ("--judge-model", "j", "--judge-base-url", server.base_url)
            run = with_key("judge-check", labels, *judge)
        assert run.code == 3
        assert "UNKNOWN              2 of 3 have no verdict" in run.out
        assert "false positive rate  undefined: no case that has a verdict is labelled false" in run.out
        assert "line 2: labelled true, no verdict: 'Mme Curie' (the judge's reply had no" in run.out

    def test_nobody_there(self, with_key: RagRules, labels: Path) -> None:
        judge = ("--judge-model", "j", "--judge-base-url", UNREACHABLE, "--retries", 0)
        run = with_key("judge-check", labels, *judge)
        assert run.code == 3
        assert "(the judge failed: " in run.out
        assert "Connection error" in run.out

    @pytest.mark.waits
    def test_what_is_paid_is_kept_and_capped(
        self, with_key: RagRules, tmp_path: Path, server: OpenAIServer
    ) -> None:
        given = [{**line("Curie", True), "question": f"question {n}"} for n in range(6)]
        asked = ("judge-check", jsonl(tmp_path / "l.jsonl", *given), "--predicate", "judged:is about her")
        judge = ("--judge-model", "j", "--judge-base-url", server.base_url, "--concurrency", 1)
        store = ("--store", tmp_path / "a.db", "--namespace", "n")
        price = ("--price", "j=1000,1000", "--max-cost", 0.0001)
        capped = with_key(*asked, *judge, *store, *price, "--json")
        assert capped.code == 3
        assert check_of(capped.out).unknown == 5
        assert "in cost is reached" in check_of(capped.out).stop_reason
        whole = with_key(*asked, *judge, *store, "--json")
        close_all()
        assert whole.code == 0
        assert check_of(whole.out).judge_requests == 5
        assert len(server.requests) == 6


@pytest.mark.slow
@pytest.mark.waits
def test_ctrl_c_prints_what_was_judged(labels: Path, tmp_path: Path) -> None:
    holding, stopped = Holding(judging(lambda _: True), 1), tmp_path / "stopped"
    with OpenAIServer(holding) as server:
        given = [{**line("Marie", True), "question": f"question {n}"} for n in range(3)]
        process = subprocess_of(
            *("judge-check", jsonl(labels, *given), "--predicate", "judged:is about her"),
            *("--judge-model", "j", "--judge-base-url", server.base_url, "--concurrency", 1),
            env={"OPENAI_API_KEY": "any"},
            stopped=stopped,
        )
        holding.interrupt(process, stopped)
        run = finished(process)
        assert len(server.requests) == 2
    assert run.code == 130, run.err
    assert "stopped: interrupted" in run.out
    assert "precision            1.000 (2 of 2; " in run.out
    assert "line 3: labelled true, no verdict: 'Marie' (interrupted)" in run.out


@pytest.mark.waits
@pytest.mark.slow
def test_a_judge_that_hangs_does_not_keep_the_process(labels: Path) -> None:
    with OpenAIServer(lambda _: Fault.HANG) as server:
        process = subprocess_of(
            *("judge-check", labels, "--predicate", "judged:is about her"),
            *(
                "--judge-model",
                "j",
                "--judge-base-url",
                server.base_url,
                "--timeout",
                0.3,
                "--retries",
                0,
            ),
            env={"OPENAI_API_KEY": "any"},
        )
        # While the server is there, which lets go of whom it keeps waiting as it ends.
        run = finished(process)
    assert run.code == 3, run.err
    assert "3 of 3 have no verdict" in run.out
    assert "no answer within 0.3 seconds" in run.out


@pytest.mark.slow
@pytest.mark.waits
def test_ctrl_c_twice_leaves_a_judge_that_hangs_at_once(labels: Path, tmp_path: Path) -> None:
    stopped = tmp_path / "stopped"
    with OpenAIServer(lambda _: Fault.HANG) as server:
        process = subprocess_of(
            *("judge-check", labels, "--predicate", "judged:is about her"),
            *("--judge-model", "j", "--judge-base-url", server.base_url),
            env={"OPENAI_API_KEY": "any"},
            stopped=stopped,
        )
        until(lambda: server.outcomes)
        process.send_signal(signal.SIGINT)
        until(stopped.exists)
        process.send_signal(signal.SIGINT)
        run = finished(process)
    assert (run.code, run.out, run.err) == (130, "", "rag-rules: interrupted\n")


@pytest.mark.waits
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_sees_how_far_it_is(labels: Path) -> None:
    import pty

    master, slave = pty.openpty()
    program = "from rag_rule_explainer.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", program, "judge-check", str(labels)],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        check=True,
        text=True,
    )
    os.close(slave)
    shown = re.sub(r"\x1b\[[\d;?]*\w", "", os.read(master, 100_000).decode())
    os.close(master)
    assert "3/3 answers judged" in shown
    assert "answers judged" not in run.stdout


class TestBadInput:
    @pytest.mark.parametrize(
        ("written", "said"),
        [
            ("{oops", "Invalid JSON"),
            ("[1, 2]", "should be an object"),
            (json.dumps({"question": "q", "label": True}), "answer: Field required"),
            (json.dumps({"question": "q", "answer": "a"}), "label: Field required"),
            (json.dumps(line("a", "true")), "label: Input should be a valid boolean"),
            (json.dumps(line("a", 1)), "label: Input should be a valid boolean"),
            (json.dumps(line("a", None)), "label: Input should be a valid boolean"),
            (json.dumps(line("a", True) | {"answer": None}), "answer: Input should be a valid string"),
            (json.dumps(line("a", True) | {"question": " "}), "question is empty"),
            (json.dumps(line("a", True, id="")), "id is empty"),
            (json.dumps(line("a", True, truth=" ")), "truth is empty"),
            (json.dumps(line("a", True, id="one")), "the id 'one' is that of line 1 as well"),
            (json.dumps(line("a", True, sources=[{"id": "a"}])), "sources.0.text: Field required"),
            (json.dumps(line("a", True, kept=["D1"])), "no source; give ids of its sources: none"),
            (
                json.dumps(line("a", True, sources=[{"id": "a", "text": ""}, {"id": "a", "text": ""}])),
                "'a' stands for two sources",
            ),
        ],
    )
    def test_a_line_is_named_by_its_number(
        self, rag_rules: RagRules, tmp_path: Path, written: str, said: str
    ) -> None:
        file = tmp_path / "l.jsonl"
        good = json.dumps(line("a", True, id="one"))
        file.write_text(f"{good}\n\n{written}\n", encoding="utf-8")
        run = rag_rules("judge-check", file, "--predicate", "contains:a")
        assert_refused(run, "l.jsonl, line 3: ", said, "give ")

    @pytest.mark.parametrize(
        ("predicate", "said"),
        [
            ("consistent-with", 'there is no "truth", which consistent-with compares the answer with'),
            ("not:consistent-with", 'there is no "truth"'),
            ("same-answer", 'there is no "baseline"'),
            ("same-answer:0.8", 'there is no "baseline"'),
            ("cites", 'there is no "sources"'),
            ("not:mentions:D1", 'there is no "sources"'),
        ],
    )
    def test_what_the_predicate_needs(
        self, rag_rules: RagRules, tmp_path: Path, predicate: str, said: str
    ) -> None:
        whole = line("a", True, truth="a", baseline="a", sources=[{"text": "a"}])
        file = jsonl(tmp_path / "l.jsonl", whole, line("b", False))
        assert_refused(rag_rules("judge-check", file, "--predicate", predicate), "line 2: ", said, "add ")

    def test_files_that_are_none(self, rag_rules: RagRules, tmp_path: Path) -> None:
        assert_refused(rag_rules("judge-check", tmp_path / "no.jsonl"), "there is no", "give lines like")
        assert_refused(rag_rules("judge-check", tmp_path), "cannot be read")
        empty = tmp_path / "empty.jsonl"
        empty.write_text("\n \n", encoding="utf-8")
        assert_refused(rag_rules("judge-check", empty), "holds no labels", "give lines like")
        empty.write_bytes(b"\xff\xfa")
        assert_refused(rag_rules("judge-check", empty), "is not UTF-8", "save it as UTF-8")
        assert_refused(rag_rules("judge-check"), "LABELS")

    def test_only_one_of_the_labels(self, rag_rules: RagRules, tmp_path: Path) -> None:
        file = jsonl(tmp_path / "l.jsonl", line("a", False), line("b", False))
        run = rag_rules("judge-check", file, "--predicate", "contains:c")
        assert run.code == 0
        assert "precision            undefined: no case was judged true" in run.out
        assert "recall               undefined: no case that has a verdict is labelled true" in run.out
        assert "false positive rate  0.000 (0 of 2; " in run.out

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--predicate", "judged:is right"), "name a model with --judge-model"),
            (("--predicate", "sounds-good"), "is not a predicate"),
            (("--predicate", "consistent-with:"), "no text after the colon"),
            (("--predicate", "contains:x", "--judge-model", "j"), "has nothing to decide"),
            (("--judge-base-url", UNREACHABLE), "goes with --judge-model only"),
            (("--reference", "x.txt", "--judge-model", "j"), "goes with judged:TEXT only"),
            (("--store", "x.db"), "--namespace is missing"),
            (("--max-cost", "1"), "--max-cost needs the price of tokens; give those"),
            (("--show", "-1"), "--show"),
        ],
    )
    def test_what_does_not_go_together(
        self, with_key: RagRules, labels: Path, arguments: tuple[str, ...], said: str
    ) -> None:
        assert_refused(with_key("judge-check", labels, *arguments), said)

    @pytest.mark.parametrize("written", ["foo:bar", "judged:names a month", "matches:("])
    def test_a_predicate_that_is_none_is_no_fault_of_a_line(
        self, rag_rules: RagRules, labels: Path, written: str
    ) -> None:
        run = rag_rules("judge-check", labels, "--predicate", written)
        assert run.code == 2
        assert run.err.startswith(f"rag-rules: {written.removeprefix('matches:')!r}")

    def test_no_key(self, rag_rules: RagRules, labels: Path) -> None:
        run = rag_rules("judge-check", labels, "--judge-model", "j")
        assert_refused(run, "OPENAI_API_KEY", "export it")
