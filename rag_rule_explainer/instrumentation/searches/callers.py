"""Which functions of the user's a search is made in: those are what can be put into a gate."""

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
"""Functions, the innermost ones."""


def callers() -> tuple[str, ...]:
    """Returns the functions that the caller runs in, the innermost first, without those of libraries."""
    named: list[str] = []
    for frame in _frames(inspect.currentframe()):
        code = frame.f_code
        module = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if module.endswith(_OWN) or code.co_filename.startswith(("<", *_OTHERS)):
            continue
        name = getattr(code, "co_qualname", code.co_name).rsplit("<locals>.", 1)[-1]
        if name.startswith("<") and name != "<lambda>":  # a module, a comprehension
            continue
        told = "a lambda" if name == "<lambda>" else f"{name}()"
        named.append(f"{told} ({Path(code.co_filename).name}, line {code.co_firstlineno})")
        if len(named) == _MOST:
            break
    return tuple(named)


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
