"""This module tells several tools of one name apart, such as those of two agents that hand over to each
other. A call of a replay must not get the result that another tool of this name had in the baseline.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple, cast

_PLAIN: tuple[type, ...] = (str, bytes, int, float, bool, type(None), CodeType)
_DEEPEST = 5
"""The depth to which the parts of a tool are compared: a tool has a function, which another one makes."""


class _Made(NamedTuple):
    """A ``_Made`` holds the parts of a tool. ``stable``: those that are equal in all tools that the same
    code makes of the same values; ``objects``: the ``id()`` of everything else in it."""

    stable: tuple[Any, ...]
    objects: tuple[int, ...]


class _Known(NamedTuple):
    tool: object
    made: _Made


@dataclass(slots=True, eq=False)
class NamedTools:
    """A ``NamedTools`` numbers the tools of each name that a baseline called, and recognises them in
    replays, also if the application makes them anew for each run. Thread-safe.
    """

    _known: dict[str, list[_Known]] = field(default_factory=dict[str, list[_Known]])
    _lasting: set[str] = field(default_factory=set[str])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def note(self, name: str, tool: object) -> int:
        """Returns the number of a tool that the baseline called, counted from 0 among those of its name.
        ``tool``: the tool, or its function; None if it is not known."""
        with self._guard:
            known = self._known.setdefault(name, [])
            found = _number_of(known, tool)
            if found is None:
                known.append(_Known(tool, _made_of(tool)))
            return len(known) - 1 if found is None else found

    def recognised(self, name: str, tool: object) -> int | None:
        """Returns the number of a tool that a replay called. Returns None if the baseline called other
        tools of this name, and this one is none of them, or it is not certain that it is one."""
        with self._guard:
            known = self._known.get(name)
            if not known or tool is None:
                return 0
            if any(each.tool is tool for each in known):
                # The application does not make its tools anew, so any other object is another tool.
                self._lasting.add(name)
            found = _number_of(known, tool)
            if found is not None or name in self._lasting:
                return found
            # A tool that is made anew may hold a new client, by which it cannot be recognised.
            made = _made_of(tool)
            alike = [place for place, each in enumerate(known) if each.made.stable == made.stable]
            return alike[0] if len(alike) == 1 else None


def _number_of(known: Iterable[_Known], tool: object) -> int | None:
    numbered = list(enumerate(known))
    same = [place for place, each in numbered if each.tool is tool]
    if not same:
        made = _made_of(tool)
        same = [place for place, each in numbered if each.made == made]
    return same[0] if same else None


def _made_of(tool: object) -> _Made:
    objects = list[int]()
    return _Made((_stable(tool, objects, 0),), tuple(objects))


def _stable(value: Any, objects: list[int], depth: int) -> Any:
    """Returns what is compared of a value. Adds the ``id()`` of a value of which only its type is."""
    kind = cast("type[Any]", type(value))
    if isinstance(value, _PLAIN):
        return kind, value
    named = cast("type[Any]", value) if isinstance(value, type) else kind
    if (
        "<locals>" in named.__qualname__
    ):  # a class that a function makes, perhaps each time of other values
        objects.append(id(named))
    if isinstance(value, type):
        return named.__module__, named.__qualname__
    parts = _parts_of(value, depth) if depth < _DEEPEST else None
    if parts is None:
        objects.append(id(value))
        return kind.__module__, kind.__qualname__
    head, inside = parts
    return head, tuple(_stable(each, objects, depth + 1) for each in inside)


def _parts_of(value: Any, depth: int) -> tuple[Any, Sequence[Any]] | None:
    """Returns what is compared of a value at once, and the values in it that are compared in turn; None
    if it is not looked into."""
    if isinstance(value, FunctionType):
        cells = [each.cell_contents for each in value.__closure__ or () if _is_filled(each)]
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        # Two modules may be made of the same text, so the module itself is compared too.
        return (value.__module__, value.__code__), (value.__globals__, *defaults, *cells)
    if isinstance(value, MethodType):
        return "method", (value.__func__, value.__self__)
    if isinstance(value, partial):
        call = cast("partial[Any]", value)
        return ("partial", *call.keywords), (call.func, *call.args, *call.keywords.values())
    if isinstance(value, tuple):
        return "tuple", cast("tuple[Any, ...]", value)
    private: Mapping[str, Any] = getattr(value, "__pydantic_private__", None) or {}
    attributes = {**getattr(value, "__dict__", {}), **private}
    if depth > 1 or not attributes:
        return None
    kind = cast("type[Any]", type(value))
    return (kind.__module__, kind.__qualname__, *attributes), tuple(attributes.values())


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not _is_filled
    except ValueError:  # a variable that has no value yet
        return False
