"""This module reads the code of an application's own functions without running it."""

import ast
import inspect
import linecache
import re
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

from ..copies.guarded_code import own_code
from .contents import is_collection, is_of_user
from .held import Held
from .holdings import Holdings
from .parsing import syntax_tree

_BEGINNING = re.compile(r"\s*(async\s+)?def\s|.*(?<!\w)lambda[:\s]|\s*@")
"""Matches the beginning of a line in which a function may be defined, such as a line with ``def``,
``lambda`` or a decorator."""


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
        return syntax_tree(textwrap.dedent(_source_of(code)))
    # ``_source_of`` returns whole lines. Lines with a lambda may not be complete statements, so parsing
    # may fail.
    except (OSError, TypeError, SyntaxError):
        return None


def _source_of(code: CodeType) -> str:
    """Returns the lines in which code is defined.

    ``inspect.getsource`` returns the same, but is slow: it looks for the file of every loaded module. So
    it is called only if the file of the code cannot be read directly.
    """
    # For all texts that ``exec`` runs, Python uses the file name ``<string>``. For this name, Python 3.13
    # returns the lines of ``python -c``, which would be wrong here.
    if code.co_filename == "<string>":
        raise OSError
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)
    if len(lines) < code.co_firstlineno:
        if code.co_filename.startswith("<"):
            raise OSError  # the code was made from a text, such as a method of a dataclass
        return inspect.getsource(code)
    first = code.co_firstlineno - 1
    while first > 0 and not _BEGINNING.match(lines[first]):
        first -= 1
    return "".join(inspect.getblock(lines[first:]))


def kept_by_defaults(function: FunctionType) -> Iterator[str]:
    """Yields the names of the parameters whose default value is a collection. All calls share this
    collection, so an entry that one run adds is still there in the next run."""
    code, defaults = own_code(function), function.__defaults__ or ()
    known = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    yield from (
        name
        for name, value in (*zip(known, defaults, strict=True), *(function.__kwdefaults__ or {}).items())
        if is_collection(value)
    )
