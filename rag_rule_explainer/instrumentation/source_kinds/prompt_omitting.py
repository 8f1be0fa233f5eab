"""This module removes omitted parts of prompts (turns, memories, examples, sections of the instructions)
from the requests of a replay.

They were found in the first request of the baseline. A later request may hold them in another form: the
application has dropped a message of a turn, or has rewritten it. What is still whole is removed; where an
omitted part may be there in another form, the replay has no verdict.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .left_texts import LeftTexts
from .prompt_sections import PromptMessage, SectionPlace, is_system, placed, sections_in
from .prompt_sources import PromptSources


@dataclass(frozen=True, slots=True)
class PromptOmitting:
    """A ``PromptOmitting`` removes the omitted sources from the requests of one replay.

    ``deliver``: is called with the sources in each request. ``left_texts``: finds texts of omitted
    sources that are still there.
    """

    known: PromptSources
    kept: frozenset[str]
    deliver: Callable[[Collection[str], bool], None]
    left_texts: LeftTexts

    def edited(self, messages: Sequence[PromptMessage]) -> Sequence[str | None]:
        """Returns the messages' texts without the omitted sources."""
        texts: list[str | None] = [each.text for each in messages]
        spoken = [place for place, each in enumerate(messages) if not is_system(each)]
        conversation = [messages[place] for place in spoken]
        delivered, taken, torn = list[str](), set[int](), list[str]()
        missing = dict[str, list[PromptMessage]]()
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
                for place in self._rest_of(identity, conversation, taken, missing):
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
        self._look_for_others(messages, places)
        omitted_sources = [each.id for each in self.known.sources if each.id not in self.kept]
        self.left_texts.check(omitted_sources, missing, messages, texts)
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
        missing: dict[str, list[PromptMessage]],
    ) -> Iterator[int]:
        """Yields the places of those messages of an omitted source that are still in the conversation,
        and adds the others to ``missing``. Calls ``doubt`` if it is not clear which of its messages they
        are."""
        known = self.known.spoken
        for message in self.known.groups[identity]:
            found = [
                place for place, each in enumerate(conversation) if each == message and place not in taken
            ]
            if not found:
                missing.setdefault(identity, []).append(message)
            elif len(found) > 1 or known.count(message) > 1:
                self._doubt(identity, message.text)
            else:
                taken.add(found[0])
                yield found[0]

    def _look_for_more(self, conversation: Sequence[PromptMessage]) -> None:
        """Calls ``doubt`` if the conversation has a message of an omitted source more often than the
        first request."""
        earlier = list(conversation[: self.left_texts.end_of_known(conversation) + 1])
        for identity, group in self.known.groups.items():
            for message in group if identity not in self.kept else ():
                if earlier.count(message) > self.known.spoken.count(message):
                    self._doubt(identity, message.text)

    def _look_for_others(
        self, messages: Sequence[PromptMessage], places: Mapping[str, Sequence[SectionPlace]]
    ) -> None:
        """Calls ``doubt`` if an omitted section was not found, and the request has another section with
        its mark: it may be the same one, rewritten, or that of another agent."""
        missing = {each for each in self.known.sections if each not in self.kept and each not in places}
        known = set(self.known.messages)
        for each in sections_in(messages) if missing else ():
            if each.id in missing and messages[each.at[0]] not in known:
                self._doubt(each.id, each.text)

    def _look_for_twins(self, identity: str) -> None:
        """Calls ``doubt`` if a source with the same messages as this one, which is not whole in the
        request, is omitted and the other is not: nothing shows which of the two is in the request."""
        group = self.known.groups[identity]
        twins = {each in self.kept for each, other in self.known.groups.items() if other == group}
        if len(twins) > 1:
            self._doubt(identity, group[0].text)

    def _doubt(self, identity: str, text: str) -> None:
        self.left_texts.doubt(identity, text)


def _start_of(
    group: Sequence[PromptMessage], messages: Sequence[PromptMessage], taken: Collection[int]
) -> int | None:
    """Returns the index at which the group begins among the messages, but not in ``taken``; else None."""
    size = len(group)
    for start in range(len(messages) - size + 1):
        if start not in taken and tuple(messages[start : start + size]) == tuple(group):
            return start
    return None
