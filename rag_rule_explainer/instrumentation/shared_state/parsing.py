"""This module parses Python's source texts, one at a time."""

import ast
import threading

# CPython 3.11 has a single counter of the recursion depth for all threads that parse. It raises
# SystemError if two threads parse at the same time. Parsing may run finalizers that parse too, so the
# lock is reentrant.
_PARSING = threading.RLock()


def syntax_tree(source: str) -> ast.Module:
    """Returns the syntax tree of a source text. Raises SyntaxError or ValueError if the text is not valid
    Python."""
    with _PARSING:
        try:
            return ast.parse(source)
        except SystemError:
            # The application was parsing at the same time in another thread, without this lock.
            return ast.parse(source)
