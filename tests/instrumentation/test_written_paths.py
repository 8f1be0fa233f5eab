"""Tests that a file counts as written in a run iff it was written after the run began."""

from pathlib import Path

from rag_rule_explainer.instrumentation.comparable import Unreadable
from rag_rule_explainer.instrumentation.reads_and_writes.file_reads import KnownFiles, RunFiles
from rag_rule_explainer.instrumentation.reads_and_writes.written_paths import path_content, time_of_files


def _known(begun: float, *written: str) -> KnownFiles:
    files = RunFiles({each: {""} for each in written})
    return KnownFiles(files, files, begun)


def test_a_file_that_was_written_right_before_the_run_is_not_of_the_run(tmp_path: Path) -> None:
    for number in range(5):
        log = tmp_path / f"{number}.log"
        log.write_text("begun", encoding="utf-8")

        assert path_content(log, _known(time_of_files())) is None


def test_a_file_that_was_written_right_after_the_run_began_is_of_the_run(tmp_path: Path) -> None:
    for number in range(5):
        log, begun = tmp_path / f"{number}.log", time_of_files()
        log.write_text("begun", encoding="utf-8")

        assert isinstance(path_content(log, _known(begun)), Unreadable)


def test_the_content_of_a_file_counts_where_the_run_is_known_to_have_written_it(tmp_path: Path) -> None:
    begun, one, other = time_of_files(), tmp_path / "one", tmp_path / "other"
    one.write_text("same", encoding="utf-8")
    other.write_text("same", encoding="utf-8")
    known = _known(begun, str(one), str(other))

    assert path_content(one, known) == path_content(other, known) != path_content(tmp_path, known)
    other.write_text("new", encoding="utf-8")
    assert path_content(one, known) != path_content(other, known)
