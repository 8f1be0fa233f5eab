"""Sources as files and folders, and conditions as they are written."""

from pathlib import Path

import pytest

from rag_rule_explainer.cli.conditions import parsed
from rag_rule_explainer.sources import SourceSet
from tests.cli.runs import QUESTION, RagRules, explanation_of, folder, jsonl


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

    def test_a_document_is_named_as_an_explainer_names_it(
        self, rag_rules: RagRules, tmp_path: Path
    ) -> None:
        given = [
            {"page_content": text, "metadata": {"source": source}}
            for text, source in (("one", "leave.md"), ("two", "faq.md"), ("three", "faq.md"))
        ]
        file = jsonl(tmp_path / "s.jsonl", *given)
        run = rag_rules("explain", "--question", QUESTION, "--sources", file, "--json")
        # Two chunks of one file are not told apart by its name.
        assert [source.id for source in explanation_of(run).sources] == ["leave.md", "D2", "D3"]
        assert SourceSet.of(given).ids == ("leave.md", "D2", "D3")

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
            (
                "same-answer:0.9",
                "the answer stays the same (word overlap at least 0.9)",
                "the answer changes (word overlap below 0.9)",
            ),
            ("one-of: 1889 | 1890", "the answer is one of '1889', '1890'", "the answer is none of"),
            ("json-path:$=1889", "the answer's $ is 1889", "the answer's $ is not 1889"),
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
        negated = rag_rules(*given, f"not:{written}", "--yes")
        assert f"  none with this outcome: {opposite}" in negated.out
        assert f"  none with this outcome: {clause}\n" in negated.out
        assert rag_rules(*given, f"not:not:{written}").out == run.out

    @pytest.mark.parametrize(
        ("written", "clause"),
        [
            ("refuses", "the answer is a refusal"),
            ("cites", "the answer's citations are valid"),
            ("cites:plaque", "the answer validly cites 'plaque'"),
            ("mentions:plaque", "the answer mentions 'plaque'"),
            ("json-path:$.a=mg", 'the answer\'s $.a is "mg"'),
            ("json-path:$.a=true", "the answer's $.a is true"),
            ("json-path:$[?@.a=='x=y'].b=c=d", "the answer's $[?@.a=='x=y'].b is \"c=d\""),
            ("json-path:$[?@.a=='x']", "the answer has $[?@.a=='x']"),
        ],
    )
    def test_forms_that_do_not_hold_here(
        self, rag_rules: RagRules, sources: Path, written: str, clause: str
    ) -> None:
        asked = ("explain", "--question", QUESTION, "--sources", sources, "--predicate", written)
        told = rag_rules(*asked)
        assert (told.code, told.out) == (2, "")
        assert "with all sources the condition is not met" in told.err
        assert f"  none with this outcome: {clause}\n" in rag_rules(*asked, "--yes").out

    @pytest.mark.parametrize(
        ("written", "clause"),
        [
            ("calls", "the run calls a tool"),
            (
                "calls:send:to~evil&n=3&text=a&b",
                "the run calls 'send' where to contains 'evil' and n is 3 and text is \"a&b\"",
            ),
            ("next-call:send:to=evil", "the next action calls 'send' where to is \"evil\""),
            ("calls-in-order:search|send", "the run calls 'search', then 'send'"),
            ("calls-at-least:1:send", "the run makes at least 1 tool call of 'send'"),
            ("not:calls-at-most:3", "the run does not make at most 3 tool calls"),
        ],
    )
    def test_conditions_on_tool_calls(self, written: str, clause: str) -> None:
        assert str(parsed(written)) == clause

    def test_tool_calls_that_were_not_recorded_are_not_taken_for_none(
        self, rag_rules: RagRules, sources: Path
    ) -> None:
        run = rag_rules(
            "explain", "--question", QUESTION, "--sources", sources, "--predicate", "not:calls"
        )
        assert "the condition is about tool calls, and those of the baseline were not recorded" in run.out
        assert "whenever" not in run.out

    def test_a_text_may_hold_colons(self, rag_rules: RagRules, sources: Path) -> None:
        run = rag_rules(
            *("explain", "--question", QUESTION, "--sources", sources),
            *("--predicate", "contains:a:b", "--yes"),
        )
        assert "none with this outcome: the answer contains 'a:b'" in run.out

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
