"""This module removes omitted turns, and omitted sections of instructions, from the input of a replay,
and from the memory with which the replay starts.

The replay then runs as if it had never got these turns and sections. For example, if the application
makes a summary of its conversation, or counts its messages, it does so without an omitted turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from .kinds import Omit
from .listed_messages import Spoken, as_spoken, listed_text, spoken_in, with_text, without_text
from .made_anew import Made, searched_fields, with_elements, with_entries, with_values
from .prompt_sections import is_system, sections_in
from .prompt_sources import PromptSources
from .turn_copies import TurnCopies
from .turn_remains import Copy, TurnRemains, continues

_LEVELS = 12
"""The maximum depth at which lists of messages are searched for in an input. Deeper lists stay
unchanged."""
_GONE: Any = object()
BESIDE = "beside"
"""The first part of the path of a field that is no message, such as "beside.log"."""


@dataclass(slots=True, eq=False)
class TakingOut:
    """A ``TakingOut`` removes the omitted sources of one replay from the input and the memory with which
    the replay starts.

    ``known``: the sources in the first request of the baseline; ``omitted``: the ids of the sources to
    remove. ``taken``: the ids of the sources that were removed. ``copied``: the ids of turns of which the
    application has a second copy, such as in a transcript, each with the place of the copy. The copy is
    not removed, so these turns do not count as removed. ``note_copy``: is called with the id of such a
    turn and the place of its copy, if the turn was removed from the messages. ``is_ignored``: see
    ``TurnRemains``. ``constant``: the ids of sections that were removed, and that are also in the
    application's code.
    """

    known: PromptSources
    """The sources in the first request of the baseline."""
    omitted: frozenset[str]
    note_copy: Callable[[str, Copy], None] = lambda _identity, _copy: None
    is_ignored: Callable[[str], bool] = lambda _: False
    taken: set[str] = field(default_factory=set[str])
    copied: dict[str, Copy] = field(default_factory=dict[str, Copy])
    constant: set[str] = field(default_factory=set[str])
    """The ids of sections that were removed, and that are also in the application's code."""
    _groups: dict[tuple[Spoken, ...], list[str]] = field(
        default_factory=dict[tuple[Spoken, ...], list[str]], init=False
    )
    _instructions: dict[str, str | None] = field(default_factory=dict[str, str | None], init=False)
    _ids: dict[str, list[str]] = field(default_factory=dict[str, list[str]], init=False)
    _cut: set[str] = field(default_factory=set[str], init=False)
    _computed: set[str] = field(default_factory=set[str], init=False)
    _remains: TurnRemains = field(init=False)

    def __post_init__(self) -> None:
        turns, gone = self.known.groups, self.omitted
        omitted = {each: self.known.texts_of(each) for each in turns if each in gone}
        sections = self.known.sections
        omitted |= {each: [sections[each]] for each in gone.intersection(sections, self.known.held)}
        self._remains = TurnRemains(TurnCopies(omitted, self.known.asked), self.is_ignored)
        for identity, group in self.known.groups.items():
            said = tuple(as_spoken(*each) for each in group)
            self._groups.setdefault(said, []).append(identity)
        self._cut_instructions()

    def _cut_instructions(self) -> None:
        """Stores, for each message with instructions that contains an omitted section, its text without
        the omitted sections."""
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
        for identity, place in self._remains.found_in(left, BESIDE).items():
            self.copied.setdefault(identity, place)
            self.taken.discard(identity)
        places = {**self.known.beside, **self.copied}
        for identity in self.known.beside.keys() & self.copied.keys():
            one, other = self.known.beside[identity], self.copied[identity]
            more = dict.fromkeys((one.path, *one.others))
            more.pop(other.path, None)
            places[identity] = other._replace(others=tuple(more))
        for each in sorted(self._computed):
            if not self.is_ignored(each):
                places = {**dict.fromkeys(self._cut, Copy(each)), **places}
        for identity in sorted(self._cut.intersection(places)):
            self.note_copy(identity, places[identity])
        return left

    def _edited(self, value: Any, above: frozenset[int]) -> Any:
        is_plain = isinstance(value, (str, bytes, int, float, type(None)))
        if is_plain or len(above) > _LEVELS or id(value) in above:
            return value
        above |= {id(value)}
        if isinstance(value, dict):
            entries = cast("dict[Any, Any]", value)
            made = {name: self._edited(each, above) for name, each in entries.items()}
            return self._of_made(with_entries(entries, made))
        if isinstance(value, (list, tuple)):
            return self._of_list(cast("Sequence[Any]", value), above)
        changed = {name: self._edited(getattr(value, name), above) for name in searched_fields(value)}
        return self._of_made(with_values(value, changed))

    def _of_made(self, made: Made) -> Any:
        kind = type(made.thing).__name__
        self._computed.update(f"{BESIDE}.{kind}.{name}" for name in made.computed)
        return made.thing

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
        made = self._of_made(with_elements(listed, left))
        self._remains.note_cleared(made, cleared)
        return made

    def _omitted_places(self, listed: Sequence[Any]) -> tuple[list[tuple[int, Any]], set[str]]:
        """Returns a list of the omitted sources in a list of messages. Each entry is the index of a
        message, with the message that replaces it, or ``_GONE`` if the message is removed. Also returns
        the ids of the turns among the omitted sources."""
        said = [(place, each) for place, element in enumerate(listed) for each in spoken_in(element)]
        found, cleared = list(self._omitted_sections(listed, said)), set[str]()
        talk = [(place, each) for place, each in said if each.role != "system"]
        for group, ids in self._groups.items():
            starts = _starts_of(group, talk)
            if any(self._goes_on(group, talk, start) for start in starts):
                continue
            # If equal turns occur more or less often in the list than in the request, it is unclear which
            # of them is omitted.
            if len(starts) != len(ids):
                continue
            for identity, start in zip(ids, starts, strict=True):
                if identity in self.omitted:
                    places = _places_of(listed, talk, start, len(group))
                    instead = [self._instead_of(listed[place]) for place in places]
                    if all(each is not None for each in instead):
                        self.taken.update({identity} - set(self.copied))
                        cleared.add(identity)
                        self._cut.add(identity)
                        found += zip(places, instead, strict=True)
        return found, cleared

    def _goes_on(self, group: Sequence[Spoken], talk: Sequence[tuple[int, Spoken]], start: int) -> bool:
        """Returns True iff the turn has more messages in the list ``talk`` than in the first request. In
        that case, the application sent only the beginning of the turn."""
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
        """Returns the object that replaces an element of an omitted turn: a blanked message, or
        ``_GONE`` if the element is to be removed. Returns None if the element should be blanked but is
        no message."""
        omit: Omit = self.known.omit
        if omit == "blank":
            return without_text(element) if spoken_in(element) else None
        return _GONE


def _places_of(
    listed: Sequence[Any], talk: Sequence[tuple[int, Spoken]], start: int, size: int
) -> list[int]:
    """Returns the places in a list of all elements that belong to a turn: its messages, and the elements
    up to the next message that are no messages, such as a user's rating. ``talk``: the messages in the
    list, each with the place of its element. ``start``: the index in ``talk`` of the turn's first
    message. ``size``: the number of the turn's messages."""
    own = [place for place, _ in talk[start : start + size]]
    end = talk[start + size][0] if start + size < len(talk) else len(listed)
    return [each for each in range(own[0], end) if each in own or not spoken_in(listed[each])]


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
