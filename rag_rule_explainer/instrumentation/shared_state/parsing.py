"""This module parses Python's source texts, never two at the same time."""

import ast
import threading

# CPython 3.11 counts the recursion depth of all threads that parse in one counter. CPython then raises
# SystemError if two threads parse at the same time, so parsing takes this lock. The lock is reentrant,
# because parsing may run finalizers that parse too.
_PARSING = threading.RLock()


def syntax_tree(source: str) -> ast.Module:
    """Returns the syntax tree of a source text. Raises SyntaxError or ValueError if the text is not valid
    Python."""
    with _PARSING:
        try:
            return ast.parse(source)
        except SystemError:
            # The application was parsing in another thread, without this lock. So parsing is tried once
            # more.
            return ast.parse(source)
