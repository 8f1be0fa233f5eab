"""``rag-rules`` as a person or a script meets it."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest

from rag_rule_explainer import Explanation, __version__
from rag_rule_explainer.cli import main
from rag_rule_explainer.cli.stories import STORIES
from rag_rule_explainer.testing import OpenAIServer

QUESTION = "When was the iron tower built?"
BUILT = (
    {"id": "plaque", "text": "The iron tower was built in 1889."},
    {"id": "leaflet", "title": "Leaflet", "text": "The iron tower was built in 1900."},
    {"id": "menu", "text": "Soup is served at noon."},
)
UNREACHABLE = "http://127.0.0.1:1"


@dataclass(frozen=True)
class Run:
    """How a run ended, and what it printed."""

    code: object
    out: str
    err: str


RagRules = Callable[..., Run]


@pytest.fixture
def rag_rules(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RagRules:
    """Runs the command in this process, without a key and without a wish for colours."""
    for name in ("OPENAI_API_KEY", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Run:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Run(end.value.code, printed.out, printed.err)

    return run


def subprocess_of(
    *arguments: object, env: Mapping[str, str] | None = None, stdout: IO[str] | None = None
) -> "subprocess.Popen[str]":
    # A process started in the background of a shell ignores Ctrl-C unless it says otherwise.
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{listening}; from rag_rule_explainer.cli import main; main()"
    unwanted = ("FORCE_COLOR", "PYTHONUNBUFFERED")
    plain = {name: value for name, value in os.environ.items() if name not in unwanted}
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**plain, "PYTHONIOENCODING": "utf-8", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=stdout or subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def finished(process: "subprocess.Popen[str]") -> Run:
    out, err = process.communicate(timeout=60)
    return Run(process.returncode, out, err)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "sources.jsonl", *BUILT)


@pytest.fixture
def with_key(rag_rules: RagRules, monkeypatch: pytest.MonkeyPatch) -> RagRules:
    monkeypatch.setenv("OPENAI_API_KEY", "any value")
    return rag_rules


def jsonl(path: Path, *records: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def folder(path: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path


def explanation_of(run: Run) -> Explanation:
    assert run.code == 0, run.err
    return Explanation.model_validate_json(run.out)


def rules_of(explanation: Explanation) -> list[str]:
    return [finding.rule for finding in explanation.rules]


def assert_refused(run: Run, *said: str, before: str | None = None) -> None:
    """Exit code 2, nothing on stdout, one line on stderr that begins alike and says all of ``said``."""
    assert run.code == 2
    assert run.out == ""
    *earlier, line = run.err.splitlines()
    assert earlier == ([] if before is None else [before])
    assert line.startswith("rag-rules: ")
    assert "Traceback" not in run.err
    for each in said:
        assert each in line


@pytest.fixture(scope="module")
def demo() -> Run:
    return finished(subprocess_of("demo"))


class TestDemo:
    def test_both_stories_end_in_their_rules(self, demo: Run) -> None:
        assert demo.code == 0
        covid, knee = demo.out.split("\n2. ")
        assert "whenever preprint-17 is retained, the answer contains 'prednisolone'" in covid
        assert "whenever preprint-17 is omitted, the answer does not contain 'prednisolone'" in covid
        assert (
            "whenever programme-1998 and leaflet-9 are retained, the answer contains 'six weeks'" in knee
        )
        for one in ("programme-1998", "leaflet-9"):
            assert f"whenever {one} is omitted, the answer does not contain 'six weeks'" in knee
            assert f"whenever {one} is retained" not in knee

    def test_question_answer_documents_and_costs_are_shown(self, demo: Run) -> None:
        for story in STORIES:
            assert f"Question: {story.question}\n" in demo.out
            for document in story.documents:
                assert document.id in demo.out
                assert document.title in demo.out
        assert "What would flip it" in demo.out
        assert "8 probes of 8 subsets; 9 replays" in demo.out
        assert "32 probes of 32 subsets; 33 replays" in demo.out

    def test_it_says_how_to_do_the_same_on_ones_own_chain(self, demo: Run) -> None:
        assert "RuleExplainer(your_chain" in demo.out
        assert "rag-rules explain --question" in demo.out

    def test_it_is_plain_text_where_it_is_not_a_terminal(self, demo: Run) -> None:
        assert "\x1b" not in demo.out + demo.err


class TestSources:
    def test_lines_of_json(self, rag_rules: RagRules, sources: Path) -> None:
        run = rag_rules("explain", "--question", QUESTION, "--sources", sources)
        assert run.code == 0
        assert "Question: When was the iron tower built?\nAnswer: 1889\n" in run.out
        assert "  - whenever plaque is retained, the answer stays the same\n" in run.out
        assert "  - whenever plaque is omitted, the answer changes\n" in run.out

    def test_ids_and_titles_may_be_left_out_and_other_fields_may_be_there(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"text": "one", "score": 0.7}, {"text": "two", "id": None})
        run = rag_rules("explain", "--question", QUESTION, "--sources", file, "--json")
        assert [(s.id, s.text) for s in explanation_of(run).sources] == [("D1", "one"), ("D2", "two")]

    def test_a_text_may_hold_any_line_break_that_json_allows(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        text = "a\u2028b\u2029c\x85d"
        file = tmp_path / "s.jsonl"
        file.write_text(f'\ufeff{{"text": "{text}"}}\r\n\r\n{{"text": "two"}}', encoding="utf-8")
        run = rag_rules("explain", "--question", QUESTION, "--sources", file, "--json")
        assert [source.text for source in explanation_of(run).sources] == [text, "two"]

    def test_a_folder_of_texts_is_read_in_order_of_its_names(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        texts = {"b.txt": "two", "a.md": "one", "sub/C.TXT": "three", "image.png": "none", "d.txt/e": ""}
        directory = folder(tmp_path / "texts", texts)
        run = rag_rules("explain", "--question", QUESTION, "--sources", directory, "--json")
        found = [(source.id, source.text) for source in explanation_of(run).sources]
        assert found == [("a.md", "one"), ("b.txt", "two"), ("sub/C.TXT", "three")]

    def test_top_k_retrieves_the_best_matches_of_many(self, rag_rules: RagRules, tmp_path: Path) -> None:
        texts = {f"filler-{n}.txt": f"Soup number {n} is served at noon." for n in range(40)}
        texts |= {"plaque.txt": "The iron tower was built in 1889.", "paint.txt": "The tower is painted."}
        directory = folder(tmp_path / "texts", texts)
        run = rag_rules("explain", "--question", QUESTION, "--sources", directory, "--top-k", 2, "--json")
        explanation = explanation_of(run)
        assert [source.id for source in explanation.sources] == ["plaque.txt", "paint.txt"]
        assert explanation.baseline.text == "1889"


class TestPredicates:
    @pytest.mark.parametrize(
        ("written", "clause", "opposite"),
        [
            ("same-answer", "the answer stays the same", "the answer changes"),
            ("contains:188", "the answer contains '188'", "the answer does not contain '188'"),
            ("equals:1889", "the answer is '1889'", "the answer is not '1889'"),
            (r"matches:^18\d\d$", r"the answer matches /^18\d\d$/", r"the answer does not match"),
            (
                "consistent-with:1889.",
                "the answer is consistent with '1889.'",
                "the answer is inconsistent with '1889.'",
            ),
        ],
    )
    def test_every_form_and_its_negation(
        self, rag_rules: RagRules, sources: Path, written: str, clause: str, opposite: str
    ) -> None:
        given = ("explain", "--question", QUESTION, "--sources", sources, "--predicate")
        run = rag_rules(*given, written)
        assert f"  - whenever plaque is retained, {clause}\n" in run.out
        assert f"  - whenever plaque is omitted, {opposite}" in run.out
        negated = rag_rules(*given, f"not:{written}")
        assert f"  none, for: {opposite}" in negated.out
        assert f"  none, for: {clause}\n" in negated.out
        assert rag_rules(*given, f"not:not:{written}").out == run.out

    def test_a_text_may_hold_colons(self, rag_rules: RagRules, sources: Path) -> None:
        run = rag_rules(
            "explain", "--question", QUESTION, "--sources", sources, "--predicate", "contains:a:b"
        )
        assert "none, for: the answer contains 'a:b'" in run.out

    def test_omission_rules_may_have_a_condition_of_their_own(
        self, rag_rules: RagRules, sources: Path
    ) -> None:
        run = rag_rules(
            *("explain", "--question", QUESTION, "--sources", sources),
            *("--predicate", "contains:1889", "--omission-predicate", "equals:N/A"),
        )
        assert "  - whenever plaque is retained, the answer contains '1889'\n" in run.out
        assert "  - whenever plaque and leaflet are omitted, the answer is 'N/A'\n" in run.out

    @pytest.mark.parametrize("kind", ["retention", "omission"])
    def test_one_kind_alone_can_be_asked_for(self, rag_rules: RagRules, sources: Path, kind: str) -> None:
        run = rag_rules("explain", "--question", QUESTION, "--sources", sources, "--rules", kind)
        other = {"retention": "omission", "omission": "retention"}[kind]
        assert f"{kind.capitalize()} rules\n" in run.out
        assert f"{other.capitalize()} rules\n" not in run.out


class TestJson:
    def test_stdout_is_one_explanation_and_nothing_else(self, rag_rules: RagRules, sources: Path) -> None:
        run = rag_rules("explain", "--question", QUESTION, "--sources", sources, "--json")
        explanation = explanation_of(run)
        assert json.loads(run.out)["schema_version"] == 1
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
        assert r"whenever \x1b[31mred id is retained, the answer stays the same" in shown

    def test_progress_goes_to_stderr_and_does_not_flood_it(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        many = [{"text": f"The iron tower was built in {1880 + n}."} for n in range(10)]
        file = jsonl(tmp_path / "s.jsonl", *many)
        run = rag_rules("explain", "--question", QUESTION, "--sources", file)
        assert "replays; probes 1 of at most 1024\n" in run.err
        assert 3 <= len(run.err.splitlines()) <= 8
        assert "of at most 1024" not in run.out

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


class TestProcess:
    def explaining(self, sources: Path, *more: str) -> tuple[object, ...]:
        return ("explain", "--question", QUESTION, "--sources", sources, *more)

    def test_results_on_stdout_the_rest_on_stderr_no_escape_codes(self, sources: Path) -> None:
        run = finished(subprocess_of(*self.explaining(sources)))
        assert run.code == 0
        assert "whenever plaque is retained" in run.out
        assert run.err == "2 replays; probes 1 of at most 8\n"
        assert "\x1b" not in run.out

    def test_colours_that_are_asked_for_never_reach_the_progress_in_a_file(self, sources: Path) -> None:
        run = finished(subprocess_of(*self.explaining(sources), env={"FORCE_COLOR": "1"}))
        assert "\x1b[1m" in run.out
        assert "\x1b" not in run.err

    @pytest.mark.parametrize("more", [(), ("--json",)])
    def test_an_encoding_that_cannot_say_everything_is_no_obstacle(
        self, tmp_path: Path, more: tuple[str, ...]
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"id": "Ωmega", "text": "東京"})
        run = finished(subprocess_of(*self.explaining(file, *more), env={"PYTHONIOENCODING": "ascii"}))
        assert run.code == 0
        assert r"\u03a9mega" in run.out

    @pytest.mark.parametrize("more", [(), ("--json",)])
    def test_a_reader_that_leaves_early_ends_it_quietly(
        self, tmp_path: Path, more: tuple[str, ...]
    ) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"text": "one"})
        process = subprocess_of(*self.explaining(file, *more))
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        complaint = process.stderr.read()
        assert process.wait(timeout=60) == 1
        process.stderr.close()
        assert complaint == "2 replays; probes 1 of at most 2\n"

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
    @pytest.mark.parametrize("more", [(), ("--json",)])
    def test_a_full_disk_is_told_in_one_line(self, tmp_path: Path, more: tuple[str, ...]) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"text": "one"})
        with Path("/dev/full").open("w") as full:
            run = finished(subprocess_of(*self.explaining(file, *more), stdout=full))
        assert run.code == 2
        assert run.err.splitlines()[1:] == [
            "rag-rules: the output cannot be written: No space left on device; write it elsewhere"
        ]

    def test_an_interrupt_ends_the_search_and_shows_what_was_proved(self, tmp_path: Path) -> None:
        built = ({"text": f"The iron tower was built in {1870 + n}."} for n in range(16))
        process = subprocess_of(*self.explaining(jsonl(tmp_path / "s.jsonl", *built)))
        assert process.stderr is not None
        while "probes 100 of" not in (line := process.stderr.readline()):
            assert line
        process.send_signal(signal.SIGINT)
        run = finished(process)
        assert run.code == 130
        assert "whenever D1" in run.out
        assert "not complete (interrupted): what is shown is true" in run.out
        assert "Traceback" not in run.err


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
        assert run.err.splitlines()[0] == "at most 10 replays of the model"
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
        given = self.given(file, server.base_url, *more, "--predicate", "contains:nothing")
        run = with_key(*given, "--rules", "retention")
        assert run.code == 0
        assert len(server.requests) == 2

    def test_an_unreachable_endpoint(self, with_key: RagRules, sources: Path) -> None:
        run = with_key(*self.given(sources, UNREACHABLE))
        worst = "at most 10 replays of the model"
        assert_refused(run, f"some-model at {UNREACHABLE}", "check that its endpoint", before=worst)

    def test_an_endpoint_that_refuses(self, with_key: RagRules, sources: Path) -> None:
        def refuses(_body: object) -> str:
            raise ValueError("\x1b[31mno such model")

        with OpenAIServer(refuses) as server:
            run = with_key(*self.given(sources, server.base_url))
        assert_refused(run, "--model", "no such model", before="at most 10 replays of the model")
        assert "\x1b" not in run.err

    def test_an_answer_that_never_repeats(self, with_key: RagRules, sources: Path) -> None:
        told: list[str] = []

        def rambles(_body: object) -> str:
            told.append("so")
            return " ".join(told)

        with OpenAIServer(rambles) as server:
            run = with_key(*self.given(sources, server.base_url))
        assert_refused(run, "replayed twice", "contains", before="at most 10 replays of the model")
        assert len(told) == 2

    def test_no_key(self, rag_rules: RagRules, sources: Path) -> None:
        assert_refused(rag_rules(*self.given(sources, UNREACHABLE)), "OPENAI_API_KEY", "export it")


class TestBadInput:
    @pytest.fixture
    def explaining(self, rag_rules: RagRules) -> RagRules:
        def run(sources: object, *more: object) -> Run:
            return rag_rules("explain", "--question", QUESTION, "--sources", sources, *more)

        return run

    def test_no_such_file(self, explaining: RagRules, tmp_path: Path) -> None:
        assert_refused(explaining(tmp_path / "nowhere.jsonl"), "there is no", "nowhere.jsonl", "give a")

    def test_a_path_beyond_all_length(self, explaining: RagRules) -> None:
        assert_refused(explaining("x" * 500), "cannot be read: File name too long")

    def test_a_path_that_would_colour_the_line(self, explaining: RagRules) -> None:
        run = explaining("\x1b[31mno\nsuch")
        assert_refused(run, r"\x1b[31mno such")

    def test_not_utf_8(self, explaining: RagRules, tmp_path: Path) -> None:
        file = tmp_path / "latin.jsonl"
        file.write_bytes('{"text": "café"}'.encode("latin-1"))
        assert_refused(explaining(file), "latin.jsonl is not UTF-8", "at byte 13", "save it as UTF-8")
        assert_refused(explaining(folder(tmp_path / "d", {}).with_name("latin.jsonl")), "not UTF-8")

    def test_not_utf_8_in_a_folder(self, explaining: RagRules, tmp_path: Path) -> None:
        directory = folder(tmp_path / "texts", {"good.txt": "text"})
        (directory / "bad.txt").write_bytes(b"\xff")
        assert_refused(explaining(directory), "bad.txt is not UTF-8")

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("{oops", "Invalid JSON"),
            ("[1, 2]", "should be an object"),
            ('"text"', "should be an object"),
            ('{"id": "x"}', "text: Field required"),
            ('{"text": null}', "text: Input should be a valid string"),
            ('{"text": "x", "id": 7}', "id: Input should be a valid string"),
            ('{"text": "x", "id": " "}', "the id is empty"),
            ('{"text": "\\ud800"}', "Invalid JSON"),
        ],
    )
    def test_a_line_that_is_no_source_is_named_by_its_number(
        self, explaining: RagRules, tmp_path: Path, line: str, said: str
    ) -> None:
        file = tmp_path / "s.jsonl"
        file.write_text(f'{{"text": "good"}}\n\n{line}\n', encoding="utf-8")
        assert_refused(explaining(file), "s.jsonl, line 3: ", said, "give ")

    def test_an_id_that_stands_twice(self, explaining: RagRules, tmp_path: Path) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"id": "a", "text": "x"}, {"id": "a", "text": "y"})
        assert_refused(explaining(file), "'a' stands for two sources", "give each")
        assert_refused(explaining(file, "--top-k", 1), "'a' stands for two sources")

    def test_no_sources(self, explaining: RagRules, tmp_path: Path) -> None:
        empty = tmp_path / "empty.jsonl"
        empty.write_text("\n\n", encoding="utf-8")
        assert_refused(explaining(empty), "holds no sources", "give a .jsonl file")
        directory = folder(tmp_path / "d", {"picture.png": ""})
        assert_refused(explaining(directory), "holds no sources", "folder of .txt or .md")

    def test_more_sources_than_an_exact_search_takes(self, explaining: RagRules, tmp_path: Path) -> None:
        file = jsonl(tmp_path / "s.jsonl", *({"text": f"text {n}"} for n in range(21)))
        for miner in ("auto", "exact", "exhaustive"):
            run = explaining(file, "--miner", miner)
            assert_refused(run, "21 sources", "at most 20", "top-k")

    def test_a_corpus_without_a_word_of_the_question(self, explaining: RagRules, tmp_path: Path) -> None:
        file = jsonl(tmp_path / "s.jsonl", {"text": "Soup."})
        assert_refused(explaining(file, "--top-k", 3), "shares a word with the question", "rephrase")

    @pytest.mark.parametrize("question", ["", " \n"])
    def test_an_empty_question(self, rag_rules: RagRules, sources: Path, question: str) -> None:
        run = rag_rules("explain", "--question", question, "--sources", sources)
        assert_refused(run, "the question is empty", "--question")

    @pytest.mark.parametrize(
        "pattern", ["matches:[", "not:matches:(", "matches:a{99999999999999}", "matches:" + "(" * 5000]
    )
    @pytest.mark.parametrize("option", ["--predicate", "--omission-predicate"])
    def test_a_bad_regular_expression(
        self, explaining: RagRules, sources: Path, option: str, pattern: str
    ) -> None:
        assert_refused(explaining(sources, option, pattern), "rag-rules: '")

    def test_a_bad_regular_expression_is_shown_with_what_is_wrong(
        self, explaining: RagRules, sources: Path
    ) -> None:
        run = explaining(sources, "--predicate", "matches:[")
        assert_refused(run, "'[' is not a regular expression: unterminated", "escape")

    @pytest.mark.parametrize(
        "written",
        ["sounds-like:x", "contains", "contains:", "not:", "same-answer:x", "", "Contains:x", "equals:"],
    )
    @pytest.mark.parametrize("option", ["--predicate", "--omission-predicate"])
    def test_an_unknown_predicate(
        self, explaining: RagRules, sources: Path, option: str, written: str
    ) -> None:
        assert_refused(explaining(sources, option, written), "write [not:]contains:TEXT | ")

    @pytest.mark.parametrize(
        ("module", "extra", "arguments"),
        [
            ("bm25s", "bm25", ("explain", "--top-k", "1")),
            ("langchain_openai", "openai", ("explain", "--model", "m")),
            ("langchain_core.documents", "langchain,bm25", ("demo",)),
        ],
    )
    def test_a_library_that_is_not_installed(
        self,
        rag_rules: RagRules,
        monkeypatch: pytest.MonkeyPatch,
        sources: Path,
        module: str,
        extra: str,
        arguments: tuple[str, ...],
    ) -> None:
        monkeypatch.setitem(sys.modules, module, None)  # Python's own way to say: there is none
        given = () if arguments == ("demo",) else ("--question", QUESTION, "--sources", sources)
        run = rag_rules(*arguments, *given)
        assert_refused(run, f"needs: pip install 'rag-rule-explainer[{extra}]'")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("explode",),
            ("--unknown",),
            ("demo", "--unknown"),
            ("demo", "extra"),
            ("explain",),
            ("explain", "--question", QUESTION),
            ("explain", "--question", QUESTION, "--sources"),
            ("explain", "--question", QUESTION, "--sources", "x", "--unknown"),
            ("explain", "--question", QUESTION, "--sources", "x", "--rules", "all"),
            ("explain", "--question", QUESTION, "--sources", "x", "--miner", "magic"),
            ("explain", "--question", QUESTION, "--sources", "x", "--top-k", "0"),
            ("explain", "--question", QUESTION, "--sources", "x", "--top-k", "many"),
            ("explain", "--question", QUESTION, "--sources", "x", "--concurrency", "0"),
            ("explain", "--question", QUESTION, "--sources", "x", "--max-replays", "0"),
            ("explain", "--question", QUESTION, "--sources", "x", "--temperature", "-1"),
        ],
        ids=" ".join,
    )
    def test_unknown_commands_options_and_values(
        self, rag_rules: RagRules, arguments: tuple[str, ...]
    ) -> None:
        assert_refused(rag_rules(*arguments), ". See rag-rules --help.")
