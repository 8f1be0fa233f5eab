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

_LONG = 6
"""The number of letters of an ordinary word, such as "where", that may occur in two texts by chance."""


@dataclass(frozen=True, slots=True)
class PromptOmitting:
    """A ``PromptOmitting`` removes the omitted sources from the requests of one replay.

    ``deliver``: is called with the sources in each request. ``said``: returns the replies that the replay
    has got so far; an application may repeat them. ``given``: texts that every replay gets, such as the
    recorded results of tools. ``doubt``: is called with the reason if an omitted
    source may have reached a model.
    """

    known: PromptSources
    kept: frozenset[str]
    deliver: Callable[[Collection[str], bool], None]
    said: Callable[[], Collection[str]]
    given: Collection[str]
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
                for place in self._rest_of(identity, conversation, taken, messages):
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
        self,
        identity: str,
        conversation: Sequence[PromptMessage],
        taken: set[int],
        messages: Sequence[PromptMessage],
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
                self._look_for(identity, message, messages)
            elif len(found) > 1 or known.count(message) > 1:
                self._doubt(identity, message.text)
            else:
                taken.add(found[0])
                yield found[0]

    def _look_for(self, identity: str, message: PromptMessage, messages: Sequence[PromptMessage]) -> None:
        """Calls ``doubt`` if a message that was not in the first request may hold a missing message in
        another form: it has the whole text; or a word that no other source and no other message of the
        first request has, and that is no ordinary short word; or, where only an altered conversation can
        be, any of its words. The replies that this replay has got are not searched."""
        line = line_of(message.text)
        words, known = set(line.split()), set(self.known.messages)
        telling = {each for each in words - self._words_of_others(identity) if _tells(each)}
        ends = self._end_of_known(messages)
        for place, each in enumerate(messages):
            whole = line_of(each.text) if each not in known else ""
            here = self._without_replies(whole)
            found = set(here.split())
            is_altered = place < ends and each.role in SPEAKING and here == whole
            if words and (line in here or telling & found or (is_altered and words & found)):
                self._doubt(identity, each.text)

    def _words_of_others(self, identity: str) -> set[str]:
        """Returns the words of all messages of the first request that are not of this source, and of the
        texts that every replay gets."""
        group = self.known.groups[identity]
        others = [each.text for each in self.known.messages if each not in group]
        return {word for text in (*others, *self.given) for word in line_of(text).split()}

    def _without_replies(self, line: str) -> str:
        for reply in sorted(map(line_of, self.said()), key=len, reverse=True):
            line = line.replace(reply, " ") if reply.strip() else line
        return line

    def _end_of_known(self, messages: Sequence[PromptMessage]) -> int:
        """Returns the index in a request up to which it should be the conversation of the first request:
        that of the user's last message, also if it has another form; else of the last known message."""
        asked, known = self.known.spoken[-1], set(self.known.spoken)
        words = set(line_of(asked.text).split())
        places = [place for place, each in enumerate(messages) if each == asked]
        changed = [
            place
            for place, each in enumerate(messages)
            if each not in known and 2 * len(words & set(line_of(each.text).split())) >= len(words) > 0
        ]
        others = [place for place, each in enumerate(messages) if each in known]
        return max(places or changed or others or [0])

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


def _tells(word: str) -> bool:
    """Returns True iff a word does not occur in two texts by chance as easily as a short one."""
    return len(word) > _LONG or not word.isascii() or not word.isalpha()


def _start_of(
    group: Sequence[PromptMessage], messages: Sequence[PromptMessage], taken: Collection[int]
) -> int | None:
    """Returns the index at which the group begins among the messages, but not in ``taken``; else None."""
    size = len(group)
    for start in range(len(messages) - size + 1):
        if start not in taken and tuple(messages[start : start + size]) == tuple(group):
            return start
    return None
