"""This module makes sources of parts of the requests to models: sections of the instructions, examples,
memories and earlier turns of the conversation. It removes the omitted ones from each request of a replay.

The first request of the baseline is read. A turn is a message of the user with all that follows up to the
user's next message, so replies and results of tools stay with what they belong to.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol

from ...sources import Source
from ..recording.serving import SOURCE_KIND
from .kinds import Omit, SourceKind
from .marked_sections import marked_sections
from .own_ids import OwnIds, readable_name

_SYSTEM, _USER, _REPLY = ("system", "developer"), ("user", "human"), ("assistant", "ai", "model")
_NAMES: dict[SourceKind, str] = {"turns": "turn", "memory": "memory", "examples": "example"}


class PromptMessage(NamedTuple):
    """A ``PromptMessage`` is a message of a request: its role, as frameworks call it, and its text."""

    role: str
    text: str


class PromptEditing(Protocol):
    """A ``PromptEditing`` edits each request of a run before it is sent."""

    def edited(self, messages: Sequence[PromptMessage]) -> Sequence[str | None]:
        """Returns the text that each message is sent with; None for a message that is not sent."""
        ...


@dataclass(slots=True, eq=False)
class FirstPrompt:
    """A ``FirstPrompt`` records the first request of a baseline, and changes no request."""

    messages: tuple[PromptMessage, ...] = ()

    def edited(self, messages: Sequence[PromptMessage]) -> Sequence[str | None]:
        """Returns the messages' texts."""
        self.messages = self.messages or tuple(messages)
        return [each.text for each in messages]


@dataclass(frozen=True, slots=True)
class PromptSources:
    """A ``PromptSources`` holds the sources in the first request of a baseline. ``groups``: the messages
    of each source that has whole messages; ``sections``: the text of each source that is a part of one.
    ``omit``: says what remains of an omitted source: nothing, or its messages without their texts."""

    sources: tuple[Source, ...]
    omit: Omit
    groups: dict[str, tuple[PromptMessage, ...]] = field(
        default_factory=dict[str, tuple[PromptMessage, ...]]
    )
    sections: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(
        cls,
        messages: Sequence[PromptMessage],
        kind_of: Callable[[Sequence[str]], SourceKind],
        kinds: Collection[SourceKind],
        omit: Omit,
    ) -> "PromptSources":
        """Returns the sources of these ``kinds``. ``kind_of``: a function from the texts of the user and
        of the replies in a turn to the kind of the turn."""
        made, sources, numbers, ids = cls((), omit), list[Source](), Counter[str](), OwnIds()
        if "instructions" in kinds:
            for name, text, _ in _sections_in(messages):
                identity = ids.of(name)
                made.sections[identity] = text
                sources.append(Source(identity, text, {SOURCE_KIND: "instructions"}))
        for group in _turns_in(messages):
            kind = kind_of([each.text for each in group if each.role in (*_USER, *_REPLY)])
            numbers[kind] += 1
            identity = f"{_NAMES[kind]} {numbers[kind]}"
            if kind in kinds:
                made.groups[identity] = group
                text = "\n".join(each.text for each in group)
                sources.append(Source(identity, text, {SOURCE_KIND: kind}))
        return cls(tuple(sources), omit, made.groups, made.sections)

    @property
    def texts(self) -> frozenset[str]:
        """Returns the texts of all messages that are sources."""
        return frozenset(each.text for group in self.groups.values() for each in group)

    def omitting(
        self, kept: Collection[str], deliver: Callable[[Collection[str], bool], None]
    ) -> "PromptOmitting":
        """Returns a ``PromptOmitting`` that removes the omitted sources from the requests of one replay;
        see ``ResultSources.omitting``."""
        return PromptOmitting(self, frozenset(kept), deliver)


@dataclass(frozen=True, slots=True)
class PromptOmitting:
    """A ``PromptOmitting`` removes the omitted sources from the requests of one replay."""

    known: PromptSources
    kept: frozenset[str]
    deliver: Callable[[Collection[str], bool], None]

    def edited(self, messages: Sequence[PromptMessage]) -> Sequence[str | None]:
        """Returns the messages' texts without the omitted sources."""
        texts: list[str | None] = [each.text for each in messages]
        spoken = [place for place, each in enumerate(messages) if not _is_system(each)]
        delivered, taken = list[str](), set[int]()
        for identity, group in self.known.groups.items():
            start = _start_of(group, [messages[place] for place in spoken], taken)
            if start is None:
                continue
            taken.update(range(start, start + len(group)))
            if identity in self.kept:
                delivered.append(identity)
                continue
            for place in spoken[start : start + len(group)]:
                texts[place] = "" if self.known.omit == "blank" else None
        placed = _placed(self.known.sections, messages)
        delivered += (each for each in placed if each in self.kept)
        omitted = [one for each, found in placed.items() if each not in self.kept for one in found]
        # Cuts from the end, so that no cut moves a place that is still to be cut.
        for place, start, end in sorted(omitted, reverse=True):
            text = texts[place] or ""
            left = text[:start] + text[end:]
            texts[place] = left if left.strip() or self.known.omit == "blank" else None
        self.deliver(delivered, True)
        return texts


def _start_of(
    group: Sequence[PromptMessage], messages: Sequence[PromptMessage], taken: Collection[int]
) -> int | None:
    """Returns the index at which the group begins among the messages, but not in ``taken``; else None."""
    size = len(group)
    for start in range(len(messages) - size + 1):
        if start not in taken and tuple(messages[start : start + size]) == tuple(group):
            return start
    return None


def _is_system(message: PromptMessage) -> bool:
    return message.role in _SYSTEM


def _turns_in(messages: Sequence[PromptMessage]) -> Iterator[tuple[PromptMessage, ...]]:
    """Yields the turns before the user's last message in which a model replied. Instructions between the
    messages of a turn do not belong to it."""
    spoken = [each for each in messages if not _is_system(each)]
    asked = [place for place, each in enumerate(spoken) if each.role in _USER]
    for start, end in pairwise(asked):
        group = tuple(spoken[start:end])
        if any(each.role in _REPLY for each in group):
            yield group


def _placed(
    sections: Mapping[str, str], messages: Sequence[PromptMessage]
) -> dict[str, list[tuple[int, int, int]]]:
    """Returns where each section is in a request: the place of the message, the start and the end. A
    section that is not there is left out. Sections with the same text get its places in the request in
    their order; the last of them gets all places that remain."""
    owners, found = dict[str, list[str]](), dict[str, list[tuple[int, int, int]]]()
    for identity, text in sections.items():
        owners.setdefault(text, []).append(identity)
    for each in _sections_in(messages):
        if each.text in owners:
            found.setdefault(each.text, []).append(each.at)
    # A section that was joined with another text is no marked section of this request, so its text is
    # searched for; but not inside the sections that were found, of which it may be a part.
    for text in sorted(owners, key=len, reverse=True):
        if len(found.get(text, ())) < len(owners[text]):
            taken = [at for each in found.values() for at in each]
            found.setdefault(text, []).extend(list(_occurrences(text, messages, taken)))
    placed = dict[str, list[tuple[int, int, int]]]()
    for text, ids in owners.items():
        for number, at in enumerate(sorted(found[text])):
            placed.setdefault(ids[min(number, len(ids) - 1)], []).append(at)
    return placed


def _occurrences(
    text: str, messages: Sequence[PromptMessage], taken: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[int, int, int]]:
    for place, message in enumerate(messages):
        for found in re.finditer(re.escape(text), message.text) if _is_system(message) else ():
            start, end = found.span()
            if not any(place == each[0] and start < each[2] and each[1] < end for each in taken):
                yield place, start, end


class _Section(NamedTuple):
    name: str
    text: str
    at: tuple[int, int, int]


def _sections_in(messages: Sequence[PromptMessage]) -> Iterator[_Section]:
    """Yields the marked sections of the instructions, each with a name."""
    for place, message in enumerate(messages):
        for mark, start, end in marked_sections(message.text) if _is_system(message) else ():
            name = f"instructions: {readable_name(mark)}" if mark else "instructions"
            yield _Section(name, message.text[start:end], (place, start, end))
