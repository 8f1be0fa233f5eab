"""This module finds new texts in the requests of a replay: texts that are not in the first request, and
that no model, tool or search has returned. The application may have made such a text from an omitted
source."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...printable import printable, shortened
from ..requests.origins import line_of
from ..requests.volatile import Steady
from .prompt_sections import PromptMessage

_SENTENCE = 3
"""The minimum number of words of an omitted source's text that is searched for inside other texts. A
shorter text could be there by chance."""
_SHORT = 3
"""The minimum number of letters of a known text that is searched for inside other texts. A shorter text
is only compared as a whole."""
_STILL_THERE = (
    "a later request of the replay may hold {source!r} in another form, so it cannot be left out there: "
    "the application has shortened, repeated or rewritten it ({text})"
)
_NOT_TAKEN_OUT = (
    "{source!r} could only be left out of requests, not of the application, and later requests may "
    "depend on it: "
)
_NEW = (
    _NOT_TAKEN_OUT + "they have texts of the application ({text!r}). Where such a text has nothing to do "
    "with it, say so: ignore=[re.escape(the_text)]"
)
_PART = (
    _NOT_TAKEN_OUT
    + "they have only a part of the first request, or have it in another order. Where they "
    "are another agent's, name the instructions with which they begin: ignore=[re.escape(the_text)]"
)
_MARK = "<ignored>"
_LABELS = re.compile(r"^\s*(?:observation|thought|action|action input|answer):", re.I | re.M)
"""Matches the labels of an agent that writes its tool calls as text, such as "Action:" and
"Observation:"."""


@dataclass(frozen=True, slots=True)
class NewTexts:
    """A ``NewTexts`` searches a request for texts that only the application itself can have written.

    ``said``: returns the replies and the results of tools that the replay has got so far. ``given``: the
    texts that every replay gets. ``steady``: replaces parts of texts that differ from run to run without
    a meaning, such as ids. ``refuse``: is called with the reason if the replay cannot have a verdict.
    ``note``: is called with a note for the user if the request may depend on an omitted source.
    """

    said: Callable[[], Collection[str]]
    given: Collection[str]
    steady: Steady
    refuse: Callable[[str], None]
    note: Callable[[str], None]

    def doubt(self, identity: str, text: str) -> None:
        """Leaves the replay without a verdict, because its request may still contain an omitted source.
        ``identity``: the id of the source; ``text``: the text that may come from the source."""
        self.refuse(_STILL_THERE.format(source=identity, text=shortened(printable(text), 80)))

    def check(
        self,
        omitted: Sequence[tuple[str, Sequence[str]]],
        first: Sequence[PromptMessage],
        sent: Sequence[PromptMessage],
    ) -> None:
        """Calls ``doubt`` or ``note`` if a request may depend on an omitted source. A request does not
        depend on an omitted source if it begins with the messages of the first request, and continues
        only with replies, results of tools, and texts that the user's ``ignore=`` matches.

        ``omitted``: the ids and texts of the omitted sources; ``first``: the messages of the first
        request without these sources; ``sent``: the messages of this request.
        """
        if not omitted:
            return
        known, here = self._steadied(first), self._steadied(sent)
        whole_first = line_of("\n".join(each.text for each in first))
        begins_alike = here[: len(known)] == known
        parts = sorted({_squeezed(each) for each in (*self.said(), *self.given)}, key=len, reverse=True)
        for message, steadied in list(zip(sent, here, strict=True))[len(known) if begins_alike else 0 :]:
            is_known = steadied in known and not begins_alike
            left = "" if is_known else self._own_part(message.text, [each for each in parts if each])
            if not left:
                continue
            line = line_of(message.text)
            for identity, wholes in omitted:
                lines = [line_of(each) for each in wholes if len(each.split()) >= _SENTENCE]
                if any(each in line and each not in whole_first for each in lines):
                    self.doubt(identity, message.text)
            shown = shortened(printable(message.text.strip()), 60)
            self.note(_NEW.format(source=omitted[0][0], text=shown))
        if not begins_alike and not self._is_vouched_for(sent):
            self.note(_PART.format(source=omitted[0][0]))

    def _steadied(self, messages: Sequence[PromptMessage]) -> list[tuple[str, str]]:
        return [(each.role, self.steady(each.text)) for each in messages]

    def _is_vouched_for(self, sent: Sequence[PromptMessage]) -> bool:
        """Returns True iff the user's ``ignore=`` matches the whole first message of a request. By such a
        pattern, the user allows the instructions of another agent."""
        first = sent[0].text if sent else ""
        return bool(first.strip()) and not self._own_part(first, ())

    def _own_part(self, text: str, parts: Sequence[str]) -> str:
        """Returns a text without its spaces, its ignored parts and its known parts. Returns an empty text
        if nothing remains. ``parts``: the known parts."""
        left = _squeezed(self.steady.without_ignored(text).replace(_MARK, " "))
        if left in parts:
            return ""
        for each in parts:
            left = left.replace(each, "") if len(each) >= _SHORT else left
        return left


def forms_of(result: object) -> list[str]:
    """Returns the texts in which a framework may show the result of a tool to a model."""
    written = (json.dumps(result, default=str, ensure_ascii=each) for each in (True, False))
    with suppress(TypeError, ValueError, RecursionError):
        return [str(result), *written]
    return [str(result)]


def _squeezed(text: str) -> str:
    """Returns a text without spaces, without the labels that ``_LABELS`` matches, and with only one kind
    of quotation mark, because frameworks write these differently."""
    return "".join(_LABELS.sub(" ", text).replace('"', "'").split())
