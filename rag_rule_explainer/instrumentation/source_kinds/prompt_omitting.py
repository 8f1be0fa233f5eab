"""This module removes omitted parts of prompts (turns, memories, examples, sections of the instructions)
from the requests of a replay. Some parts are not in the requests at all, because the module
``taking_out`` has already removed them from the replay's input or memory.

All parts were found in the first request of the baseline. In a later request, the application may have
dropped a message of a turn, or rewritten it. Unchanged messages and sections are removed. If another text
may come from an omitted part, ``NewTexts`` ends the replay or notes a doubt.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .asked_models import NOTHING_BESIDE, BesideTexts
from .doubts_of_turns import still_held
from .new_texts import NewTexts
from .prompt_sections import PromptMessage, SectionPlace, is_system, placed, sections_in
from .prompt_sources import PromptSources
from .recorded_requests import GAP, RecordedRequests
from .request_faults import Fault
from .taking_out import TakingOut
from .turn_places import count_of_turns, start_of_turn, without_turns

_STILL_GIVEN = (
    "{source!r} was taken out of the application's input or memory, and a model was sent it all the "
    "same, so the application has it from elsewhere too"
)


Doubt: TypeAlias = Callable[[str, str], None]
"""A function that is called if a text may come from an omitted source. Its arguments are the id of the
source, and the text."""


@dataclass(frozen=True, slots=True)
class PromptOmitting:
    """A ``PromptOmitting`` removes the omitted sources from the requests of one replay."""

    known: PromptSources
    """The sources in the first request of the baseline."""
    kept: frozenset[str]
    """The ids of the retained sources."""
    deliver: Callable[[Collection[str], bool], None]
    """A function that is called for each request with two arguments: the ids of the retained sources in
    the request, and always True."""
    taking_out: TakingOut
    """The object that removed omitted sources from the replay's input and memory. The sources that it
    could not remove are removed from each request."""
    new_texts: NewTexts
    """The object that finds texts in requests that may come from an omitted source, although they differ
    from the source's text."""
    recorded: RecordedRequests | None = None
    """Checks the requests that get recorded replies; None if all requests are really sent."""
    omits: bool = True
    """Is True iff the replay omits any source, of whatever kind."""
    gap: str = ""
    """The text that stands in place of a section that was cut out."""

    def edited(
        self, messages: Sequence[PromptMessage], beside: BesideTexts = NOTHING_BESIDE
    ) -> Sequence[str | None]:
        """Returns the text of each message without the omitted sources; None for a message that is not
        sent at all."""
        self._check_taken(messages)
        self._note_held()
        texts, delivered = self._cut(messages, self._doubt)
        self._look_for_more(messages)
        self._check_recorded(messages, texts, beside)
        first = without_turns(self.known.messages, self.known.groups, self._is_there)
        expected = _left_of(first, self._cut(first, _ignored)[0])
        self.new_texts.check(list(self._left_out()), expected, _left_of(messages, texts))
        self.deliver(delivered, True)
        return texts

    def _note_held(self) -> None:
        """Records a note for the user about each omitted source that is still in the application's input
        or memory. The application may use this source in any way, also in the first request and in its
        answer."""
        for identity, kind in sorted(self.known.held.items()):
            is_left = identity in self.taking_out.omitted and self._is_there(identity)
            if is_left and identity not in self.taking_out.constant:
                self.new_texts.note(still_held(identity, kind, self.known.files.get(identity, "")))

    def check_parameters(self, place: int, parameters: str) -> None:
        """Compares the parameters of a request that gets a recorded reply with those of the request that
        had this reply. ``place``: the number of the request, counted from 0."""
        if self.recorded is not None and self.omits:
            self._tell(self.recorded.fault_of_parameters(place, parameters))
        elif self.recorded is not None:
            self.recorded.note_whole_parameters(place, parameters)

    def _check_recorded(
        self, messages: Sequence[PromptMessage], texts: Sequence[str | None], beside: BesideTexts
    ) -> None:
        if self.recorded is None:
            return
        if not self.omits:
            self.recorded.note_whole(messages, beside)
            return
        taking_out = TakingOut(self.known, self.taking_out.omitted)
        from_requests = replace(self, taking_out=taking_out, gap=GAP)
        self._tell(
            self.recorded.fault(
                messages, texts, lambda each: from_requests._cut(each, _ignored)[0], beside
            )
        )

    def _tell(self, fault: Fault | None) -> None:
        if fault is not None:
            (self.new_texts.refuse if fault.is_sure else self.new_texts.note)(fault.why)

    def _cut(self, messages: Sequence[PromptMessage], doubt: Doubt) -> tuple[list[str | None], list[str]]:
        """Returns two lists: the text of each message without the omitted sources, and the ids of the
        retained sources in the messages. Calls ``doubt`` if it is unclear what has to be removed."""
        texts: list[str | None] = [each.text for each in messages]
        spoken = [place for place, each in enumerate(messages) if not is_system(each)]
        conversation = [messages[place] for place in spoken]
        found, torn = self._found_in(conversation)
        taken = {place for start, size in found.values() for place in range(start, start + size)}
        gone = [
            place
            for identity, (start, size) in found.items()
            for place in range(start, start + size)
            if identity not in self.kept
        ]
        for identity in torn:
            if identity not in self.kept:
                gone += self._rest_of(identity, conversation, taken, doubt)
            self._look_for_twins(identity, doubt)
        for place in gone:
            texts[spoken[place]] = self._left
        sections = {each: text for each, text in self.known.sections.items() if self._is_there(each)}
        places = placed(sections, messages)
        self._cut_sections(places, texts)
        self._look_for_others(messages, places, doubt)
        return texts, [each for each in (*found, *places) if each in self.kept]

    def _found_in(
        self, conversation: Sequence[PromptMessage]
    ) -> tuple[dict[str, tuple[int, int]], list[str]]:
        """Returns two values. The first is a dict for the turns whose messages are all in the
        conversation: the index of a turn's first message and the number of its messages, by id. The
        second is the ids of the other turns."""
        found, torn, taken = dict[str, tuple[int, int]](), list[str](), set[int]()
        for identity, group in self.known.groups.items():
            start = start_of_turn(group, conversation, taken) if self._is_there(identity) else None
            if start is not None:
                found[identity] = start, len(group)
                taken.update(range(start, start + len(group)))
            elif self._is_there(identity):
                torn.append(identity)
        return found, torn

    def _cut_sections(
        self, places: Mapping[str, Sequence[SectionPlace]], texts: list[str | None]
    ) -> None:
        omitted = [at for each, found in places.items() if each not in self.kept for at in found]
        # The texts are cut from the end to the beginning, because a cut moves all text after it.
        for place, start, end in sorted(omitted, reverse=True):
            text = texts[place] or ""
            left = text[:start] + self.gap + text[end:]
            texts[place] = (
                left if left.replace(self.gap, "").strip() or self.known.omit == "blank" else None
            )

    @property
    def _left(self) -> str | None:
        return "" if self.known.omit == "blank" else None

    def _is_there(self, identity: str) -> bool:
        """Returns True iff the application still has the source: the source is retained, or could not be
        removed from the replay's input and memory."""
        return identity not in self.taking_out.taken

    def _left_out(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yields the ids and texts of the omitted sources that could not be taken out of the replay's
        input and memory."""
        gone = {each for each in self.taking_out.omitted if self._is_there(each)}
        for identity, group in self.known.groups.items():
            if identity in gone:
                yield identity, [each.text for each in group]
        yield from ((each, [text]) for each, text in self.known.sections.items() if each in gone)

    def _check_taken(self, messages: Sequence[PromptMessage]) -> None:
        """Finds the turns and sections that were taken out of the replay's input and memory, but are in
        this request nevertheless. These turns and sections no longer count as taken out, so they are
        removed from the requests. An equal turn after the user's last message is ignored, because the
        replay itself may have made it."""
        conversation = [each for each in messages if not is_system(each)]
        last = self.known.spoken[-1:]
        asked = [place for place, each in enumerate(conversation) if each in last]
        earlier = conversation[: max(asked, default=len(conversation))]
        groups, taken = list(self.known.groups.values()), self.taking_out.taken
        for identity in sorted(taken & set(self.known.groups)):
            group = self.known.groups[identity]
            gone = [each for each in taken if self.known.groups.get(each) == group]
            if count_of_turns(group, earlier) <= groups.count(group) - len(gone):
                continue
            if groups.count(group) > 1:  # it is unclear which of the equal turns is omitted
                self.new_texts.refuse(_STILL_GIVEN.format(source=identity))
            taken.discard(identity)
        present = {each.text for each in sections_in(messages)}
        kept = {text for each, text in self.known.sections.items() if each in self.kept}
        for identity in sorted(taken & set(self.known.sections)):
            if self.known.sections[identity] in present - kept:
                taken.discard(identity)
                self.taking_out.constant.add(identity)

    def _rest_of(
        self, identity: str, conversation: Sequence[PromptMessage], taken: set[int], doubt: Doubt
    ) -> Iterator[int]:
        """Yields the indexes of the messages of an omitted source that are still in the conversation.
        Calls ``doubt`` if a message occurs more than once, because it is then unclear which one belongs
        to the source."""
        known = self.known.spoken
        for message in self.known.groups[identity]:
            found = [
                place for place, each in enumerate(conversation) if each == message and place not in taken
            ]
            if len(found) > 1 or (found and known.count(message) > 1):
                doubt(identity, message.text)
            elif found:
                taken.add(found[0])
                yield found[0]

    def _look_for_more(self, messages: Sequence[PromptMessage]) -> None:
        """Calls ``doubt`` if a message of an omitted source occurs more often in the conversation, up to
        the user's last message, than in the first request."""
        known = self.known.spoken
        conversation = [each for each in messages if not is_system(each)]
        asked = [place for place, each in enumerate(conversation) if each == known[-1]]
        earlier = conversation[: max(asked, default=len(conversation) - 1) + 1] if known else []
        for identity, group in self.known.groups.items():
            for message in group if identity not in self.kept and self._is_there(identity) else ():
                if earlier.count(message) > known.count(message):
                    self._doubt(identity, message.text)

    def _look_for_others(
        self,
        messages: Sequence[PromptMessage],
        places: Mapping[str, Sequence[SectionPlace]],
        doubt: Doubt,
    ) -> None:
        """Calls ``doubt`` if an omitted section was not found, but another section with the same heading
        or tag was. This may be the omitted section with a changed text, or a section of another agent."""
        gone = {each for each in self.known.sections if each not in self.kept and self._is_there(each)}
        missing, known = gone.difference(places), set(self.known.messages)
        for each in sections_in(messages) if missing else ():
            if each.id in missing and messages[each.at[0]] not in known:
                doubt(each.id, each.text)

    def _look_for_twins(self, identity: str, doubt: Doubt) -> None:
        """Calls ``doubt`` if a retained turn and an omitted turn have the same messages, because it is
        then unclear which of the two turns is in the request. ``identity``: the id of one of these turns;
        some of its messages are missing in the request."""
        group = self.known.groups[identity]
        twins = [each for each, other in self.known.groups.items() if other == group]
        if len({each in self.kept for each in twins}) > 1 and all(map(self._is_there, twins)):
            doubt(identity, group[0].text)

    def _doubt(self, identity: str, text: str) -> None:
        self.new_texts.doubt(identity, text)


def _left_of(messages: Sequence[PromptMessage], texts: Sequence[str | None]) -> list[PromptMessage]:
    pairs = zip(messages, texts, strict=True)
    return [each._replace(text=text) for each, text in pairs if text is not None]


def _ignored(_identity: str, _text: str) -> None:
    """Does nothing. This function is used as a ``Doubt`` if the messages are only compared and not
    sent."""
