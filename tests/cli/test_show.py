"""A saved explanation is shown again, in any form, from JSON and from HTML."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rag_rule_explainer import Explanation, load
from rag_rule_explainer.printable import printable
from rag_rule_explainer.report import FORMS
from tests.cli.runs import RagRules, assert_refused
from tests.report.hostile import hostile_explanations, hostile_texts
from tests.report.test_saving import BAD, EARLIER, in_html
from tests.report.test_text import explained, forged_explanation, hostile_explanation, yes_if

MAKE = (lambda: explained(yes_if("D1", "D2")), hostile_explanation, forged_explanation)


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("saved", ["a.json", "a.html"])
@pytest.mark.parametrize("form", FORMS)
def test_it_shows_what_there_was(
    rag_rules: RagRules, tmp_path: Path, make: Callable[[], Explanation], saved: str, form: str
) -> None:
    explanation = make()
    explanation.save(tmp_path / saved)
    run = rag_rules("show", tmp_path / saved, "--format", form)
    assert (run.code, run.out) == (0, explanation.report(form))
    assert "\x1b" not in run.out + run.err


def test_json_and_html_are_made_of_each_other(rag_rules: RagRules, tmp_path: Path) -> None:
    explanation = hostile_explanation()
    explanation.save(tmp_path / "a.json")
    assert rag_rules("show", tmp_path / "a.json", "--out", tmp_path / "b.html").code == 0
    assert rag_rules("show", tmp_path / "b.html", "--out", tmp_path / "c.json").code == 0
    assert load(tmp_path / "c.json") == load(tmp_path / "b.html") == explanation
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "a.json").read_bytes()


@pytest.mark.parametrize("file", EARLIER, ids=lambda file: file.stem)
def test_one_of_the_version_before(rag_rules: RagRules, file: Path) -> None:
    run = rag_rules("show", file)
    assert (run.code, run.out) == (0, load(file).report())
    assert "  at        not known" in run.out.replace("  at           ", "  at        ")


@pytest.mark.parametrize("content", BAD)
def test_a_hostile_file_is_one_clear_error(rag_rules: RagRules, tmp_path: Path, content: str) -> None:
    for written in (content, in_html(content)):
        (tmp_path / "a").write_text(written, encoding="utf-8")
        assert_refused(rag_rules("show", tmp_path / "a"), "give a file that explanation.save(...) or ")


def test_what_is_no_file(rag_rules: RagRules, tmp_path: Path) -> None:
    assert_refused(rag_rules("show", tmp_path / "none"), "there is no ", "rag-rules explain --json")
    assert_refused(rag_rules("show"), "Missing argument 'FILE'", "See rag-rules show --help")


@pytest.mark.spread(fast=3)
@pytest.mark.parametrize("form", FORMS)
def test_nothing_raw_comes_out_of_the_command_line(
    rag_rules: RagRules, tmp_path: Path, form: str
) -> None:
    for number, explanation in enumerate(hostile_explanations(hostile_texts()[::16])):
        file = tmp_path / f"{number}.json"
        explanation.save(file)
        assert load(file) == explanation
        run = rag_rules("show", file, "--format", form)
        assert run.code == 0
        for line in (run.out + run.err).split("\n"):
            assert not {*line} & {chr(code) for code in (*range(32), *range(127, 160))} - {"\t"}
            if form != "html":
                assert line == printable(line)
