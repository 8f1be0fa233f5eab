"""This module finds which objects code seems to change, by the names of the methods that it calls. It
matters for objects of libraries alone whose content is not known."""

import re
from collections.abc import Collection, Iterator, Sequence
from dis import Instruction
from itertools import pairwise

_BY_METHOD = ("LOAD_ATTR", "LOAD_METHOD")
_OF_COLLECTIONS = "append|add|insert|extend|put|push|[lr]push|set|update|pop|clear|remove|incr|increment"
_OF_STORES = "upsert|write|save|store|delete|commit|register|record|enqueue|putpixel|paste|draw"
_ENDING = r"(_.*|[A-Z].*)?$"
_CHANGING = re.compile(f"({_OF_COLLECTIONS}|{_OF_STORES}){_ENDING}")
_STORING = re.compile(f"({_OF_STORES}){_ENDING}|({_OF_COLLECTIONS})(_.+|[A-Z].+)$")
"""The names of methods that no list, dict or set has, so that they are those of another object."""
_SQL = re.compile(r"\b(insert|update|delete|create|drop|alter|replace|merge|truncate)\b", re.IGNORECASE)
_WITH_SQL = frozenset({"execute", "executemany", "executescript", "sql", "query", "run", "exec"})


def names_changed(steps: Sequence[Instruction], of_names: Collection[str]) -> Iterator[str]:
    """Yields the names of objects that code seems to change: it sets a part of them, or calls a method
    of them with a name such as ``add_note``. If it stores something by an object without a name, such as
    a session that it has opened, any object that it names may be changed. ``of_names``: the instructions
    that load an object by its name."""
    is_storing = _stores(steps, of_names)
    for before, step in pairwise(steps):
        is_change = step.opname == "STORE_ATTR" or (step.opname in _BY_METHOD and _seems(step.argval))
        if before.opname in of_names and (is_change or is_storing):
            yield str(before.argval)
    for before, step in zip(steps, steps[2:], strict=False):
        if before.opname in of_names and step.opname == "STORE_SUBSCR":
            yield str(before.argval)


def _seems(name: str) -> bool:
    return _CHANGING.match(name) is not None


def _stores(steps: Sequence[Instruction], of_names: Collection[str]) -> bool:
    """Returns True iff code calls a method to store something, or with SQL that changes something, of an
    object without a name."""
    texts = (
        each.argval for each in steps if isinstance(each.argval, str) and each.opname == "LOAD_CONST"
    )
    has_sql = any(map(_SQL.search, texts))
    unnamed = (
        step.argval
        for before, step in pairwise(steps)
        if step.opname in _BY_METHOD and before.opname not in of_names
    )
    return any(_STORING.match(each) or (has_sql and each in _WITH_SQL) for each in unnamed)
