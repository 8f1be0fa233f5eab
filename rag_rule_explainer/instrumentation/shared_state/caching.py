"""This module finds the user's cached functions whose results depend on more than their arguments.

A cache such as ``functools.lru_cache`` keeps results from run to run. If the cached function makes a
search, or reads values that are written during runs, the cached result is wrong in a later run.
"""

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FrameType, FunctionType

from ..copies.guarded_code import own_code
from .code import users_functions
from .contents import is_of_user, names_in
from .held import Held
from .holdings import Holdings
from .sticking import place_of
from .writing import function_label, writes_in

_LRU = type(lru_cache(len))
_MARKS = ("cache", "lru", "memo")
_DEEPEST = 400
"""The largest number of stack frames that are checked to find the frame of a cached function."""


@dataclass(slots=True, eq=False)
class Caches:
    """This class knows the cached functions that an application uses.

    ``searched``: describes the first cached function that ran a search; empty if none did.
    """

    searched: str = ""
    _functions: dict[CodeType, FunctionType] = field(default_factory=dict[CodeType, FunctionType])

    @classmethod
    def among(cls, holdings: Holdings, emptied: Collection[CodeType]) -> "Caches":
        """Returns a ``Caches`` with the cached functions in an application. ``holdings``: the
        application's state. ``emptied``: the code of the cached functions whose cache every run empties
        at its start."""
        functions = [_function_of(each) for each in holdings.all]
        known = {own_code(each): each for each in functions if each is not None}
        return cls(_functions={code: each for code, each in known.items() if code not in emptied})

    def note_search(self) -> None:
        """Records in ``searched`` the cached function that is running now, if any. Must be called at each
        search."""
        if not self._functions or self.searched:
            return
        # ``sys._getframe`` is used because the public ways to read the call stack are too slow for each
        # search.
        frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        for _ in range(_DEEPEST):
            if frame is None:
                return
            function = self._functions.get(frame.f_code)
            if function is not None:
                self.searched = function_label(function)
                return
            frame = frame.f_back

    def going_by_what_is_written(self, holdings: Holdings) -> Iterator[tuple[str, str]]:
        """Yields each cached function that reads a value which is written during runs. Each yielded pair
        is a description of the function and the name of the value."""
        written = {name for each in writes_in(holdings) if (name := place_of(each)[0])}
        functions = {function.__name__: function for _, function in users_functions(holdings)}
        for function in self._functions.values() if written else ():
            for name in sorted(_read_by(function, functions) & written):
                yield function_label(function), name


def _function_of(held: Held) -> FunctionType | None:
    inner = getattr(held.thing, "__dict__", {}).get("__wrapped__")
    if not isinstance(inner, FunctionType) or not is_of_user(inner):
        return None
    thing, kind = held.thing, type(held.thing)
    made_by = own_code(thing).co_filename if isinstance(thing, FunctionType) else kind.__name__
    label = f"{kind.__module__} {made_by}".lower()
    is_cache = kind is _LRU or hasattr(thing, "cache_clear") or any(each in label for each in _MARKS)
    return inner if is_cache else None


def _read_by(function: FunctionType, functions: dict[str, FunctionType]) -> set[str]:
    """Returns the names of the globals, attributes and enclosed variables that are used by the function,
    or by a function that it calls by name. ``functions``: the user's functions by name."""
    names, waiting, seen = set[str](), [function], set[CodeType]()
    while waiting:
        code = own_code(waiting.pop())
        if code in seen:
            continue
        seen.add(code)
        own = {*names_in(code), *code.co_freevars}
        names |= own
        waiting += [functions[each] for each in own & functions.keys()]
    return names
