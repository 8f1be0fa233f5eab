"""How the package is laid out: what its root holds, and what integrations may use of it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PACKAGE = HERE / "rag_rule_explainer"
INTEGRATIONS = sorted(HERE.glob("integrations/*/*_rag_rule_explainer"))
OPEN_TO_INTEGRATIONS = ("instrumentation", "predicates", "allowed", "errors", "testing")
"""Rooms that an integration may use, beside the names of the package itself."""


def imported_by(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            if node.module == PACKAGE.name:
                yield from (
                    f"{node.module}.{alias.name}"
                    for alias in node.names
                    if (PACKAGE / alias.name).is_dir() or (PACKAGE / f"{alias.name}.py").is_file()
                )


def test_the_root_reads_as_a_table_of_contents() -> None:
    modules = list(PACKAGE.glob("*.py"))
    folders = [each for each in PACKAGE.iterdir() if (each / "__init__.py").is_file()]
    assert len(modules) <= 15
    assert len(folders) <= 15


@pytest.mark.parametrize("integration", INTEGRATIONS, ids=lambda path: path.name)
def test_an_integration_uses_what_is_open_to_integrations_alone(integration: Path) -> None:
    used = {
        name
        for file in integration.rglob("*.py")
        for name in imported_by(file)
        if name.startswith(f"{PACKAGE.name}.")
    }
    assert used
    closed = {name for name in used if name.split(".")[1] not in OPEN_TO_INTEGRATIONS}
    assert not closed


@pytest.mark.parametrize("integration", INTEGRATIONS, ids=lambda path: path.name)
def test_integrations_do_not_know_each_other(integration: Path) -> None:
    others = tuple(each.name for each in INTEGRATIONS if each != integration)
    used = {name for file in integration.rglob("*.py") for name in imported_by(file)}
    assert not {name for name in used if name.startswith(others)}
