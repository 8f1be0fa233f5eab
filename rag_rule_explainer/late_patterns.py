"""This module compiles regular expressions when they are first used.

The modules that recognise citations and refusals have about a hundred patterns. Compiling all of them
would take a fifth of the time in which a process starts, and most explanations use only a few patterns.
"""

import re
from typing import Any, cast

from typing_extensions import override


def compiled_late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Returns an object that can be used like the compiled regular expression. ``pattern`` is only
    compiled when an attribute or a method of this object is first used."""
    return cast("re.Pattern[str]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._as_given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # ``copy`` looks up such names; no pattern has them
            raise AttributeError(name)
        found = getattr(self._compiled(), name)
        # From now on, Python finds this attribute on the object and does not call __getattr__ for it.
        setattr(self, name, found)
        return found

    def _compiled(self) -> re.Pattern[str]:
        made = vars(self).get("_made")
        if made is None:
            made = self._made = re.compile(*self._as_given)
        return made

    @override
    def __repr__(self) -> str:
        return repr(self._compiled())
