"""The tree of a function's code is that of the lines that ``inspect`` finds, without its search."""

import ast
import inspect
import sys
import textwrap
import zipfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from rag_rule_explainer.instrumentation.shared_state.code import tree_of


def passed_on(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def passing(*args: Any) -> Any:
        return function(*args)

    return passing


@passed_on
@passed_on
def decorated(names: list[str]) -> list[str]:
    return [
        name.upper()
        for name in names
        if name
    ]  # fmt: skip


async def awaited() -> None:
    """It waits for nothing."""


class Held:
    def method(self) -> str:
        return f"""
a text {self}
"""


BY_KEY: dict[str, Callable[[int], int]] = {
    "first": lambda key: key + 1,
    "second": (
        lambda key: key
        + 2
    ),
}  # fmt: skip


def outer() -> Callable[[], int]:
    def inner() -> int:
        return 1

    return inner


def code_in(code: CodeType) -> list[CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [code, *(deep for each in inner for deep in code_in(each))]


FUNCTIONS: list[Any] = [awaited, Held.method, outer, outer(), *BY_KEY.values()]
CODES = [*code_in(inspect.unwrap(decorated).__code__), *(each.__code__ for each in FUNCTIONS)]


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.co_name)
def test_the_lines_are_those_that_inspect_finds(code: CodeType) -> None:
    try:
        expected = ast.dump(ast.parse(textwrap.dedent(inspect.getsource(code))), include_attributes=True)
    except SyntaxError:
        expected = ""
    tree = tree_of(code)
    assert (ast.dump(tree, include_attributes=True) if tree else "") == expected


def test_code_of_a_text_has_no_tree() -> None:
    names: dict[str, Any] = {}
    exec("def made():\n    return 1", names)  # noqa: S102 -- such code has no lines anywhere
    assert tree_of(names["made"].__code__) is None


def test_what_only_a_loader_can_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.writestr("packed_away.py", "def told():\n    return 1\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packed.zip"), *sys.path])
    module = __import__("packed_away")
    tree = tree_of(module.told.__code__)
    del sys.modules["packed_away"]
    assert tree is not None
    assert ast.unparse(tree) == "def told():\n    return 1"
