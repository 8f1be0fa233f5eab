"""This module finds the names of the user's functions that called a search, directly or indirectly.
Messages give these names, because the user may wrap one of the functions in ``gate(...)``."""

import inspect
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

_OTHERS = tuple(
    {str(Path(path)) for name, path in sysconfig.get_paths().items() if name.endswith(("lib", "stdlib"))}
)
_OWN = "rag_rule_explainer"
_MOST = 12
"""The maximum number of functions that are named. If there are more, those nearest to the search are
named."""


def callers() -> tuple[str, ...]:
    """Returns the names of the user's functions on the call stack, the innermost first. Functions of
    libraries are left out."""
    named: list[str] = []
    for frame in _frames(inspect.currentframe()):
        code = frame.f_code
        module = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if module.endswith(_OWN) or code.co_filename.startswith(("<", *_OTHERS)):
            continue
        name = getattr(code, "co_qualname", code.co_name).rsplit("<locals>.", 1)[-1]
        # Code with a name such as "<module>" or "<listcomp>" is not named, because the user cannot wrap
        # it in ``gate``.
        if name.startswith("<") and name != "<lambda>":
            continue
        function = "a lambda" if name == "<lambda>" else f"{name}()"
        named.append(f"{function} ({Path(code.co_filename).name}, line {code.co_firstlineno})")
        if len(named) == _MOST:
            break
    return tuple(named)


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
