"""This module makes sources of parts of the requests to models: sections of the instructions, examples,
memories and earlier turns of the conversation. The module ``prompt_omitting`` removes omitted sources
from requests.

Only the first request of the baseline is read. A turn is a message of the user with everything up to the
user's next message: the model's replies, and the results of tools.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...sources import Source
from ..recording.serving import SOURCE_KIND
from .asked_models import NOTHING_BESIDE, BesideTexts
from .asked_requests import AskedRequests
from .kinds import Omit, SourceKind
from .own_memories import OwnMemories
from .prompt_sections import PromptMessage, is_system, sections_in
from .turn_remains import Copy

_USER, _REPLY = ("user", "human"), ("assistant", "ai", "model")
SPEAKING = (*_USER, *_REPLY)
"""The roles of messages that a user or a model has written."""
_NAMES: dict[SourceKind, str] = {"turns": "turn", "memory": "memory", "examples": "example"}


@dataclass(slots=True, eq=False)
class FirstPrompt(AskedRequests):
    """A ``FirstPrompt`` records the requests of a baseline to models, and changes none. ``messages``:
    those of the first request. ``dropped``: the messages of the first request that a later request of the
    same conversation lacks. ``memories``: looks for turns in what the application itself holds or
    reads."""

    memories: OwnMemories = field(default_factory=OwnMemories)
    messages: tuple[PromptMessage, ...] = ()
    dropped: set[PromptMessage] = field(default_factory=set[PromptMessage])

    def edited(
        self, messages: Sequence[PromptMessage], beside: BesideTexts = NOTHING_BESIDE
    ) -> Sequence[str | None]:
        """Returns the messages' texts, unchanged."""
        self.messages = self.messages or tuple(messages)
        if self.messages[-1:] and self.messages[-1] in messages:
            self.dropped.update(set(self.messages).difference(messages))
        return AskedRequests.edited(self, messages, beside)


@dataclass(frozen=True, slots=True)
class PromptSources:
    """A ``PromptSources`` holds the sources in the first request of a baseline to a model. ``messages``:
    the request's messages. ``groups``: the messages of each source that is a turn, by the source's id.
    ``sections``: the text of each source that is a section of the instructions, by id. ``omit``: "remove"
    if nothing remains of an omitted source, "blank" if its messages remain without their texts.
    ``dropped``: the ids of the turns that are incomplete in a later request of the baseline. ``held``:
    the kind of each source that the application has as data, by id: "turns" for a source in the input,
    "memory" for a source in a memory, "examples" for a source that the application read elsewhere, such
    as from a file. Constants of the application are not included. ``beside``: the place of the second
    copy of a turn, by the turn's id, if this copy is neither in the input nor in a memory of the
    framework."""

    sources: tuple[Source, ...]
    omit: Omit
    """This is "remove" if an omitted source is removed, and "blank" if its messages remain with empty
    texts."""
    messages: tuple[PromptMessage, ...] = ()
    """The request's messages."""
    groups: dict[str, tuple[PromptMessage, ...]] = field(
        default_factory=dict[str, tuple[PromptMessage, ...]]
    )
    """The messages of each source that is a turn, by the source's id."""
    sections: dict[str, str] = field(default_factory=dict[str, str])
    """The text of each source that is a section of the instructions, by id."""
    dropped: tuple[str, ...] = ()
    """The ids of the turns that are incomplete in a later request of the baseline."""
    held: dict[str, SourceKind] = field(default_factory=dict[str, SourceKind])
    beside: dict[str, Copy] = field(default_factory=dict[str, Copy])
    files: dict[str, str] = field(default_factory=dict[str, str])
    """The file from which the run has read an example, by the id of the example."""
    unvaried: str = ""
    """The warning that no turn of the conversation is a source; empty if there is no such turn."""

    @classmethod
    def of(
        cls,
        messages: Sequence[PromptMessage],
        kind_of: Callable[[Sequence[str]], SourceKind],
        kinds: Collection[SourceKind],
        omit: Omit,
        dropped: Collection[PromptMessage] = (),
    ) -> "PromptSources":
        """Returns the sources of these ``kinds`` in a request. ``messages``: the messages of the request;
        ``dropped``: the messages among them that are missing in a later request of the same conversation.
        ``kind_of``: returns the kind of a turn; its argument is the list of the texts of the user and the
        model in the turn. A section that is in the input has the kind "turns" in ``held``."""
        made, sources, numbers = cls((), omit), list[Source](), Counter[str]()
        if "instructions" in kinds:
            for each in sections_in(messages):
                made.sections[each.id] = each.text
                sources.append(Source(each.id, each.text, {SOURCE_KIND: "instructions"}))
                if kind_of([each.text]) == "turns":
                    made.held[each.id] = "turns"
        for group in _turns_in(messages):
            kind = kind_of([each.text for each in group if each.role in SPEAKING])
            numbers[kind] += 1
            identity = f"{_NAMES[kind]} {numbers[kind]}"
            if kind in kinds:
                made.groups[identity] = group
                text = "\n".join(each.text for each in group)
                sources.append(Source(identity, text, {SOURCE_KIND: kind}))
                if kind != "examples":
                    made.held[identity] = kind
        torn = tuple(each for each, group in made.groups.items() if not set(group).isdisjoint(dropped))
        return cls(tuple(sources), omit, tuple(messages), made.groups, made.sections, torn, made.held)

    @property
    def spoken(self) -> tuple[PromptMessage, ...]:
        """Returns the messages that are not instructions."""
        return tuple(each for each in self.messages if not is_system(each))

    @property
    def asked(self) -> str:
        """Returns the user's last message; empty if there is none."""
        return next((each.text for each in reversed(self.messages) if each.role in _USER), "")

    def texts_of(self, identity: str) -> list[str]:
        """Returns the texts of the messages of a turn."""
        return [each.text for each in self.groups[identity]]

    @property
    def texts(self) -> frozenset[str]:
        """Returns the texts of the messages that are sources. Leaves out a text if a message that is no
        source has the same text, for example because the user asks the same question again."""
        owned = Counter(each.text for group in self.groups.values() for each in group)
        return frozenset(owned - (Counter(each.text for each in self.spoken) - owned))


def _turns_in(messages: Sequence[PromptMessage]) -> Iterator[tuple[PromptMessage, ...]]:
    """Yields the turns before the user's last message, if a model replied in them. Instructions between
    the messages of a turn do not belong to the turn."""
    spoken = [each for each in messages if not is_system(each)]
    asked = [place for place, each in enumerate(spoken) if each.role in _USER]
    for start, end in pairwise(asked):
        group = tuple(spoken[start:end])
        if any(each.role in _REPLY for each in group):
            yield group
