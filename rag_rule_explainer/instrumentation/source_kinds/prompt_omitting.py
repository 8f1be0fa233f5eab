"""This module removes omitted parts of prompts (turns, memories, examples, sections of the instructions)
from the requests of a replay.

They were found in the first request of the baseline. A later request may hold them in another form: the
application has dropped a message of a turn, or has rewritten it. What is still whole is removed; where an
omitted part may be there in another form, the replay has no verdict.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from ...printable import printable, shortened
from ..requests.origins import line_of
from .prompt_sections import PromptMessage, is_system, placed
from .prompt_sources import SPEAKING, PromptSources

_CHANGED = (
    "a later request of the replay may hold {source!r} in another form, so it cannot be left out there: "
    "the application has shortened, repeated or rewritten the conversation ({text})"
)


@dataclass(frozen=True, slots=True)
class PromptOmitting:
    """A ``PromptOmitting`` removes the omitted sources from the requests of one replay.

    ``deliver``: is called with the sources in each request. ``said``: returns the replies that the replay
    has got so far; an application may repeat them. ``doubt``: is called with the reason if an omitted
    source may have reached a model.
    """

    known: PromptSources
    kept: frozenset[str]
    deliver: Callable[[Collection[str], bool], None]
    said: Callable[[], Collection[str]]
    doubt: Callable[[str], None]

    def edited(self, messages: Sequence[PromptMessage]) -> Sequence[str | None]:
        """Returns the messages' texts without the omitted sources."""
        texts: list[str | None] = [each.text for each in messages]
        spoken = [place for place, each in enumerate(messages) if not is_system(each)]
        conversation = [messages[place] for place in spoken]
        delivered, taken, torn = list[str](), set[int](), list[str]()
        for identity, group in self.known.groups.items():
            start = _start_of(group, conversation, taken)
            if start is None:
                torn.append(identity)
                continue
            taken.update(range(start, start + len(group)))
            if identity in self.kept:
                delivered.append(identity)
                continue
            for place in spoken[start : start + len(group)]:
                texts[place] = self._left
        for identity in torn:
            if identity not in self.kept:
                for place in self._rest_of(identity, conversation, taken):
                    texts[spoken[place]] = self._left
            self._look_for_twins(identity)
        self._look_for_more(conversation)
        places = placed(self.known.sections, messages)
        delivered += (each for each in places if each in self.kept)
        omitted = [at for each, found in places.items() if each not in self.kept for at in found]
        # Cuts from the end, so that no cut moves a place that is still to be cut.
        for place, start, end in sorted(omitted, reverse=True):
            text = texts[place] or ""
            left = text[:start] + text[end:]
            texts[place] = left if left.strip() or self.known.omit == "blank" else None
        self.deliver(delivered, True)
        return texts

    @property
    def _left(self) -> str | None:
        return "" if self.known.omit == "blank" else None

    def _rest_of(
        self, identity: str, conversation: Sequence[PromptMessage], taken: set[int]
    ) -> Iterator[int]:
        """Yields the places of those messages of an omitted source that are still in the conversation.
        Calls ``doubt`` if it may hold the others in another form, or if it is not clear which of its
        messages they are."""
        known = self.known.spoken
        for message in self.known.groups[identity]:
            found = [
                place for place, each in enumerate(conversation) if each == message and place not in taken
            ]
            if not found:
                self._look_for(identity, message, conversation)
            elif len(found) > 1 or known.count(message) > 1:
                self._doubt(identity, message.text)
            else:
                taken.add(found[0])
                yield found[0]

    def _look_for(
        self, identity: str, message: PromptMessage, conversation: Sequence[PromptMessage]
    ) -> None:
        """Calls ``doubt`` if a message that was not in the first request, and repeats no reply of this
        replay, has words of a missing message: any word before the end of the known conversation, where
        only an altered conversation can be, or the whole message elsewhere."""
        known, said = set(self.known.spoken), [line_of(each) for each in self.said()]
        ends = self._end_of_known(conversation)
        line = line_of(message.text)
        words = set(line.split())
        for place, each in enumerate(conversation):
            here = line_of(each.text)
            if each in known or each.role not in SPEAKING or not words:
                continue
            if any(one in here for one in said if one.strip()):
                continue
            if (place < ends and words & set(here.split())) or line in here:
                self._doubt(identity, each.text)

    def _end_of_known(self, conversation: Sequence[PromptMessage]) -> int:
        """Returns the index in the conversation up to which it should be that of the first request."""
        asked = [place for place, each in enumerate(conversation) if each == self.known.spoken[-1]]
        known = set(self.known.spoken)
        return max(asked or [place for place, each in enumerate(conversation) if each in known] or [0])

    def _look_for_more(self, conversation: Sequence[PromptMessage]) -> None:
        """Calls ``doubt`` if the conversation has a message of an omitted source more often than the
        first request."""
        earlier = list(conversation[: self._end_of_known(conversation) + 1])
        for identity, group in self.known.groups.items():
            for message in group if identity not in self.kept else ():
                if earlier.count(message) > self.known.spoken.count(message):
                    self._doubt(identity, message.text)

    def _look_for_twins(self, identity: str) -> None:
        """Calls ``doubt`` if a source with the same messages as this one, which is not whole in the
        request, is omitted and the other is not: nothing shows which of the two is in the request."""
        group = self.known.groups[identity]
        twins = {each in self.kept for each, other in self.known.groups.items() if other == group}
        if len(twins) > 1:
            self._doubt(identity, group[0].text)

    def _doubt(self, identity: str, text: str) -> None:
        shown = shortened(printable(text), 80)
        self.doubt(_CHANGED.format(source=identity, text=shown))


def _start_of(
    group: Sequence[PromptMessage], messages: Sequence[PromptMessage], taken: Collection[int]
) -> int | None:
    """Returns the index at which the group begins among the messages, but not in ``taken``; else None."""
    size = len(group)
    for start in range(len(messages) - size + 1):
        if start not in taken and tuple(messages[start : start + size]) == tuple(group):
            return start
    return None
