"""This module distinguishes several tools with the same name, such as the tools of two agents that hand
over to each other. A tool call of a replay must not get the result that another tool of this name had in
the baseline."""

import threading
from dataclasses import dataclass, field
from typing import NamedTuple

from .made_tools import MadeTools, place_among
from .tool_parts import ToolParts

OF_ANOTHER_TOOL = (
    ". The baseline called a tool {name!r}, but it is not known to be this one: give tools names of "
    "their own, or make each once, before the runs"
)


class _Known(NamedTuple):
    tool: object
    parts: ToolParts
    number: int


class Recognised(NamedTuple):
    """A ``Recognised`` says which of the baseline's tools a replay called. ``number``: the number of this
    tool among those of its name, counted from 0; None if no tool of the baseline is known to do the same.
    ``is_sure``: False if the replay may nevertheless have called another tool."""

    number: int | None
    is_sure: bool = True


@dataclass(slots=True, eq=False)
class NamedTools:
    """A ``NamedTools`` numbers the tools with the same name that a baseline called. It recognises them in
    replays, even if the application makes new tools for each run. Thread-safe.

    ``made``: the tools that the baseline made itself.
    """

    made: MadeTools = field(default_factory=MadeTools)
    _retrieving: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    _known: dict[str, list[_Known]] = field(default_factory=dict[str, list[_Known]])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def note(self, name: str, tool: object) -> int:
        """Returns the number of a tool that the baseline called, counted from 0 among those of its name.
        ``tool``: the tool, or its function; None if it is not known."""
        with self._guard:
            known = self._known.setdefault(name, [])
            same = [each.number for each in known if each.tool is tool]
            if same:
                return same[0]
            parts = ToolParts.of(tool)
            alike = [each.number for each in known if each.parts.does_the_same_as(parts)]
            number = alike[0] if alike else len({each.number for each in known})
            known.append(_Known(tool, parts, number))
            return number

    def recognised(self, name: str, tool: object, made: MadeTools) -> Recognised:
        """Recognises which of the baseline's tools with this name a replay called. ``tool``: the replay's
        tool, or its function; None if it is not known. ``made``: the tools that the replay made
        itself."""
        with self._guard:
            known = self._known.get(name)
        if not known or tool is None:
            return Recognised(0)
        same = [each.number for each in known if each.tool is tool]
        if same:
            return Recognised(same[0])
        parts = ToolParts.of(tool)
        same = [each.number for each in known if each.parts.does_the_same_as(parts)]
        if same:
            return Recognised(same[0])
        early, place = self.made.early(name), place_among(made.early(name), tool)
        if place is not None and len(early) == len(made.early(name)):
            other = early[place]
            number = next((each.number for each in known if each.tool is other), None)
            return self._by_order(number, self.made.parts_of(other), made.parts_of(tool), made)
        return self._perhaps(name, tool, parts, made)

    def note_retrieving(self, name: str, number: int) -> None:
        """Records that the tool with this name and number retrieves."""
        with self._guard:
            self._retrieving.setdefault(name, set()).add(number)

    def retrieving(self, name: str) -> list[object]:
        """Returns the tools with this name that retrieve."""
        with self._guard:
            numbers = self._retrieving.get(name, set[int]())
            return [each.tool for each in self._known.get(name, []) if each.number in numbers]

    def retrieves(self, name: str, tool: object, made: MadeTools) -> bool:
        """Returns True iff a tool of a replay is one that retrieves, where the name is that of one. It is
        False for another tool of this name, which may act. ``tool``, ``made``: see ``recognised``."""
        number = self.recognised(name, tool, made).number
        with self._guard:
            known, numbers = self._known.get(name, []), self._retrieving.get(name, set[int]())
        if number is None:
            tools = self.made.named(name)
            is_alone = len(tools) == len(made.named(name)) == len(known) == 1
            return is_alone and tools[0] is known[0].tool and place_among(made.named(name), tool) == 0
        return number in numbers or all(each.number == number for each in known)

    @staticmethod
    def _by_order(
        number: int | None, parts: ToolParts | None, others: ToolParts | None, made: MadeTools
    ) -> Recognised:
        """Recognises a tool by its place in the order in which the replay made its tools. ``number``: the
        number of the baseline's tool with the same place; None if it has none. ``parts``, ``others``: the
        code of the baseline's and of the replay's tool, with the values that this code uses; None if
        unknown. The two are compared if the replay starts without something that the baseline had, such
        as an earlier turn. In this case, the same place alone does not show that the tools are the same.
        """
        if number is None or not made.begins_otherwise:
            return Recognised(number)
        if parts is None or others is None:
            return Recognised(number, is_sure=False)
        if parts.differ_from(others):
            return Recognised(None)
        return Recognised(number, is_sure=parts.does_the_same_as(others))

    def _perhaps(self, name: str, tool: object, parts: ToolParts, made: MadeTools) -> Recognised:
        """Recognises a tool by its code and the values that this code uses, which is never sure. The
        ``number`` is None unless each of the two runs made exactly one tool of this name, and the code,
        texts and numbers of the two tools are equal. ``parts``: the code and values of the replay's tool.
        ``made``: the tools that the replay made itself."""
        known, alone = self._known[name], [self.made.named(name), made.named(name)]
        are_alone = all(len(each) == 1 for each in alone) and place_among(alone[1], tool) == 0
        if are_alone and [each.parts.stable for each in known] == [parts.stable]:
            return Recognised(known[0].number, is_sure=False)
        return Recognised(None)
