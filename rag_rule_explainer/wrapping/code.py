"""The code of an application's own functions, read without being run."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

from .holdings import Held, Holdings, is_of_user


def users_functions(holdings: Holdings) -> Iterator[tuple[Held, FunctionType]]:
    """Yields the user's functions among what an application holds, each with how it is held."""
    for held in holdings.all:
        if isinstance(held.thing, FunctionType) and is_of_user(held.thing):
            yield held, held.thing


@lru_cache(maxsize=512)
def tree_of(code: CodeType) -> ast.AST | None:
    """Returns the syntax tree of a function's code; None where its source is not to be had."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):  # of a lambda, the line may be no statement by itself
        return None
