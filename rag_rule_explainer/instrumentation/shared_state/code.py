"""This module reads the code of an application's own functions without running it."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

from .contents import is_collection, is_of_user
from .held import Held
from .holdings import Holdings
from .parsing import syntax_tree


def users_functions(holdings: Holdings) -> Iterator[tuple[Held, FunctionType]]:
    """Yields the user's functions in an application, each with its ``Held``, which says where it was
    found."""
    for held in holdings.all:
        if isinstance(held.thing, FunctionType) and is_of_user(held.thing):
            yield held, held.thing


@lru_cache(maxsize=512)
def tree_of(code: CodeType) -> ast.AST | None:
    """Returns the syntax tree of a function's code; None if its source is not available."""
    try:
        return syntax_tree(textwrap.dedent(inspect.getsource(code)))
    # The line that defines a lambda need not be a whole statement, so it may not parse.
    except (OSError, TypeError, SyntaxError):
        return None


def kept_by_defaults(function: FunctionType) -> Iterator[str]:
    """Yields the names of the parameters whose default value is a collection. All calls share that
    collection, so what one run adds to it stays there."""
    code, defaults = function.__code__, function.__defaults__ or ()
    known = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    yield from (
        name
        for name, value in (*zip(known, defaults, strict=True), *(function.__kwdefaults__ or {}).items())
        if is_collection(value)
    )
