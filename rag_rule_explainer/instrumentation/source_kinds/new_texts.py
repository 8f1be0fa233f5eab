"""This module finds texts in the requests of a replay that the application may have made of an omitted
source, because neither the first request nor a model nor a tool nor a search has them."""

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
"""The number of words from which a whole text of an omitted source is looked for in other texts."""
_SHORT = 3
"""The number of letters below which a known text is no part of another one."""
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
"""The labels that an agent which writes its calls as text puts before their parts and their results."""


@dataclass(frozen=True, slots=True)
class NewTexts:
    """A ``NewTexts`` looks through the messages of a request for texts of the application itself.

    ``said``: returns the replies and the results of tools that the replay has got so far. ``given``:
    texts that every replay gets. ``steady``: replaces the parts of texts that have no meaning.
    ``refuse``: is called with the reason if an omitted source is certainly there; ``note``: if the
    request may depend on it.
    """

    said: Callable[[], Collection[str]]
    given: Collection[str]
    steady: Steady
    refuse: Callable[[str], None]
    note: Callable[[str], None]

    def doubt(self, identity: str, text: str) -> None:
        """Leaves the replay without a verdict. ``text``: what may be the source ``identity``."""
        self.refuse(_STILL_THERE.format(source=identity, text=shortened(printable(text), 80)))

    def check(
        self,
        omitted: Sequence[tuple[str, Sequence[str]]],
        first: Sequence[PromptMessage],
        sent: Sequence[PromptMessage],
    ) -> None:
        """Calls ``doubt`` or ``note`` for a request that may depend on an omitted source. It does not if
        it has the messages of the first request, and after them only replies and results of tools; or if
        the user has named what else it has.

        ``omitted``: the ids and texts of the omitted sources; ``first``: the messages of the first
        request without them; ``sent``: those of this request.
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
        """Returns True iff the user has named the text with which a request begins, as the instructions
        of another agent."""
        first = sent[0].text if sent else ""
        return bool(first.strip()) and not self._own_part(first, ())

    def _own_part(self, text: str, parts: Sequence[str]) -> str:
        """Returns what a text has besides ignored and known parts."""
        left = _squeezed(self.steady.without_ignored(text).replace(_MARK, " "))
        if left in parts:
            return ""
        for each in parts:
            left = left.replace(each, "") if len(each) >= _SHORT else left
        return left


def forms_of(result: object) -> list[str]:
    """Returns the texts as which a framework may show the result of a tool to a model."""
    written = (json.dumps(result, default=str, ensure_ascii=each) for each in (True, False))
    with suppress(TypeError, ValueError, RecursionError):
        return [str(result), *written]
    return [str(result)]


def _squeezed(text: str) -> str:
    """Returns a text without spaces and with one kind of quotes, as frameworks write them differently."""
    return "".join(_LABELS.sub(" ", text).replace('"', "'").split())
