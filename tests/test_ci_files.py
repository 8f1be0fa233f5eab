"""The workflow and the hook to copy: they are read as YAML, and their commands do what they say."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.report.checks import results_of

pytestmark = pytest.mark.waits

CI = Path(__file__).parents[1] / "docs" / "ci"
APP = """
from langchain_core.documents import Document
from langchain_rag_rule_explainer import lexical_chain

PAY = "The treasurer of the tennis club takes payments {}."
chain = lexical_chain([
    Document(id="corpus/club.md", page_content=PAY.format("in cash")),
    Document(id="corpus/mail.md", page_content=PAY.format("by HASH")),
], k=2)
"""
CHANGED = APP.replace("], k=2)", "], k=2) | (lambda answer: answer.replace('HASH', 'card'))")
QUESTION = "How does the treasurer of the tennis club take payments?"


def read(name: str) -> dict[Any, Any]:
    return yaml.safe_load((CI / name).read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "mail.md").write_text("by HASH")
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "questions.txt").write_text("When?\n")
    (tmp_path / "requirements.txt").write_text("langchain-core\n")
    command = tmp_path / "bin" / "rag-rules"
    command.parent.mkdir()
    started = f'exec {shlex.quote(sys.executable)} -m rag_rule_explainer "$@"'
    command.write_text(f"#!/bin/sh\n{started}\n")
    command.chmod(0o755)
    return tmp_path


def run(command: str, project: Path) -> int:
    env: Mapping[str, str] = {
        **os.environ,
        "PATH": f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(["bash", "-e", "-c", command], cwd=project, env=env, check=False, timeout=200)
    return done.returncode


@pytest.mark.slow
def test_the_workflow_checks_uploads_and_fails_as_it_should(project: Path) -> None:
    workflow = read("github-workflow.yml")
    assert workflow["permissions"]["security-events"] == "write"
    steps = workflow["jobs"]["check"]["steps"]
    (install, check) = (step["run"] for step in steps if "run" in step)
    assert install.startswith('python -m pip install "rag-rule-explainer[')
    uploads = [step for step in steps if "upload" in step.get("uses", "")]
    # A finding fails the check, and is to be seen all the same.
    assert [step["if"] for step in uploads] == ["always()", "always()"]
    assert run(check, project) == 3
    (project / "questions.txt").write_text(f"{QUESTION}\n")
    assert run(check, project) == 1
    (found,) = results_of((project / uploads[0]["with"]["sarif_file"]).read_text())
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "corpus/mail.md"
    assert list((project / uploads[1]["with"]["path"]).iterdir())
    # What was answered before a change of the application decides nothing about it.
    (project / "app.py").write_text(CHANGED)
    assert run(check, project) == 0
    (project / "app.py").write_text(APP)
    assert run(check, project) == 1


def test_the_workflow_keeps_the_answers_whatever_was_found() -> None:
    steps = read("github-workflow.yml")["jobs"]["check"]["steps"]
    (restore, save) = (step for step in steps if "actions/cache" in step.get("uses", ""))
    assert (restore["uses"], save["uses"]) == ("actions/cache/restore@v4", "actions/cache/save@v4")
    assert {key: save["with"][key] for key in ("path", "key")} == {
        key: restore["with"][key] for key in ("path", "key")
    }
    (check,) = (step for step in steps if "rag-rules check" in step.get("run", ""))
    assert save["if"] == "always()"
    assert steps.index(save) > steps.index(check)
    assert f"--store {save['with']['path']} " in check["run"]


@pytest.mark.slow
def test_the_hook_runs_before_a_push_and_fails_as_it_should(project: Path) -> None:
    ((hook,),) = (repo["hooks"] for repo in read("pre-commit-config.yaml")["repos"])
    assert (hook["language"], hook["pass_filenames"], hook["stages"]) == ("system", False, ["pre-push"])
    (project / "questions.txt").write_text(f"{QUESTION}\n")
    # pre-commit splits the line as a shell would, and runs it without a shell.
    entry = shlex.join(shlex.split(hook["entry"]))
    assert run(entry, project) == 1
    (project / "app.py").write_text(CHANGED)
    assert run(entry, project) == 0
