"""A company's package that is installed is as good as the user's own; what an index has is not."""

import itertools
import sys
from collections.abc import Callable
from importlib import import_module, invalidate_caches
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.rewinding import companies
from rag_rule_explainer.instrumentation.rewinding.companies import is_own
from rag_rule_explainer.instrumentation.rewinding.rewinding import Rewinding

GUARD = """
import enum
class Mode(enum.Enum):
    CALM = 1
    ALERT = 2
class Guard:
    heated = False
    def __init__(self):
        self.mode = Mode.CALM
        self.inner = Deeper(Deeper(Deeper(None)))
    def alert(self):
        self.mode, Guard.heated, self.inner.inner.inner.hot = Mode.ALERT, True, True
    def state(self):
        return self.mode.name, Guard.heated, self.inner.inner.inner.hot
class Deeper:
    def __init__(self, inner):
        self.inner, self.hot = inner, False
"""
Install = Callable[..., ModuleType]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a package of another name each time, and loads it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    numbers = itertools.count()

    def installed(code: str = GUARD, metadata: str | None = None, **files: str) -> ModuleType:
        name = f"rag_rule_test_{tmp_path.name}_{next(numbers)}"
        (folder / f"{name}.py").write_text(code)
        if metadata is not None:
            notes = folder / f"{name}-1.0.dist-info"
            notes.mkdir()
            (notes / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{metadata}"
            )
            for file, text in files.items():
                (notes / file.replace("_url", "_url.json")).write_text(text)
        invalidate_caches()
        monkeypatch.setitem(sys.modules, name, import_module(name))
        return sys.modules[name]

    return installed


def test_what_a_companys_package_holds_is_put_back(install: Install) -> None:
    guard: Any = install().Guard()
    kept = Rewinding(lambda: guard.state(), lambda _: False, tuple)
    guard.alert()
    assert kept.is_useful()
    with kept.earlier():
        assert guard.state() == ("CALM", False, False)
    assert guard.state() == ("ALERT", True, True)


def test_a_package_is_a_companys_where_no_index_has_it(install: Install) -> None:
    link = '{"url": "file:///builds/guard"}'
    assert is_own(install().__name__)
    assert is_own(install(metadata="", direct_url=link).__name__)
    assert is_own(install(metadata="Classifier: Private :: Do Not Upload\n").__name__)
    assert is_own(install("from langchain_core.runnables import Runnable", metadata="").__name__)
    assert not is_own(install(metadata="").__name__)
    assert not is_own(install(metadata="", direct_url=link, INSTALLER="conda\n").__name__)
    assert not is_own(install(metadata="", direct_url="no json").__name__)


@pytest.mark.parametrize("name", ["json", "pydantic", "numpy", "langchain_core.runnables", "pytest"])
def test_libraries_and_frameworks_are_nobodys_own(name: str) -> None:
    import_module(name)
    assert not is_own(name)


def test_each_package_is_found_in_the_distribution_that_python_finds_for_it() -> None:
    found = {package: each.metadata["Name"] for package, each in vars(companies)["_by_package"]().items()}
    known = {package: names[0] for package, names in packages_distributions().items()}
    assert "yaml" in known, "it is installed by PyYAML, so a name is no guess"
    assert {package: found[package] for package in known.keys() & found} == {
        package: known[package] for package in known.keys() & found
    }
    # Newer Pythons also name folders of data, in which there is nothing to import.
    missing = [find_spec(package) for package in known.keys() - found]
    assert [each.name for each in missing if each is not None and each.origin is not None] == []


LAZY = """
class Lazy:
    asked = []
    @property
    def __class__(self):
        Lazy.asked.append(self)
        return type(self)
client = Lazy()
"""


def test_what_a_package_loads_when_it_is_asked_for_its_class_is_not_loaded(install: Install) -> None:
    module: Any = install(LAZY, "")
    assert not is_own(module.__name__)
    assert not module.Lazy.asked
