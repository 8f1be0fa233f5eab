"""The paper's experiments on a model, against a scripted one behind a real socket: what is asked, what is
asked again, and what is written. The real model is asked by ``make paper-model``."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from demos.paper_model.run import OtherRun, begun
from demos.paper_model.sizes import Inputs, Size
from demos.paper_model.subject import Identity
from demos.real_model.asked import Asked, read_questions
from tests.support.faults import Fault
from tests.support.messages import Body, prompt
from tests.support.openai_server import OpenAIServer

ROOT = Path(__file__).parents[2]
QUESTIONS = read_questions()
TINY = (
    "--questions 2 --sources 3 --screened 1 --samples 2 --voted 1 --majority 3 "
    "--attacks 1 --most-adversarial 3 --judgements 4"
)


def reader() -> Callable[[Body], str]:
    """Says the fact if it is shown it, but one in five times something else. As a judge, it agrees, or
    says what is no verdict."""
    asked = iter(range(1, 1_000_000))

    def said(body: Body) -> str:
        text, number = prompt(body), next(asked)
        if "Reply with True or False" in text:
            return "True" if number % 2 else "I am no judge"
        about = next((each for each in QUESTIONS if each.question in text), None)
        if about is None:
            return "the reading room is closed"
        shown = about.documents[about.right] in text
        return f"It is {about.accepted[0]}." if shown and number % 5 else f"nobody knows, says {number}"

    return said


def started(server: OpenAIServer, out: Path, options: str = TINY) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "demos.paper_model", "--url", server.base_url, "--name", "scripted"]
    command += ["--out", str(out), *options.split()]
    environment = {**os.environ, "OPENAI_API_KEY": "none"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # Options of all kinds.
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes)  # type: ignore[call-overload]


def written(out: Path) -> dict[str, bytes]:
    files = (file for file in out.rglob("*") if file.is_file() and file.name != "answers.sqlite")
    return {str(file.relative_to(out)): file.read_bytes() for file in files}


def committed(out: Path) -> int:
    file = out / "answers.sqlite"
    if not file.exists():
        return 0
    with closing(sqlite3.connect(file)) as connection:
        try:
            query = "SELECT count(*) FROM rag_rules_answers WHERE answer IS NOT NULL"
            return connection.execute(query).fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def is_judging(body: Body) -> bool:
    return "Reply with True or False" in prompt(body)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_twice_it_goes_on_and_two_reads_write_the_same(tmp_path: Path) -> None:
    pytest.importorskip("langchain_openai", reason="the experiments' endpoints need it")
    with OpenAIServer(reader()) as server:
        for _ in range(2):
            before, running = len(server.requests), started(server, tmp_path)
            while len(server.requests) < before + 12 and running.poll() is None:
                time.sleep(0.002)
            running.send_signal(signal.SIGKILL)
            running.communicate()
            assert running.returncode == -signal.SIGKILL
        # One call is in flight at a time, so a kill loses one answer at the most.
        assert len(server.requests) - committed(tmp_path) <= 2
        finished = started(server, tmp_path)
        out, err = finished.communicate()
        assert finished.returncode == 0, err
        answers = [body for body in server.requests if not is_judging(body)]
        assert len(answers) - committed(tmp_path) <= 2
        first, so_far = written(tmp_path), len(server.requests)
        again = started(server, tmp_path)
        told, err = again.communicate()
        assert (again.returncode, len(server.requests)) == (0, so_far), err
        assert (told, written(tmp_path)) == (out, first)
    report = first["report.md"].decode()
    assert "The minimal rules of both kinds are the same on 2 of 2 questions." in report
    assert "Answers asked for anew: 0." in report
    assert "# scripted: the paper's experiments, begun on 20" in report
    for part in ("Accuracy", "Efficiency", "Robustness", "Benchmark", "Votes", "judge", "Red-teaming"):
        assert part in report


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_call_that_failed_is_no_figure_of_the_model(tmp_path: Path) -> None:
    """A judge that cannot be reached has said nothing, and is asked by the next run."""
    pytest.importorskip("langchain_openai", reason="the experiments' endpoints need it")
    options, read = TINY.replace("--judgements 4", "--judgements 1"), reader()
    with OpenAIServer(lambda body: Fault.RESET if is_judging(body) else read(body)) as server:
        gone = started(server, tmp_path, options)
        _, err = gone.communicate()
        assert (gone.returncode, "1 calls of the model failed" in err) == (2, True), err
        assert not {"report.md", "judge.json"} & set(written(tmp_path))
        about, answered = (tmp_path / "run.json").read_text(encoding="utf-8"), committed(tmp_path)
    with OpenAIServer(read) as server:
        # The address is a part of what a run is about.
        (tmp_path / "run.json").write_text(
            re.sub(r"http://127[^\"]*", server.base_url, about), encoding="utf-8"
        )
        again = started(server, tmp_path, options)
        _, err = again.communicate()
        assert again.returncode == 0, err
        assert any(map(is_judging, server.requests))
    assert answered > 0


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("ending", ["gone", "interrupted"])
def test_what_was_not_screened_is_not_called_wrong(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("langchain_openai", reason="the experiments' endpoints need it")
    asked, data = threading.Event(), tmp_path / "one.jsonl"
    first = (ROOT / "demos/real_model/questions.jsonl").read_text(encoding="utf-8").splitlines()[0]
    data.write_text(first, encoding="utf-8")

    def said(_: Body) -> "str | Fault":
        asked.set()
        return Fault.RESET if ending == "gone" else "no idea"

    # What is under way when Ctrl-C comes is still waited for.
    with OpenAIServer(said, latency=1) as server:
        running = started(server, tmp_path / "out", f"{TINY} --screened 2 --data {data}")
        if ending == "interrupted":
            assert asked.wait(60)
            running.send_signal(signal.SIGINT)
        out, err = running.communicate()
    expected = (2, "calls of the model failed") if ending == "gone" else (130, "goes on where it was")
    assert (running.returncode, expected[1] in err, out) == (expected[0], True, ""), err
    assert not (tmp_path / "out" / "report.md").exists()


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    pytest.importorskip("langchain_openai", reason="the experiments' endpoints need it")
    with OpenAIServer(lambda _: "no idea") as server:
        nothing = started(server, tmp_path)
        out, err = nothing.communicate()
        assert nothing.returncode == 0, err
        assert "It answers no question right" in out
        other = started(server, tmp_path, f"{TINY} --temperature 0")
        _, err = other.communicate()
        assert (other.returncode, "another temperature" in err) == (2, True)
    bad = started(server, tmp_path, "--sources 6")
    _, err = bad.communicate()
    assert (bad.returncode, "--sources is 6; give 3, 4 or 5" in err) == (2, True)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_bad_files_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.jsonl", tmp_path / "out"
    bad.write_text('{"text": "a"}\n{"prompt": "b"}\n', encoding="utf-8")
    for options, said in (
        (f"--injections {bad}", "line 2 has neither a text nor a payload"),
        (f"--data {bad}", "question 1: "),
        ("--tokens 0", "may answer in 0 tokens"),
        ("--temperature nan", "the temperature of any is nan"),
    ):
        with OpenAIServer(lambda _: "no idea") as server:
            refused = started(server, out, options)
            _, err = refused.communicate()
            assert (refused.returncode, server.requests) == (2, [])
        assert said in err
        assert "Traceback" not in err
        assert not out.exists()


def test_a_folder_is_about_what_counts_as_right(tmp_path: Path) -> None:
    def begins(asked: Sequence[Asked]) -> dict[str, object]:
        return begun(Inputs(tmp_path, Size()), Identity("m", "w", "r"), asked)

    first = begins(QUESTIONS[:2])
    assert begins(QUESTIONS[:2]) == first
    with pytest.raises(OtherRun, match="another right_answers_sha256"):
        begins([replace(QUESTIONS[0], accepted=["another"]), QUESTIONS[1]])
