"""This module makes sources of parts of the requests to models: sections of the instructions, examples,
memories and earlier turns of the conversation. ``prompt_omitting`` removes the omitted ones from
requests.

Only the first request of the baseline is read. A turn is a message of the user with everything up to the
user's next message: the model's replies, and the results of tools.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from ...sources import Source
from ..recording.serving import SOURCE_KIND
from ..requests.exchanges import Exchange, moment
from .kinds import Omit, SourceKind
from .prompt_sections import PromptMessage, is_system, sections_in

_USER, _REPLY = ("user", "human"), ("assistant", "ai", "model")
SPEAKING = (*_USER, *_REPLY)
"""The roles of messages that a user or a model has written."""
_NAMES: dict[SourceKind, str] = {"turns": "turn", "memory": "memory", "examples": "example"}


class PromptEditing(Protocol):
    """A ``PromptEditing`` edits each request of a run before it is sent."""

    def edited(self, messages: Sequence[PromptMessage]) -> Sequence[str | None]:
        """Returns the text that each message is sent with; None for a message that is not sent."""
        ...


@dataclass(slots=True, eq=False)
class FirstPrompt:
    """A ``FirstPrompt`` records the requests of a baseline to models, and changes none. ``messages``: the
    messages of the first request. ``dropped``: the messages of the first request that a later request of
    the same conversation does not have. ``requests``: the messages of all requests, each with the moment
    just before the request was sent, a number that is higher for later events. ``is_own_memory``: returns
    True if the application itself remembers a turn with these texts."""

    is_own_memory: Callable[[Collection[str]], bool] = lambda _: False
    messages: tuple[PromptMessage, ...] = ()
    dropped: set[PromptMessage] = field(default_factory=set[PromptMessage])
    requests: list[tuple[int, tuple[PromptMessage, ...]]] = field(
        default_factory=list[tuple[int, tuple[PromptMessage, ...]]]
    )

    def edited(self, messages: Sequence[PromptMessage]) -> Sequence[str | None]:
        """Returns the text of each message, unchanged."""
        self.messages = self.messages or tuple(messages)
        self.requests.append((moment(), tuple(messages)))
        if self.messages[-1:] and self.messages[-1] in messages:
            self.dropped.update(set(self.messages).difference(messages))
        return [each.text for each in messages]

    def messages_of(self, exchanges: Iterable[Exchange]) -> list[tuple[PromptMessage, ...]]:
        """Returns the messages of these exchanges, in order. Leaves out an exchange whose request has no
        messages. Requests that were made at the same time are distinguished by their texts."""
        left, found, before = list(self.requests), list[tuple[PromptMessage, ...]](), 0
        for each in exchanges:
            earlier = [one for one in left if one[0] < each.at]
            shown = _dense(each.request.text)
            having = [one for one in earlier if all(_dense(told.text) in shown for told in one[1])]
            own = having or [one for one in earlier if one[0] > before]
            if own:
                found.append(own[-1][1])
                left.remove(own[-1])
            before = each.at
        return found


@dataclass(frozen=True, slots=True)
class PromptSources:
    """A ``PromptSources`` holds the sources in the first request of a baseline to a model."""

    sources: tuple[Source, ...]
    omit: Omit
    """Is "remove" if an omitted source is removed, "blank" if its messages remain with empty texts."""
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
    """The kind of each source that the application has as data, by id: "turns" for a source in the input,
    "memory" for one that the application remembers. Has no sources that are constants of the
    application."""

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
        ``dropped``: those of them that a later request of the same conversation does not have.
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
        """Returns the messages that are no instructions."""
        return tuple(each for each in self.messages if not is_system(each))

    @property
    def texts(self) -> frozenset[str]:
        """Returns the texts of the messages that are sources. Leaves out a text if a message that is no
        source has it too, for example because the user asks the same question again."""
        owned = Counter(each.text for group in self.groups.values() for each in group)
        return frozenset(owned - (Counter(each.text for each in self.spoken) - owned))


def _dense(text: str) -> str:
    return "".join(text.split())


def _turns_in(messages: Sequence[PromptMessage]) -> Iterator[tuple[PromptMessage, ...]]:
    """Yields the turns before the user's last message, if a model replied in them. Instructions between
    the messages of a turn do not belong to the turn."""
    spoken = [each for each in messages if not is_system(each)]
    asked = [place for place, each in enumerate(spoken) if each.role in _USER]
    for start, end in pairwise(asked):
        group = tuple(spoken[start:end])
        if any(each.role in _REPLY for each in group):
            yield group
