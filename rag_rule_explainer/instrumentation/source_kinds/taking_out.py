"""This module takes omitted turns and sections of instructions out of a replay's input, and out of the
memory with which the replay starts.

The replay then runs as if it had never been given the omitted turn. Whatever the application makes of its
conversation, such as a summary or a number of messages, it makes without this turn.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import chain
from typing import Any, cast

from ..rewinding.companies import is_own
from .kinds import Omit
from .listed_messages import Spoken, as_spoken, listed_text, spoken_in, with_text, without_text
from .prompt_sections import is_system, sections_in
from .prompt_sources import PromptSources
from .turn_remains import TurnRemains, continues

_LEVELS = 12
"""The maximum depth at which lists of messages are searched for in an input. Deeper lists stay
unchanged."""
_GONE: Any = object()


@dataclass(slots=True, eq=False)
class TakingOut:
    """A ``TakingOut`` takes the omitted sources of one replay out of its input and memory."""

    known: PromptSources
    """The sources in the first request of the baseline."""
    omitted: frozenset[str]
    """The ids of the sources in ``known`` to take out."""
    note_copy: Callable[[str, str], None] = lambda _identity, _text: None
    """A function that is called if a turn was removed from the messages, but its text is also elsewhere.
    Its arguments are the id of the turn and that other text."""
    taken: set[str] = field(default_factory=set[str])
    """The ids of the sources that were taken out."""
    copied: dict[str, str] = field(default_factory=dict[str, str])
    """The ids of turns whose text is also in another place, such as a transcript, each with the text
    there. This text stays, so the turn does not count as taken out."""
    constant: set[str] = field(default_factory=set[str])
    """The ids of sections that were taken out but are in the application's code too."""
    _groups: dict[tuple[Spoken, ...], list[str]] = field(
        default_factory=dict[tuple[Spoken, ...], list[str]], init=False
    )
    _instructions: dict[str, str | None] = field(default_factory=dict[str, str | None], init=False)
    _ids: dict[str, list[str]] = field(default_factory=dict[str, list[str]], init=False)
    _cut: set[str] = field(default_factory=set[str], init=False)
    _remains: TurnRemains = field(init=False)

    def __post_init__(self) -> None:
        turns, gone = self.known.groups, self.omitted
        omitted = {each: [one.text for one in turns[each]] for each in turns if each in gone}
        left = Counter(self.known.spoken)
        left.subtract(chain.from_iterable(turns[each] for each in omitted))
        sections = self.known.sections
        omitted |= {each: [sections[each]] for each in gone.intersection(sections, self.known.held)}
        self._remains = TurnRemains(omitted, [each.text for each, times in left.items() if times > 0])
        for identity, group in self.known.groups.items():
            said = tuple(as_spoken(*each) for each in group)
            self._groups.setdefault(said, []).append(identity)
        self._cut_instructions()

    def _cut_instructions(self) -> None:
        """Stores, for each message with instructions, its text without the omitted sections."""
        messages = self.known.messages
        for place, message in enumerate(messages):
            own = [each for each in sections_in(messages) if each.at[0] == place]
            cut = [each for each in own if each.id in self.omitted and each.id in self.known.sections]
            if not is_system(message) or not cut or messages.count(message) > 1:
                continue
            left = message.text
            for each in sorted(cut, key=lambda section: section.at, reverse=True):
                _, start, end = each.at
                left = left[:start] + left[end:]
            is_left = bool(left.strip()) or self.known.omit == "blank"
            self._instructions[message.text] = left if is_left else None
            self._ids[message.text] = [each.id for each in cut]

    def edited(self, given: Any) -> Any:
        """Returns ``given``, which is an input or the application's memory, without the omitted sources.
        Does not change the objects in ``given``: a list or dict with an omitted source is copied
        first."""
        if not self.omitted:
            return given
        left = self._edited(given, frozenset())
        for identity, text in self._remains.found_in(left).items():
            self._add_copies([identity], text)
        for identity in sorted(self._cut & set(self.copied)):
            self.note_copy(identity, self.copied[identity])
        return left

    def _edited(self, value: Any, above: frozenset[int]) -> Any:
        if isinstance(value, str):
            self._look_for_copies(value)
        is_plain = isinstance(value, (str, bytes, int, float, type(None)))
        if is_plain or len(above) > _LEVELS or id(value) in above:
            return value
        above |= {id(value)}
        if isinstance(value, dict):
            entries = cast("dict[Any, Any]", value)
            made = {name: self._edited(each, above) for name, each in entries.items()}
            return _with_entries(entries, made)
        if isinstance(value, (list, tuple)):
            return self._of_list(cast("Sequence[Any]", value), above)
        names = _attributes_of(value)
        changed = {name: self._edited(getattr(value, name), above) for name in names}
        return _with_attributes(value, changed)

    def _look_for_copies(self, text: str) -> None:
        """Adds to ``copied`` each omitted turn whose messages are all in this text, in the same order."""
        here = "".join(text.split())
        for group, ids in self._groups.items():
            said = ".*?".join(re.escape(each.text) for each in group if each.text)
            if said and re.search(said, here):
                self._add_copies(self.omitted.intersection(ids), text)

    def _add_copies(self, ids: Iterable[str], text: str) -> None:
        for each in ids:
            self.copied.setdefault(each, text)
            self.taken.discard(each)

    def _of_list(self, listed: Sequence[Any], above: frozenset[int]) -> Any:
        parts = [each if spoken_in(each) else self._edited(each, above) for each in listed]
        places, cleared = self._omitted_places(listed)
        for place, start in places:
            parts[place] = start
        left = [each for each in parts if each is not _GONE]
        is_same = len(left) == len(listed) and all(
            one is two for one, two in zip(left, listed, strict=True)
        )
        if is_same:
            return listed
        made: Any
        if isinstance(listed, tuple):
            make: Any = getattr(listed, "_make", tuple)
            made = make(left)
        else:
            made = copy(listed)
            made[:] = left
        self._remains.note_cleared(made, cleared)
        return made

    def _omitted_places(self, listed: Sequence[Any]) -> tuple[list[tuple[int, Any]], set[str]]:
        """Returns a list of the omitted sources in a list of messages: the index of each message, with
        the message that replaces it, or ``_GONE`` if it is removed. Also returns the ids of the turns
        among them."""
        said = [(place, each) for place, element in enumerate(listed) for each in spoken_in(element)]
        found, cleared = list(self._omitted_sections(listed, said)), set[str]()
        talk = [(place, each) for place, each in said if each.role != "system"]
        for group, ids in self._groups.items():
            starts = _starts_of(group, talk)
            if any(self._goes_on(group, talk, start) for start in starts):
                continue
            # If equal turns are in the list more or less often than in the request, nothing shows which
            # of them is omitted.
            if len(starts) != len(ids):
                continue
            for identity, start in zip(ids, starts, strict=True):
                if identity in self.omitted:
                    places = dict.fromkeys(place for place, _ in talk[start : start + len(group)])
                    instead = [self._instead_of(listed[place]) for place in places]
                    if all(each is not None for each in instead):
                        self.taken.update({identity} - set(self.copied))
                        cleared.add(identity)
                        self._cut.add(identity)
                        found += zip(places, instead, strict=True)
        return found, cleared

    def _goes_on(self, group: Sequence[Spoken], talk: Sequence[tuple[int, Spoken]], start: int) -> bool:
        """Returns True iff the turn has more messages in the list than in the first request. The
        application may have sent only the beginning of the turn."""
        known = [as_spoken(*each) for each in self.known.spoken]
        size, end = len(group), start + len(group)
        ends = [at + size for at in range(len(known)) if tuple(known[at : at + size]) == tuple(group)]
        return all(continues(talk, end, known, last) for last in ends)

    def _omitted_sections(
        self, listed: Sequence[Any], said: Sequence[tuple[int, Spoken]]
    ) -> list[tuple[int, Any]]:
        found = list[tuple[int, Any]]()
        for place, message in said:
            text = listed_text(listed[place])
            if message.role != "system" or text not in self._instructions:
                continue
            left = self._instructions[text]
            made = _GONE if left is None else with_text(listed[place], left)
            if made is not None:
                self.taken.update(self._ids[text])
                found.append((place, made))
        return found

    def _instead_of(self, element: Any) -> Any:
        omit: Omit = self.known.omit
        return without_text(element) if omit == "blank" else _GONE


def _starts_of(group: Sequence[Spoken], talk: Sequence[tuple[int, Spoken]]) -> list[int]:
    """Returns the indexes in ``talk`` at which the messages of ``group``, which is a turn, follow each
    other. ``talk``: the messages in a list, each with the index of its element. Leaves out an index if an
    element of the list, such as a pair of question and reply, has one message of the group and another
    message."""
    starts, size = list[int](), len(group)
    for start in range(len(talk) - size + 1):
        here = talk[start : start + size]
        is_here = all(each.is_like(one) for (_, each), one in zip(here, group, strict=True))
        around = {place for place, _ in chain(talk[:start], talk[start + size :])}
        free = not starts or start >= starts[-1] + size
        if is_here and free and around.isdisjoint(place for place, _ in here):
            starts.append(start)
    return starts


def _with_entries(entries: dict[Any, Any], made: Mapping[Any, Any]) -> Any:
    if all(made[name] is each for name, each in entries.items()):
        return entries
    copied = copy(entries)
    copied.update(made)
    return copied


def _attributes_of(value: Any) -> list[str]:
    """Returns the names of the fields of an object in which messages are searched for. The object's class
    must be a dataclass or pydantic model of the user's; for any other object, returns an empty list."""
    if not is_own(type(value).__module__):
        return []
    if is_dataclass(value) and not isinstance(value, type):
        return [each.name for each in fields(value) if hasattr(value, each.name)]
    kind: Any = cast("object", type(value))
    declared: Any = getattr(kind, "model_fields", None)
    names = [*cast("dict[str, Any]", declared)] if isinstance(declared, dict) else []
    return [each for each in names if hasattr(value, each)]


def _with_attributes(value: Any, changed: Mapping[str, Any]) -> Any:
    differing = {name: each for name, each in changed.items() if each is not getattr(value, name)}
    if not differing:
        return value
    made = copy(value)
    for name, each in differing.items():
        object.__setattr__(made, name, each)
    return made
