"""Chat models behind an endpoint."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.runs import (
    QUESTION,
    UNREACHABLE,
    RagRules,
    assert_refused,
    explanation_of,
    finished,
    jsonl,
    rules_of,
    subprocess_of,
)
from tests.interrupting import until
from tests.support.faults import Fault
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.waits

WORST = "at most 10 replays of the model, and 3 more of each that fails"


class TestModel:
    @pytest.fixture
    def server(self) -> Iterator[OpenAIServer]:
        with OpenAIServer() as server:
            yield server

    def given(self, sources: Path, base_url: str, *more: object) -> tuple[object, ...]:
        given = ("explain", "--question", QUESTION, "--sources", sources)
        return (*given, "--model", "some-model", "--base-url", base_url, *more)

    def test_an_endpoint_that_reads_as_the_offline_reader_does_gives_the_same_rules(
        self, with_key: RagRules, sources: Path, server: OpenAIServer
    ) -> None:
        offline = with_key("explain", "--question", QUESTION, "--sources", sources, "--json")
        run = with_key(*self.given(sources, server.base_url, "--json"))
        assert rules_of(explanation_of(run)) == rules_of(explanation_of(offline))
        assert run.err.splitlines()[0] == WORST
        assert len(server.requests) == explanation_of(run).counts.replays
        assert {request["model"] for request in server.requests} == {"some-model"}

    def test_the_temperature_is_passed_on(
        self, with_key: RagRules, sources: Path, server: OpenAIServer
    ) -> None:
        with_key(*self.given(sources, server.base_url, "--temperature", 0.5))
        assert {request["temperature"] for request in server.requests} == {0.5}

    def test_the_answer_without_sources_can_be_given(
        self, with_key: RagRules, sources: Path, server: OpenAIServer
    ) -> None:
        arguments = self.given(sources, server.base_url, "--answer-without-sources", "N/A", "--json")
        explanation = explanation_of(with_key(*arguments))
        assert len(server.requests) == explanation.counts.replays == 8

    def test_many_replays_need_a_yes(
        self, with_key: RagRules, tmp_path: Path, server: OpenAIServer
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", *({"text": f"text {n}"} for n in range(9)))
        asked = with_key(*self.given(file, server.base_url))
        worst = "at most 500 replays of the model"
        assert_refused(asked, "more than 300 replays", "pass --yes", before=worst)
        assert server.requests == []

    def test_without_stdin_nobody_can_be_asked(
        self, with_key: RagRules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdin", None)  # as Python sets it where it was closed
        file = jsonl(tmp_path / "s.jsonl", *({"text": f"text {n}"} for n in range(9)))
        run = with_key(*self.given(file, UNREACHABLE))
        assert_refused(run, "pass --yes", before="at most 500 replays of the model")

    @pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
    @pytest.mark.parametrize(
        ("typed", "code", "said"),
        [
            (b"n\n", 2, "nothing was asked; pass fewer sources, a smaller --top-k, or --max-replays"),
            (b"\x04", 130, "interrupted"),
        ],
    )
    def test_who_sits_at_a_terminal_is_asked(
        self,
        with_key: RagRules,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        typed: bytes,
        code: int,
        said: str,
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", *({"text": f"text {n}"} for n in range(9)))
        keyboard, terminal = os.openpty()
        os.write(keyboard, typed)
        with open(terminal) as stdin:  # noqa: PTH123 -- of a descriptor
            monkeypatch.setattr(sys, "stdin", stdin)
            run = with_key(*self.given(file, UNREACHABLE))
        os.close(keyboard)
        assert run.code == code
        assert run.err.startswith("at most 500 replays of the model\n")
        assert run.err.endswith(f"rag-rules: {said}\n")

    @pytest.mark.parametrize("more", [("--yes",), ("--max-replays", 300)])
    def test_a_yes_or_a_limit_lets_them_go_on(
        self, with_key: RagRules, tmp_path: Path, server: OpenAIServer, more: tuple[object, ...]
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", *({"text": f"text {n}"} for n in range(9)))
        given = self.given(file, server.base_url, *more, "--predicate", "not:contains:nothing")
        run = with_key(*given, "--rules", "omission")
        assert run.code == 0

    def test_an_unreachable_endpoint(self, with_key: RagRules, sources: Path) -> None:
        run = with_key(*self.given(sources, UNREACHABLE), "--retries", "0")
        worst = "at most 10 replays of the model"
        assert_refused(run, f"some-model at {UNREACHABLE}", "check that its endpoint", before=worst)

    def test_an_endpoint_that_refuses(self, with_key: RagRules, sources: Path) -> None:
        def refuses(_body: object) -> str:
            raise ValueError("\x1b[31mno such model")

        with OpenAIServer(refuses) as server:
            run = with_key(*self.given(sources, server.base_url), "--retries", "0")
        assert_refused(run, "--model", "no such model", before="at most 10 replays of the model")
        assert "\x1b" not in run.err

    def test_what_fails_is_tried_again_as_often_as_was_said(
        self, with_key: RagRules, sources: Path
    ) -> None:
        with OpenAIServer(lambda _: Fault.SERVER_ERROR) as server:
            run = with_key(*self.given(sources, server.base_url, "--retries", "1"))
            assert len(server.requests) == 2
        worst = "at most 10 replays of the model, and 1 more of each that fails"
        assert_refused(run, "--model", before=worst)

    def test_an_answer_that_never_repeats(self, with_key: RagRules, sources: Path) -> None:
        told: list[str] = []

        def rambles(_body: object) -> str:
            told.append("so")
            return " ".join(told)

        with OpenAIServer(rambles) as server:
            run = with_key(*self.given(sources, server.base_url))
        assert_refused(run, "replayed twice", "contains", before=WORST)
        assert len(told) == 2

    def test_no_key(self, rag_rules: RagRules, sources: Path) -> None:
        assert_refused(rag_rules(*self.given(sources, UNREACHABLE)), "OPENAI_API_KEY", "export it")


@pytest.mark.spread(slow=3)
@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process")
@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 2, 40])
def test_ctrl_c_before_and_after_there_is_an_answer(tmp_path: Path, at: int) -> None:
    begun, ended, processes = threading.Event(), threading.Event(), list["subprocess.Popen[str]"]()
    numbers, stopped = itertools.count(1), tmp_path / "stopped"

    def script(_body: object) -> str:
        number = next(numbers)
        if number == at:
            begun.wait(120)
            processes[0].send_signal(signal.SIGINT)
        if at == 1:
            ended.wait(120)
        elif number >= at:
            until(stopped.exists)
        return "1889"

    file = jsonl(tmp_path / "s.jsonl", *({"text": f"text {n}"} for n in range(9)))
    with OpenAIServer(script) as server:
        given = ("explain", "--question", QUESTION, "--sources", file, "--miner", "exact", "--yes")
        model = ("--model", "m", "--base-url", server.base_url, "--concurrency", 2)
        processes.append(subprocess_of(*given, *model, env={"OPENAI_API_KEY": "none"}, stopped=stopped))
        begun.set()
        run = finished(processes[0])
        ended.set()
        asked = len(server.requests)
    assert run.code == 130
    assert "Traceback" not in run.err
    if at == 1:
        assert (asked, run.out) == (1, "")
    else:
        assert at <= asked < 514
        assert "not complete (interrupted): what is shown is true" in run.out
