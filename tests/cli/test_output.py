"""What is printed, where to, and how a run ends."""

import io
import json
import os
import signal
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from rag_rule_explainer import Explanation, __version__
from rag_rule_explainer.cli import main
from tests.cli.runs import (
    QUESTION,
    RagRules,
    Run,
    explanation_of,
    finished,
    jsonl,
    probes_told,
    rules_of,
    subprocess_of,
)

WAITING = """
import threading

from langchain_core.runnables import RunnableLambda

def wait(question):
    print("asked", flush=True)
    threading.Event().wait(60)

answer = RunnableLambda(wait)
"""
PRINTING = """
import subprocess
import sys

from plain_rag_rule_explainer import gate

TEXTS = {"a": "It was built in 1889.", "b": "Soup is served at noon."}
search = gate(lambda question: [{"id": name, "text": text} for name, text in TEXTS.items()])

def answer(question):
    subprocess.run([sys.executable, "-S", "-c", "print('from a child')"], check=True)
    print("past the module", file=sys.__stdout__)
    return "1889" if any("1889" in each["text"] for each in search(question)) else "I do not know."
"""
INTERRUPTING = """
class Interrupting:
    def find_spec(self, name, *_):
        if name == "rag_rule_explainer.cli.entry":
            raise KeyboardInterrupt

import sys
sys.meta_path.insert(0, Interrupting())
"""
HELD = """
import importlib, itertools, time
explain = importlib.import_module("rag_rule_explainer.cli.explain")
numbers, replay = itertools.count(1), explain.offline_replay

def held(question, sources):
    number = next(numbers)
    while number > 200 and not STOPPED.exists():
        time.sleep(0.005)
    return replay(question, sources)

explain.offline_replay = held
"""
"""Replays beyond the first ones wait for the interrupt."""
AS_TEXT_AND_AS_JSON = [(), pytest.param(("--json",), marks=pytest.mark.slow)]


class TestJson:
    def test_stdout_is_one_explanation_and_nothing_else(self, rag_rules: RagRules, sources: Path) -> None:
        run = rag_rules("explain", "--question", QUESTION, "--sources", sources, "--json")
        explanation = explanation_of(run)
        assert json.loads(run.out)["schema_version"] == 2
        assert rules_of(explanation) == [
            "whenever plaque is retained, the answer stays the same",
            "whenever plaque is omitted, the answer changes",
        ]
        assert Explanation.model_validate_json(explanation.model_dump_json()) == explanation

    def test_nothing_of_a_hostile_document_reaches_the_terminal(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        text = "\x1b[2J\x9b31m\x7f\u202e The iron tower was built in 1889 \x07"
        file = jsonl(tmp_path / "s.jsonl", {"text": text})
        run = rag_rules("explain", "--question", QUESTION, "--sources", file, "--json")
        assert all(character.isprintable() or character == "\n" for character in run.out)
        assert run.out.isascii()
        assert explanation_of(run).sources[0].text == text


class TestOutput:
    HOSTILE = (
        {"id": "\x1b[31mred\nid", "text": "The iron tower was built in \x1b[2J1889 [red]for all[/red]."},
        {"id": "\u202etxt.exe", "title": "\x1b]0;owned\x07", "text": "\x9b31mSoup."},
    )

    def test_hostile_documents_cannot_touch_the_terminal(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", *self.HOSTILE)
        run = rag_rules("explain", "--question", f"{QUESTION}\x1b[5m", "--sources", file)
        assert run.code == 0
        shown = run.out + run.err
        assert all(character.isprintable() or character == "\n" for character in shown)
        assert r'whenever "\x1b[31mred id" is retained, the answer stays the same' in shown

    def test_progress_goes_to_stderr_and_does_not_flood_it(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        many = [{"text": f"The iron tower was built in {1880 + n}."} for n in range(10)]
        file = jsonl(tmp_path / "s.jsonl", *many)
        run = rag_rules("explain", "--question", QUESTION, "--sources", file)
        assert probes_told(run.err)[:4] == [1, 100, 200, 400]
        assert 3 <= len(run.err.splitlines()) <= 8
        assert "/s\n" not in run.out

    def test_a_limit_is_kept_and_told(self, rag_rules: RagRules, sources: Path) -> None:
        run = rag_rules("explain", "--question", QUESTION, "--sources", sources, "--max-replays", 4)
        assert run.code == 0
        assert "not complete (the limit of 4 replays is reached)" in run.out

    def test_the_version_and_the_help(self, rag_rules: RagRules) -> None:
        assert rag_rules("--version") == Run(0, f"{__version__}\n", "")
        for run in (rag_rules(), rag_rules("--help")):
            assert (run.code, run.err) == (0, "")
            assert "explain" in run.out
            assert "demo" in run.out
        assert "--sources" in rag_rules("explain", "--help").out

    def test_a_stream_that_knows_no_encoding_will_do(self, sources: Path) -> None:
        out = io.StringIO()
        with redirect_stdout(out), pytest.raises(SystemExit):
            main(["explain", "--question", QUESTION, "--sources", str(sources)])
        assert "whenever plaque is retained" in out.getvalue()


@pytest.mark.waits
class TestProcess:
    def explaining(self, sources: Path, *more: str) -> tuple[object, ...]:
        return ("explain", "--question", QUESTION, "--sources", sources, *more)

    def test_results_on_stdout_the_rest_on_stderr_no_escape_codes(self, sources: Path) -> None:
        run = finished(subprocess_of(*self.explaining(sources)))
        assert run.code == 0
        assert "whenever plaque is retained" in run.out
        assert probes_told(run.err) == [1, 8]
        assert "\x1b" not in run.out

    @pytest.mark.slow
    def test_colours_that_are_asked_for_never_reach_the_progress_in_a_file(self, sources: Path) -> None:
        run = finished(subprocess_of(*self.explaining(sources), env={"FORCE_COLOR": "1"}))
        assert "\x1b[1m" in run.out
        assert "\x1b" not in run.err

    @pytest.mark.slow
    @pytest.mark.parametrize("more", AS_TEXT_AND_AS_JSON)
    def test_an_encoding_that_cannot_say_everything_is_no_obstacle(
        self, tmp_path: Path, more: tuple[str, ...]
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"id": "Ωmega", "text": "東京"})
        run = finished(subprocess_of(*self.explaining(file, *more), env={"PYTHONIOENCODING": "ascii"}))
        assert run.code == 0
        assert r"\u03a9mega" in run.out

    @pytest.mark.slow
    def test_help_is_printed_in_any_encoding(self) -> None:
        run = finished(subprocess_of("explain", "--help", env={"PYTHONIOENCODING": "ascii"}))
        assert run.code == 0
        assert "--sources" in run.out

    @pytest.mark.parametrize("more", AS_TEXT_AND_AS_JSON)
    def test_a_reader_that_leaves_early_ends_it_quietly(
        self, tmp_path: Path, more: tuple[str, ...]
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"text": "one"})
        process = subprocess_of(*self.explaining(file, *more))
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        complaint = process.stderr.read()
        assert process.wait(timeout=60) == 0
        process.stderr.close()
        assert probes_told(complaint) == [1, 2]

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
    @pytest.mark.parametrize("more", AS_TEXT_AND_AS_JSON)
    def test_a_full_disk_is_told_in_one_line(self, tmp_path: Path, more: tuple[str, ...]) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"text": "one"})
        with Path("/dev/full").open("w") as full:
            run = finished(subprocess_of(*self.explaining(file, *more), stdout=full))
        assert run.code == 2
        assert run.err.splitlines()[2:] == [
            "rag-rules: the output cannot be written: No space left on device; write it elsewhere"
        ]

    def test_an_interrupt_ends_the_search_and_shows_what_was_proved(self, tmp_path: Path) -> None:
        built = ({"text": f"The iron tower was built in {1870 + n}."} for n in range(16))
        file, stopped = jsonl(tmp_path / "s.jsonl", *built), tmp_path / "stopped"
        # One replay at a time: which rules are known after a hundred then hangs on nothing else.
        alone = ("--concurrency", "1")
        process = subprocess_of(*self.explaining(file, *alone), stopped=stopped, first=HELD)
        assert process.stderr is not None
        while not (line := process.stderr.readline()).startswith("100 /"):
            assert line
        process.send_signal(signal.SIGINT)
        run = finished(process)
        assert run.code == 130
        told = (
            "interrupted: waiting for the replays in flight; Ctrl-C again ends at once, without the rules"
        )
        assert run.err.count(told) == 1
        assert "whenever D1" in run.out
        assert "not complete (interrupted): what is shown is true" in run.out
        assert "Traceback" not in run.err

    @pytest.mark.slow
    def test_what_child_processes_of_the_application_print_is_no_part_of_the_result(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "printing.py").write_text(PRINTING)
        place = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        asked = ("explain", "--question", QUESTION, "--app", "printing:answer", "--json", "--yes")
        run = finished(subprocess_of(*asked, env=place))
        assert explanation_of(run).rules
        assert {"from a child", "past the module"} <= set(run.err.splitlines())

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="closes a descriptor in the child process")
    def test_a_closed_stdout_is_told_before_anything_is_asked(self, tmp_path: Path) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"text": "one"})
        closing = "import sys; sys.stdout = None"
        run = finished(subprocess_of(*self.explaining(file), first=closing))
        told = "rag-rules: the output cannot be written: stdout is closed; write it to a file"
        assert (run.code, run.err.splitlines()) == (2, [told])

    def test_an_interrupt_while_the_program_is_imported_is_told_in_one_line(self) -> None:
        run = finished(subprocess_of("--version", first=INTERRUPTING))
        assert (run.code, run.out, run.err) == (130, "", "rag-rules: interrupted\n")

    @pytest.mark.slow
    def test_an_interrupt_before_there_is_an_answer_is_told_in_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "waiting.py").write_text(WAITING)
        place = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        process = subprocess_of(
            "explain", "--question", QUESTION, "--app", "waiting:answer", "--yes", env=place
        )
        assert process.stderr is not None
        # Stdout is for the result alone.
        assert process.stderr.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        run = finished(process)
        assert (run.code, run.out, run.err) == (130, "", "rag-rules: interrupted\n")


def test_help_shows_the_brackets_of_the_syntax(rag_rules: RagRules) -> None:
    for command in ("explain", "judge-check"):
        assert "[not:]" in rag_rules(command, "--help-all").out
