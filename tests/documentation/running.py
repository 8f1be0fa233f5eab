"""How a block is run as a reader would run it: alone, in an empty folder."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.documentation.blocks import Block

IGNORED = ("pip", "make")
"""Programs that are not run: what they are given is looked at."""


def as_reader(monkeypatch: pytest.MonkeyPatch, folder: Path, variables: Mapping[str, str]) -> Path:
    """The empty folder of somebody with a provider: nothing but variables says which one."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    work = folder / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr(sys, "path", [str(work), *sys.path])
    return work


def run(block: Block, folder: Path) -> str:
    """What the block prints, after those that it continues."""
    names: dict[str, Any] = {"__name__": "page"}
    printed = ""
    for each in (*block.before, block):
        if each.saved_as:
            path = folder / each.saved_as
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(each.code, encoding="utf-8")
        printed = _in_python(each, names) if each.language == "python" else _in_bash(each, folder)
    close_all()
    return printed


def _in_python(block: Block, names: dict[str, Any]) -> str:
    out = StringIO()
    with redirect_stdout(out):
        exec(compile(block.code, str(block), "exec"), names)  # noqa: S102 -- our own pages
    return out.getvalue()


def _in_bash(block: Block, folder: Path) -> str:
    env = {
        **os.environ,
        "PATH": f"{programs(folder.with_name('bin'))}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "COLUMNS": "100",
    }
    done = subprocess.run(
        ["bash", "-c", block.code], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode in expected(block), done.stderr
    return done.stdout


def expected(block: Block) -> Sequence[int]:
    """The exit codes that the block's last comment names; 0 where it names none."""
    last = block.code.rstrip().rpartition("\n")[2]
    _, said, code = last.partition("# exit code ")
    return (int(code),) if said else (0,)


def programs(folder: Path) -> Path:
    """A folder with the programs that a reader has after the installation."""
    folder.mkdir(exist_ok=True)
    python = shlex.quote(sys.executable)
    started = {
        "rag-rules": f'exec {python} -m rag_rule_explainer "$@"',
        "python": f'exec {python} "$@"',
        "pytest": f'exec {python} -m pytest "$@"',
        **dict.fromkeys(IGNORED, "exit 0"),
    }
    for name, line in started.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)
    return folder
