"""What a package page shows, and the small files that stand beside the README."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from rag_rule_explainer import __version__
from tests.documentation.reading import grade

ROOT = Path(__file__).parents[1]
BESIDE = ("CONTRIBUTING.md", "SECURITY.md", "llms.txt")
# Before Python 3.11, pytest brings it under its first name.
toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


class TestChangelog:
    def test_its_headings_are_those_of_keep_a_changelog(self) -> None:
        releases = re.findall(r"^## (.*)$", read("CHANGELOG.md"), re.MULTILINE)
        assert releases[0] == "[Unreleased]"
        assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in releases[1:])
        assert set(re.findall(r"^### (.*)$", read("CHANGELOG.md"), re.MULTILINE)) <= {
            *("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
        }

    def test_its_newest_release_is_this_version(self) -> None:
        newest = re.findall(r"^## \[(\d[^\]]*)\]", read("CHANGELOG.md"), re.MULTILINE)[0]
        assert newest == __version__


def test_the_classifiers_exist_and_say_which_pythons_are_tested() -> None:
    listed = toml.loads(read("pyproject.toml"))["project"]["classifiers"]
    assert len(listed) == len(set(listed)) >= 18
    versions = {each.rpartition(" ")[2] for each in listed if re.search(r"Python :: 3\.\d", each)}
    assert versions == {"3.10", "3.11", "3.12", "3.13"}
    assert not set(listed) - set(import_module("trove_classifiers").classifiers)


@pytest.mark.parametrize("name", BESIDE)
def test_every_link_leads_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", read(name))
    assert [each for each in links if not (ROOT / each).exists()] == []


@pytest.mark.parametrize("name", BESIDE)
def test_it_is_easy_to_read(name: str) -> None:
    assert grade(read(name)) <= 11


def test_every_make_target_named_exists() -> None:
    for target in re.findall(r"`make (\w+)`", read("CONTRIBUTING.md")):
        assert re.search(rf"^{target}:", read("Makefile"), re.MULTILINE), target


def test_every_page_to_read_is_listed_for_models() -> None:
    listed = set(re.findall(r"\]\(([^)]+)\)", read("llms.txt")))
    written = {
        f"docs/{each.relative_to(ROOT / 'docs').as_posix()}" for each in (ROOT / "docs").rglob("*.md")
    }
    to_read = r"tutorials/|(how-to|gallery)/(?!index)|explanation/"
    wanted = {each for each in written if re.search(to_read, each)}
    assert wanted <= listed


@pytest.mark.waits
@pytest.mark.slow
def test_a_package_page_renders_the_readme(tmp_path: Path) -> None:
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ROOT]
    subprocess.run(wheel, check=True)
    (made,) = tmp_path.glob("*.whl")
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", made],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
