"""A command may read more than the files that it names; these tests say which commands are known to."""

import sys
from pathlib import Path

import pytest

from rag_rule_explainer.instrumentation.shared_state.commands import Reach, reach_of
from rag_rule_explainer.instrumentation.shared_state.files import Files, Reader
from rag_rule_explainer.instrumentation.shared_state.folders import content_of_folder

HERE = str(Path(__file__).parent)


def reach(*command: str) -> Reach:
    return reach_of(command[0], list(command), HERE)


def reach_of_shell(text: str) -> Reach:
    return reach("/bin/sh", "-c", text)


@pytest.mark.parametrize(
    "text",
    [
        "uname -a",
        "LANG=C uname && date | tr a-z A-Z",
        "for each in a b; do echo $each; done",
        "if [ -f /notes/mode ]; then cat /notes/mode; fi",
        "nice -n 15 timeout 10s wc -l /notes/mode",
        "env LANG=C sort /notes/mode",
        "python -c 'import json, sys; print(json.load(sys.stdin))'",
    ],
)
def test_of_usual_commands_all_is_known(text: str) -> None:
    assert reach_of_shell(text).unknown == ""
    assert reach_of("", text, HERE).unknown == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tool --mode two", "tool"),
        ("cat $(tool)", "sh"),
        ("uname\n/notes/tool", "tool"),
        ("cat `ls`", "sh"),
        ("find . -exec tool {} ;", "find"),
        ("awk 'BEGIN { system(\"tool\") }'", "awk"),
        ("xargs cat", "xargs"),
        (". ./settings.sh", "sh"),
        ("bash tool.sh", "tool.sh"),
        ("echo 'open", "sh"),
        ("python -c 'open(1)'", "python"),
        ("python -c 'import pathlib'", "python"),
        ("python -m tool", "python -m tool"),
        ("python missing.py", "missing.py"),
        ("$TOOL", "$TOOL"),
    ],
)
def test_of_any_other_program_nothing_is_known(text: str, name: str, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.touch()
    assert reach_of_shell(text).unknown == name


def test_a_program_of_the_users_is_unknown_by_whatever_name(tmp_path: Path) -> None:
    tool = tmp_path / "grep"
    tool.write_text("#!/bin/sh\n", encoding="utf-8")
    tool.chmod(0o755)
    assert reach(str(tool), "two", "/notes").unknown == "grep"
    assert reach("grep", "two", HERE).unknown == ""


def test_the_program_counts_and_not_the_name_that_it_is_given() -> None:
    assert reach_of("/notes/tool", ["uname"], HERE).unknown == "tool"


@pytest.mark.parametrize("command", ["ls", "find -name x", "grep -r two", "cd /notes; ls", "ls /notes"])
def test_what_walks_reads_a_folder(command: str) -> None:
    assert reach_of_shell(command).folders in {(HERE,), ("/notes",)}


def test_git_goes_by_its_repository_or_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    below = str(tmp_path / "below")
    assert reach_of("git", ["git", "rev-parse", "HEAD"], below).folders == (str(tmp_path / ".git"),)
    assert reach_of("git", ["git", "status"], below).folders == (str(tmp_path),)
    of_another = reach_of("git", ["git", "-C", below, "-c", "a=b", "log"], HERE)
    assert of_another.folders == (str(tmp_path / ".git"),)


def test_a_script_that_can_change_nothing_is_known(tmp_path: Path) -> None:
    script = tmp_path / "tool.py"
    script.write_text("import sys\nprint(len(sys.stdin.read()))\n", encoding="utf-8")
    assert reach(sys.executable, "-S", str(script)).unknown == ""
    script.write_text("import shelve\n", encoding="utf-8")
    assert reach(sys.executable, "-S", str(script)).unknown == "tool.py"


def test_a_folder_is_as_it_was_until_something_in_it_changes(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    seen = [content_of_folder(str(tmp_path), ())]
    for text in ("one", "two"):
        (tmp_path / "below" / "mode").write_text(text, encoding="utf-8")
        seen.append(content_of_folder(str(tmp_path), ()))
    assert len({*seen}) == 3
    own = {str(tmp_path / "below" / "mode")}
    assert content_of_folder(str(tmp_path), own) == seen[0]


def test_a_folder_that_is_too_large_is_no_reason_to_trust(tmp_path: Path) -> None:
    for number in range(5001):
        (tmp_path / f"{number}").touch()
    files = Files()
    files.searched(str(tmp_path), Reader(1, "all", "the baseline"))
    assert files.carried is not None
    assert "too large to be compared" in files.carried.clause
