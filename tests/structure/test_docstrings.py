"""A docstring begins with a sentence that says what is guaranteed."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest

from tests.structure.product import FILES

A_QUESTION = re.compile(r"(?:How|What|Which|Whether|Where|When|Who|Why)\b")
A_NAME = re.compile(r"(?:An? |The |Those |``\w+``:)")
"""How a text begins that only names something. A function's docstring says what the function does."""


def docstrings(tree: ast.Module) -> Iterator[tuple[ast.AST | None, str]]:
    """All docstrings of a module, each with what it is of: None for an attribute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                yield node, text
            for before, after in pairwise(node.body):
                match before, after:
                    case ast.Assign() | ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(text))):
                        yield None, text
                    case _:
                        pass


def without_a_sentence(tree: ast.Module) -> Iterator[str]:
    for node, text in docstrings(tree):
        is_of_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if A_QUESTION.match(text) or (is_of_function and A_NAME.match(text)):
            yield text.splitlines()[0]


def silent_about_none(tree: ast.Module) -> Iterator[str]:
    """The names of functions that may return None, and whose docstrings do not say when."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.returns is None:
            continue
        text = ast.get_docstring(node)
        if text is None or "None" in text:
            continue
        returned = ast.unparse(node.returns)
        if isinstance(node.returns, ast.Constant):
            returned = str(node.returns.value)
        overrides = any(ast.unparse(each).endswith("override") for each in node.decorator_list)
        if returned.endswith("| None") and not overrides:
            yield node.name


@cache
def trees() -> dict[str, ast.Module]:
    """All of the product by name, parsed once for all that is looked for."""
    return {name: ast.parse(file.read_text()) for name, file in FILES}


def test_docstrings_begin_with_a_sentence() -> None:
    found = {name: list(without_a_sentence(tree)) for name, tree in trees().items()}
    assert not {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('MOST = 8\n"""How often it is tried."""', 1),
        ('MOST = 8\n"""The number of tries."""', 0),
        ('def f():\n    """The id of the source."""', 1),
        ('def f():\n    """Returns the id of the source."""', 0),
        ('class A:\n    """A ``Box`` holds a source."""', 0),
    ],
)
def test_a_sentence_is_recognised(code: str, found: int) -> None:
    assert len(list(without_a_sentence(ast.parse(code)))) == found


def test_docstrings_say_when_none_is_returned() -> None:
    found = {name: list(silent_about_none(tree)) for name, tree in trees().items()}
    assert not {name: functions for name, functions in found.items() if functions}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('def f() -> int | None:\n    """Returns the number."""', 1),
        ('def f() -> "int | None":\n    """Returns the number."""', 1),
        ('def f() -> int | None:\n    """Returns the number; None if it is unknown."""', 0),
        ('@override\ndef f() -> int | None:\n    """Returns the number."""', 0),
        ('def f() -> Callable[[], int | None]:\n    """Returns a function."""', 0),
        ("def f() -> int | None:\n    return None", 0),
    ],
)
def test_a_silent_docstring_is_recognised(code: str, found: int) -> None:
    assert len(list(silent_about_none(ast.parse(code)))) == found
