"""What writes the golden files knows the public names alone, so that rooms may move."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PUBLIC = {
    "rag_rule_explainer",
    "rag_rule_explainer.cli",
    "rag_rule_explainer.predicates",
    "rag_rule_explainer.testing",
    "langchain_rag_rule_explainer",
    "llama_index_rag_rule_explainer",
}
PACKAGES = {name.partition(".")[0] for name in PUBLIC}
GENERATOR = [path for path in sorted(Path(__file__).parent.glob("*.py")) if path.name != "conftest.py"]


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("file", GENERATOR, ids=lambda file: file.name)
def test_public_names_alone(file: Path) -> None:
    ours = {name for name in imported(file) if name.partition(".")[0] in PACKAGES}
    assert ours <= PUBLIC
    others = {name for name in imported(file) if name.startswith("tests")}
    assert all(name.startswith("tests.golden") for name in others)
