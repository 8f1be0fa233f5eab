"""This module finds texts of omitted turns and sections that are still in a request of a replay, because
the application has shortened, repeated or rewritten them there. The replay then has no verdict."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...printable import printable, shortened
from ..requests.origins import line_of
from .prompt_sections import PromptMessage
from .prompt_sources import SPEAKING, PromptSources

_CHANGED = (
    "a later request of the replay may hold {source!r} in another form, so it cannot be left out there: "
    "the application has shortened, repeated or rewritten it ({text})"
)
_LONG = 6
"""The number of letters of an ordinary word, such as "where", that may occur in two texts by chance."""
_PHRASE = 4
"""The number of words in a row that two instructions hardly share by chance."""
_SENTENCE = 3
"""The number of words from which a whole message is looked for also where it was found and removed."""


@dataclass(frozen=True, slots=True)
class LeftTexts:
    """A ``LeftTexts`` looks through the messages of a request that were not in the first one.

    ``said``: returns the replies that the replay has got so far; an application may repeat them.
    ``given``: texts that every replay gets, such as the recorded results of tools. ``refuse``: is called
    with the reason if an omitted source may have reached a model.
    """

    known: PromptSources
    said: Callable[[], Collection[str]]
    given: Collection[str]
    refuse: Callable[[str], None]
    _marks: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]], init=False)

    def doubt(self, identity: str, text: str) -> None:
        """Leaves the replay without a verdict. ``text``: what may be the source ``identity``."""
        self.refuse(_CHANGED.format(source=identity, text=shortened(printable(text), 80)))

    def check(
        self,
        omitted: Collection[str],
        missing: Mapping[str, Sequence[PromptMessage]],
        messages: Sequence[PromptMessage],
        texts: Sequence[str | None],
    ) -> None:
        """Calls ``doubt`` for each omitted source of which a message may still have something: a whole
        text; a word or phrase that nothing else in the first request has; or, where only an altered
        conversation can be, any word of a message that is missing.

        ``missing``: the messages of omitted sources that were not found. ``texts``: the messages' texts
        without what was removed.
        """
        first, ends = set(self.known.messages), self.end_of_known(messages)
        for place, (message, text) in enumerate(zip(messages, texts, strict=True)):
            if not omitted or message in first or not text:
                continue
            whole = line_of(text)
            here = self._without_replies(whole)
            is_altered = place < ends and message.role in SPEAKING and here == whole
            for identity in omitted:
                lost = [line_of(each.text) for each in missing.get(identity, ())]
                words = {word for line in lost for word in line.split()} if is_altered else set[str]()
                marks = self._marks_of(identity, omitted)
                if self._is_left(identity, lost, marks, here) or words & set(here.split()):
                    self.doubt(identity, message.text)

    def end_of_known(self, messages: Sequence[PromptMessage]) -> int:
        """Returns the index in a request up to which it should be the conversation of the first request:
        that of the user's last message, also if it has another form; else of the last known message."""
        known = set(self.known.spoken)
        asked = self.known.spoken[-1] if self.known.spoken else PromptMessage("", "")
        words = set(line_of(asked.text).split())
        places = [place for place, each in enumerate(messages) if each == asked]
        changed = [
            place
            for place, each in enumerate(messages)
            if each not in known and 2 * len(words & set(line_of(each.text).split())) >= len(words) > 0
        ]
        others = [place for place, each in enumerate(messages) if each in known]
        return max(places or changed or others or [0])

    def _is_left(self, identity: str, lost: Sequence[str], marks: Collection[str], here: str) -> bool:
        lines = [*lost, *(line_of(each.text) for each in self.known.groups.get(identity, ()))]
        long = [each for each in lines if each in lost or len(each.split()) >= _SENTENCE]
        found = [each for each in (*long, *marks) if each.strip() and each in here]
        # What a tool returned, for example, may say the same as the source.
        return any(not any(each in line_of(other) for other in self.given) for each in found)

    def _marks_of(self, identity: str, omitted: Collection[str]) -> frozenset[str]:
        """Returns the words and phrases of a source, with spaces around each, that nothing else has which
        this replay sends: no retained message or section of the first request, and no text that every
        replay gets. ``omitted``: the ids of all sources that the replay omits."""
        if identity not in self._marks:
            groups, sections = self.known.groups, self.known.sections
            gone = {each for other in omitted for each in groups.get(other, ())}
            rest = [each.text for each in self.known.messages if each not in gone]
            for other in filter(None, (sections.get(each) for each in omitted)):
                rest = [each.replace(other, "\n") for each in rest]
            others = [line_of(each) for each in (*rest, *self.given)]
            section = sections.get(identity, "")
            own = [*(each.text for each in groups.get(identity, ())), section]
            found = {each for text in own for each in _marking(text, is_section=bool(section))}
            self._marks[identity] = frozenset(
                each for each in found if not any(each in other for other in others)
            )
        return self._marks[identity]

    def _without_replies(self, line: str) -> str:
        for reply in sorted(map(line_of, self.said()), key=len, reverse=True):
            line = line.replace(reply, " ") if reply.strip() else line
        return line


def _marking(text: str, *, is_section: bool) -> set[str]:
    """Returns the words and phrases of a text that do not occur in two texts by chance. Instructions of
    several agents have long words in common, so of these only words such as numbers count there. In some
    languages, each character is a word, so a word that is not Latin has to be long, too."""
    words = line_of(text).split()
    longest = len(text) if is_section else _LONG
    single = {each for each in words if len(each) > longest or not each.isalpha()}
    phrases = {" ".join(words[place : place + _PHRASE]) for place in range(len(words) - _PHRASE + 1)}
    return {f" {each} " for each in (*single, *phrases)}
