"""This module records which calls of tools changed which variables in the baseline."""

import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..comparable import are_same
from .file_reads import is_in_place_of
from .inner_parts import keys_around, part_keys
from .reached import Holder, Reached, paths_in
from .read_paths import changed_holders
from .tool_writes import ToolWrite


@dataclass(slots=True, eq=False)
class _Variable:
    """A ``_Variable`` holds what the baseline made of a variable: its first and its last content, and the
    calls of tools that changed it."""

    first: Any
    last: Any
    writes: set[ToolWrite] = field(default_factory=set[ToolWrite])


class ChangedVariables(NamedTuple):
    """A ``ChangedVariables`` holds variables, and parts of values, that calls of tools have changed."""

    known: Mapping[Holder, _Variable]

    @property
    def writes(self) -> set[ToolWrite]:
        """Returns the calls that changed them."""
        return {write for each in self.known.values() for write in each.writes}

    def is_of_tools(self, before: Reached, after: Reached, running: Collection[str]) -> bool:
        """Returns True iff nothing but tools has changed a value: where none of them runs in the replay,
        its variables are as they were before or after the baseline. ``before``: the value in the
        baseline; ``after``: in the replay; ``running``: the names of the tools that run in it."""
        whole = {*before.holders, *after.holders}
        for holder, each in self.known.items():
            if any(write.name in running for write in each.writes):
                continue
            # What a part held says nothing of the whole value, which may only have been seen before.
            known = (each,) if holder in whole else (self.known[one] for one in whole & self.known.keys())
            contents = [content for one in known for content in (one.first, one.last)]
            if not any(are_same(after.content, one) for one in (*contents, before.content)):
                return False
        return True


@dataclass(slots=True, eq=False)
class ToolVariables:
    """A ``ToolVariables`` records the variables that tools of a baseline reach. Thread-safe."""

    _known: dict[Holder, _Variable] = field(default_factory=dict[Holder, _Variable])
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, state: Iterable[Reached]) -> None:
        """Records what a call that begins could read."""
        with self._guard:
            for each in state:
                for holder in each.holders:
                    self._known.setdefault(holder, _Variable(each.content, each.content))

    def end(self, before: Reached, after: Reached, write: ToolWrite, inner: Collection[int]) -> None:
        """Records whether a call has changed a value. ``inner``: the moments of the calls that the tool
        made itself, whose changes are theirs."""
        with self._guard:
            for holder in changed_holders(before, after):
                known = self._known.setdefault(holder, _Variable(before.content, after.content))
                is_of_inner = any(each.at in inner for each in known.writes)
                if is_of_inner and are_same(known.last, after.content):
                    continue
                known.last = after.content
                known.writes.add(write)

    def of(self, *values: Reached) -> ChangedVariables:
        """Returns what is known of the variables in which values are, and of the values' parts."""
        holders = {file for each in values for file in each.files}
        for each in values if not holders else ():
            holders |= {*each.holders, *keys_around(each.holders), *part_keys(each.parts)}
        with self._guard:
            return ChangedVariables({each: self._known[each] for each in holders if each in self._known})

    def changed(self, values: Iterable[Reached], running: Collection[str]) -> ChangedVariables:
        """Returns those that tools changed which do not run in a replay, and those whose content is not
        known and that any tool changed. ``running``: the names of the tools that run in it."""
        values = list(values)
        known, is_unknown = self.of(*values).known, any(each.is_unknown for each in values)
        idle = {
            holder: each
            for holder, each in known.items()
            if any(is_unknown or write.name not in running for write in each.writes)
        }
        return ChangedVariables(idle)

    @property
    def writes(self) -> set[ToolWrite]:
        """Returns the calls that changed a variable or a file."""
        with self._guard:
            return ChangedVariables(self._known.copy()).writes

    @property
    def written_files(self) -> set[ToolWrite]:
        """Returns the calls that changed a file."""
        with self._guard:
            known = [one.writes for each, one in self._known.items() if paths_in(each)]
        return {write for writes in known for write in writes}

    def written_in(self, path: str) -> set[ToolWrite]:
        """Returns the calls of tools that wrote to a file, or to one in a folder. ``path``: that of the
        file or the folder, whose name may be another one if it is temporary."""
        with self._guard:
            known = [(each, one) for each, one in self._known.items() if one.writes]
        places = ((paths_in(each), one.writes) for each, one in known)
        found = (writes for paths, writes in places if any(is_in_place_of(path, each) for each in paths))
        return {write for writes in found for write in writes}
