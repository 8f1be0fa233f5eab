"""The files that the arguments of a process name, and those that its shell writes."""

from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.shared_state.arguments import (
    files_named_in,
    files_written_in,
    goes_by_times,
    matches_names,
)


def named(given: Any, folder: str | None = None, environment: Any = None) -> set[str]:
    return {*files_named_in(given, folder, environment)}


@pytest.mark.parametrize(
    "given",
    [
        ["sh", "-c", "cat /notes/mode 2>/dev/null"],
        ["sh", "-c", "test -s '/notes/mode' && echo yes"],
        'cat "/notes/mode"',
        b"wc -l </notes/mode",
        ["python", "-c", "print(open('/notes/mode').read())"],
        ["tool", Path("/notes/mode")],
        ["tool", "--file=/notes/mode"],
    ],
)
def test_a_file_is_found_in_a_command(given: Any) -> None:
    assert "/notes/mode" in named(given)


def test_variables_of_the_process_are_put_in() -> None:
    assert "/notes/mode" in named('cat "$NOTES/mode"', environment={"NOTES": "/notes"})
    assert "/notes/mode" in named("cat ${NOTES}/mode", environment={b"NOTES": b"/notes"})


def test_names_are_those_in_the_folder_of_the_process(tmp_path: Path) -> None:
    assert str(tmp_path / "mode") in named(["cat", "mode"], str(tmp_path))


def test_a_pattern_stands_for_the_folder_in_which_it_is_matched(tmp_path: Path) -> None:
    """Files that match it later are not there yet."""
    assert str(tmp_path) in named("cat *.txt", str(tmp_path))
    assert str(tmp_path / "notes") in named("cat notes/*/mode", str(tmp_path))
    assert "/notes" in named(["python", "-c", "import glob; print(glob.glob('/notes/*'))"])
    assert str(tmp_path) not in named(["find", "/notes", "-name", "*.txt"], str(tmp_path))


def test_a_pattern_that_begins_with_letters_stands_for_itself(tmp_path: Path) -> None:
    assert str(tmp_path / "part-*.md") in named("cat part-*.md", str(tmp_path))
    assert not any("*" in each for each in named(["find", "-name", "part-*.md"], str(tmp_path)))
    assert matches_names("echo part-*")
    assert matches_names(["/bin/sh", "-c", "echo part-?"])
    assert not matches_names(["echo", "part-*"])


def test_names_may_begin_in_each_folder_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "app" / "below").mkdir(parents=True)
    below = tmp_path / "app" / "below"
    assert str(below / "mode") in named("cd app && cd below && cat mode", str(tmp_path))
    assert str(tmp_path / "mode") in named("cd app; cat ../mode", str(tmp_path))
    assert str(below / "mode") in named(["env", "-C", str(below), "cat", "mode"])


def test_names_with_spaces_and_variables_of_the_text_are_put_together(tmp_path: Path) -> None:
    assert str(tmp_path / "my file") in named("cat 'my file'", str(tmp_path))
    assert str(tmp_path / "my file") in named("cat my\\ file", str(tmp_path))
    assert str(tmp_path / "part-1") in named("F=part; cat $F-1", str(tmp_path))
    assert named("cat 'my file", str(tmp_path))


@pytest.mark.parametrize(
    ("command", "goes"),
    [
        ("ls -l /notes", True),
        (["stat", "-c", "%Y", "/notes"], True),
        ("find . -newer /notes", True),
        ("[ a -nt b ]", True),
        ("ls /notes", False),
        ("cat /notes/mode", False),
        ("find . -name x", False),
    ],
)
def test_commands_that_tell_times_are_known(command: Any, goes: bool) -> None:
    assert goes_by_times(command) is goes


def test_what_a_shell_writes_is_not_what_it_reads() -> None:
    command = "echo two > /notes/mode; echo three >> '/notes/log'"
    assert not {"/notes/mode", "/notes/log"} & named(command)
    assert {*files_written_in(command, None, None)} == {("/notes/mode", False), ("/notes/log", True)}


def test_what_can_be_no_name_is_left_out() -> None:
    assert not named(["-c", "x" * 2000, "a\0b", ""])
    assert not named(None)
