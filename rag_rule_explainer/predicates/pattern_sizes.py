"""This module computes the size of a user's regular expression before it is compiled. The library
``regex`` writes out each repetition, so a pattern such as ``.{1000000000}``, perhaps written by an agent,
would fill the memory."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, cast

MOST_PARTS = 100_000
"""The maximum number of parts that a pattern may have after its repetitions are written out. They take
about 30 MB. A pattern with more parts is refused."""
_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def number_of_parts(pattern: str) -> int:
    """Returns the number of characters and groups in a pattern after each repetition is written out. A
    repetition counts with its smallest number of times: three for ``a{3,9}``. Raises ``re.error`` if the
    pattern is not valid."""
    parser = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    return _parts(parser.parse(pattern))


def _parts(given: Any) -> int:
    if isinstance(given, tuple):
        items = cast("tuple[Any, ...]", given)
        if len(items) == 2 and str(items[0]) in _REPEATS:
            least, _, inside = items[1]
            return max(1, int(least)) * _parts(inside)
        return sum(map(_parts, items[1:]))
    if hasattr(given, "__getitem__") and not isinstance(given, str):
        parts = [given[place] for place in range(len(cast("Sequence[Any]", given)))]
        return len(parts) + sum(max(0, _parts(each) - 1) for each in parts)
    return 1
