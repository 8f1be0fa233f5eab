"""This module parses Python's source texts, one at a time."""

import ast
import threading

# CPython 3.11 counts in one number how deep the trees are that all threads build, and raises SystemError
# if another thread has changed it. Parsing may run finalizers that parse, so the lock is reentrant.
_PARSING = threading.RLock()


def syntax_tree(source: str) -> ast.Module:
    """Returns the syntax tree of a source text. Raises SyntaxError or ValueError if it has none."""
    with _PARSING:
        try:
            return ast.parse(source)
        except SystemError:
            # The application itself was parsing in another thread.
            return ast.parse(source)
