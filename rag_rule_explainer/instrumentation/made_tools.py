"""This module records which tools a run makes itself, and in which order. The order shows which tool of a
replay corresponds to which tool of the baseline.

A run makes *early* tools before its first request to a model, its first search and its first tool call.
They cannot depend on a source, so every run makes the same early tools in the same order. An exception is
a replay that starts without a part of the conversation. For such replays, the *parts* of the tools are
compared too: their code, and the values that this code uses.
"""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import NamedTuple

from .tool_parts import ToolParts


class _Made(NamedTuple):
    tool: object
    is_early: bool
    where: tuple[int, int]


@dataclass(slots=True, eq=False)
class MadeTools:
    """A ``MadeTools`` lists the tools that one run made, by name, in order. Thread-safe.

    ``keeps_parts``: True if the code and the values of early tools (made before the run could depend on a
    source) are kept for comparisons. ``begins_otherwise``: True if the run starts without something that
    the baseline started with, such as an earlier turn.
    """

    keeps_parts: bool = False
    begins_otherwise: bool = False
    _parts: list[tuple[object, ToolParts]] | None = None
    _made: dict[str, list[_Made]] = field(default_factory=dict[str, list[_Made]])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def note(self, name: str, tool: object, *, is_early: bool) -> None:
        """Adds a tool that the run has made. ``is_early``: True if the run has not yet obtained anything
        that may depend on a source."""
        with self._guard:
            made = self._made.setdefault(name, [])
            if all(each.tool is not tool for each in made):
                made.append(_Made(tool, is_early, _whereabouts()))

    def settle(self) -> None:
        """Stores the parts (code and values) of the tools that the run has made so far, if
        ``keeps_parts`` is True. Must be called before the run gets a source or a reply, because tools may
        later change the objects that they hold."""
        if not self.keeps_parts or self._parts is not None:
            return
        with self._guard:
            early = [each.tool for some in self._made.values() for each in some if each.is_early]
        self._parts = [(each, ToolParts.of(each)) for each in early]

    def parts_of(self, tool: object) -> ToolParts | None:
        """Returns the parts of an early tool: its code, and the values that this code uses. Returns None
        if they were not kept."""
        return next((parts for each, parts in self._parts or () if each is tool), None)

    def named(self, name: str) -> list[object]:
        """Returns the tools that have this name."""
        with self._guard:
            return [each.tool for each in self._made.get(name, [])]

    def early(self, name: str) -> list[object]:
        """Returns the early tools that have this name. Returns an empty list if several threads or tasks
        made them, because their order may then be chance."""
        with self._guard:
            early = [each for each in self._made.get(name, []) if each.is_early]
        return [each.tool for each in early] if len({each.where for each in early}) == 1 else []


def _whereabouts() -> tuple[int, int]:
    """Returns numbers that identify the current thread and the current task (0 if there is no task)."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        task = None
    return threading.get_ident(), 0 if task is None else id(task)


def place_among(tools: list[object], tool: object) -> int | None:
    """Returns the index of a tool in a list of tools; None if it is not in the list."""
    return next((place for place, each in enumerate(tools) if each is tool), None)
