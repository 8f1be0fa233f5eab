"""An explanation is written into a file, and read from one, whatever else the file may hold."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_rule_explainer import Explanation, InvalidInput, load
from rag_rule_explainer.report import FORMS
from rag_rule_explainer.report.loading import EMBEDDED
from rag_rule_explainer.report.saving import write_whole
from tests.report.test_text import explained, forged_explanation, hostile_explanation, yes_if

EARLIER = sorted((Path(__file__).parent / "version_1").glob("*.json"))
BAD = ("[", "{", "[]", "null", '"text"', "{}", '{"schema_version": 99}', "[" * 100_000, "\x00", "1e999")


def in_html(json: str, before: str = "", after: str = "</script></body></html>") -> str:
    return f"<!doctype html><html><body>{before}{EMBEDDED}{json}{after}"


@pytest.mark.parametrize("suffix", [suffix for form in FORMS.values() for suffix in form.suffixes])
def test_the_suffix_names_the_form(tmp_path: Path, suffix: str) -> None:
    explanation = explained(yes_if("D1"))
    (form,) = (form for form in FORMS.values() if suffix in form.suffixes)
    for name in (f"a{suffix}", f"a.b{suffix.upper()}"):
        explanation.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == form.written(explanation).encode()


@pytest.mark.parametrize("make", [hostile_explanation, forged_explanation, lambda: explained(yes_if())])
def test_what_was_saved_is_read_again(tmp_path: Path, make: Callable[[], Explanation]) -> None:
    explanation = make()
    explanation.save(str(tmp_path / "a.json"))
    assert load(str(tmp_path / "a.json")) == explanation


@pytest.mark.parametrize("name", ["a", "a.pdf", ".json"])
def test_a_name_without_a_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"no suffix of a form; give a name with one of \.txt, "):
        explained(yes_if("D1")).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


class TestWriting:
    def test_an_old_file_is_replaced_and_stays_as_open_as_it_was(self, tmp_path: Path) -> None:
        file = tmp_path / "a.json"
        file.write_text("something much longer than what comes")
        file.chmod(0o640)
        write_whole(file, "new\n")
        assert file.read_text() == "new\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        assert [each.name for each in tmp_path.iterdir()] == ["a.json"]

    def test_a_new_file_is_as_open_as_others(self, tmp_path: Path) -> None:
        (tmp_path / "other").write_text("")
        write_whole(tmp_path / "a", "")
        assert (tmp_path / "a").stat().st_mode == (tmp_path / "other").stat().st_mode

    def test_a_link_stays_one(self, tmp_path: Path) -> None:
        (tmp_path / "to").write_text("old")
        (tmp_path / "link").symlink_to("to")
        write_whole(tmp_path / "link", "new")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "to").read_text() == "new"

    def test_what_cannot_be_replaced_is_written_to(self) -> None:
        write_whole(Path(os.devnull), "new")
        assert not Path(os.devnull).is_file()

    def test_what_fails_leaves_the_old_file(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_text("old")
        with pytest.raises(InvalidInput, match="cannot be written"):
            write_whole(file, "new \ud800")
        assert file.read_text() == "old"
        assert len(list(tmp_path.iterdir())) == 1

    @pytest.mark.parametrize("name", ["", "no/such/folder.json", "a\0.json", "x" * 300 + ".json"])
    def test_a_place_that_is_none_is_told(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(InvalidInput, match=r"cannot be written: .*; give another file"):
            write_whole(tmp_path / name, "new")
        assert not list(tmp_path.iterdir())


class TestReading:
    @pytest.mark.parametrize("file", EARLIER, ids=lambda file: file.stem)
    def test_the_version_before(self, file: Path) -> None:
        told = json.loads(file.read_text())
        assert told["schema_version"] == 1
        found = load(file)
        assert [rule.sources for rule in found.retention_rules] == [
            tuple(rule["sources"]) for rule in told["retention_rules"]
        ]
        for form in FORMS.values():
            assert form.written(found)
        assert Explanation.model_validate_json(found.to_json()) == found

    @pytest.mark.parametrize("make", [hostile_explanation, forged_explanation])
    def test_html(self, tmp_path: Path, make: Callable[[], Explanation]) -> None:
        explanation = make()
        escaped = json.dumps(explanation.model_dump(mode="json")).replace("<", "\\u003c")
        before = f"<p>{EMBEDDED.replace('<', '&lt;')}</p>"
        for html in (in_html(escaped, before), "\ufeff\n " + in_html(f"\n{escaped}\n", before)):
            (tmp_path / "a.html").write_text(html, encoding="utf-8")
            assert load(tmp_path / "a.html") == explanation

    @pytest.mark.parametrize("content", BAD)
    def test_hostile_files_are_one_clear_error(self, tmp_path: Path, content: str) -> None:
        for written in (content, in_html(content), in_html(content, before=EMBEDDED), f"\ufeff{content}"):
            (tmp_path / "a").write_text(written, encoding="utf-8")
            with pytest.raises(InvalidInput, match=r"^\S+/a: .*; give a file that ") as error:
                load(tmp_path / "a")
            assert len(str(error.value)) < 600

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("<html></html>", "this HTML has no explanation in it"),
            (f"<html>{EMBEDDED}{{}}", "this HTML has no explanation in it"),
            (in_html('{"a": "<b>"}'), "the explanation in this HTML was changed"),
        ],
    )
    def test_html_of_others(self, tmp_path: Path, content: str, said: str) -> None:
        (tmp_path / "a.html").write_text(content)
        with pytest.raises(InvalidInput, match=said):
            load(tmp_path / "a.html")

    def test_a_file_that_is_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(InvalidInput, match="there is no "):
            load(tmp_path / "none.json")
        with pytest.raises(InvalidInput, match="cannot be read: Is a directory"):
            load(tmp_path)
        with pytest.raises(InvalidInput, match="load was given None; give the path of a file"):
            load(None)  # pyright: ignore[reportArgumentType] -- a mistake, on purpose
        monkeypatch.setattr("rag_rule_explainer.report.loading.MOST_BYTES", 1 << 20)
        with pytest.raises(InvalidInput, match="is larger than 1 MiB"):
            load("/dev/zero")
