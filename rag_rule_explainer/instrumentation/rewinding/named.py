"""This module finds what code refers to by its names: objects, handlers of loggers, and the globals that
a function sets."""

import dis
import logging
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, ModuleType
from typing import Any

from .companies import is_of_own


def named_by(names: frozenset[str], held: dict[str, Any]) -> Iterator[Any]:
    """Yields each object to which one of these names may refer in code: a global, a module, or an
    attribute of a module. ``held``: the globals."""
    for name in names:
        for each in (held.get(name), sys.modules.get(name)):
            yield each
            if isinstance(each, ModuleType):
                yield from (vars(each)[name] for name in names & vars(each).keys())


def own_of_loggers() -> Iterator[Any]:
    """Yields the handlers and filters of loggers, if their classes are the user's own."""
    for logger in (logging.root, *list(logging.root.manager.loggerDict.values())):
        if isinstance(logger, logging.Logger):
            yield from (each for each in (*logger.handlers, *logger.filters) if is_of_own(each))


@cache
def globals_set_in(code: CodeType) -> frozenset[str]:
    """Returns the names of the globals that the code sets."""
    return frozenset(
        str(each.argval) for each in dis.get_instructions(code) if each.opname == "STORE_GLOBAL"
    )
