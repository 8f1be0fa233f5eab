"""Bad input ends in one line that says what to do."""

import re
import sys
from pathlib import Path

import pytest

from tests.cli.runs import QUESTION, RagRules, Run, assert_refused, folder, jsonl


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
            ('{"id": "x"}', "there is no text: it has 'id'; call the text one of text, page_content"),
            ('{"text": null}', "text: Input should be a valid string"),
            ('{"text": "x", "id": 7.5}', "id: Input should be a valid string"),
            ('{"text": "x", "id": true}', "id: Input should be a valid string"),
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
        said = "s.jsonl, line 2: the id 'a' is that of line 1 as well; give each its own"
        assert_refused(explaining(file), said)
        assert_refused(explaining(file, "--top-k", 1), said)

    def test_no_sources(self, explaining: RagRules, tmp_path: Path) -> None:
        empty = tmp_path / "empty.jsonl"
        empty.write_text("\n\n", encoding="utf-8")
        assert_refused(explaining(empty), "holds no sources", "give a .jsonl file")
        directory = folder(tmp_path / "d", {"picture.png": ""})
        assert_refused(explaining(directory), "holds no sources", "folder of .txt or .md")

    def test_more_sources_than_an_exact_search_takes(self, explaining: RagRules, tmp_path: Path) -> None:
        file = jsonl(tmp_path / "s.jsonl", *({"text": f"text {n}"} for n in range(21)))
        for miner in ("exact", "exhaustive"):
            run = explaining(file, "--miner", miner)
            assert_refused(run, "21 sources", "at most 20", "sampled", "top-k")

    def test_pinned_ids_that_are_no_sources(self, explaining: RagRules, sources: Path) -> None:
        run = explaining(sources, "--pinned", "a,b,c,d")
        assert_refused(run, "pinned names 'a', 'b', 'c', 'd', which is no source")

    def test_ids_that_are_pinned_twice_count_once(self, explaining: RagRules, sources: Path) -> None:
        run = explaining(sources, "--pinned", "menu,menu", "--pinned", "menu,menu")
        assert "exact (2 sources, at most 4 probes)" in run.out

    @pytest.mark.parametrize("option", [("--base-url", "http://127.0.0.1:1"), ("--temperature", 0.5)])
    def test_what_is_for_a_model_only(
        self, explaining: RagRules, rag_rules: RagRules, sources: Path, option: tuple[object, ...]
    ) -> None:
        assert_refused(explaining(sources, *option), str(option[0]), "goes with --model only")
        run = rag_rules("explain", "--question", QUESTION, "--app", "json:dumps", *option)
        assert_refused(run, str(option[0]), "does not go with --app")

    def test_a_baseline_that_is_not_there(self, explaining: RagRules, sources: Path) -> None:
        run = explaining(sources, "--baseline", "nowhere.json")
        assert_refused(run, "there is no nowhere.json", "give a JSON object like")

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
        ("written", "said"),
        [
            ("json-path:$.a[", "is not a JSON path: "),
            ("json-path:a=mg", "is not a JSON path: "),
            ("calls:send:to", "is no condition on an argument; write ARG=VALUE, or ARG~TEXT"),
            ("calls-at-most:few", "is no number of calls; write calls-at-most:3"),
            ("calls-at-least:two", "write calls-at-least:3, or, for one tool, calls-at-least:3:search"),
            ("calls:pay:n=2&n=3", "has two conditions on the argument 'n'; give one"),
            ("calls-in-order:search", "calls_in_order needs at least two tools"),
            ("same-answer:80", "such as 0.8"),
            ("refuses:x", "write [not:]contains"),
            ("cites: ", "give the id of a source"),
        ],
    )
    def test_a_bad_predicate(self, explaining: RagRules, sources: Path, written: str, said: str) -> None:
        assert_refused(explaining(sources, "--predicate", written), said)

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
        run = rag_rules(*arguments)
        assert_refused(run)
        # An option without its value is told of before there is a command that it is of.
        assert re.search(r"\. See rag-rules( demo| explain)? --help\.$", run.err.strip())

    def test_without_a_question_or_anything_to_explain_by(self, rag_rules: RagRules) -> None:
        assert_refused(rag_rules("explain"), "give one with --question")
        assert_refused(rag_rules("explain", "--question", QUESTION), "--sources", "--app", "--baseline")
