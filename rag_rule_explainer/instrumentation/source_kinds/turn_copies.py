"""This module recognises copies of a turn's messages in other texts. A copy may contain the whole
message, with other punctuation or capital letters, or behind a label such as "User:". It may also contain
only a part of the message."""

import re
import unicodedata
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .readable_forms import read_as

_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fffd"
)
"""The characters of scripts that have no spaces between words, such as Chinese."""
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+")
_LETTER = re.compile(f"[{_SPACELESS}]")
_LONG = 3
"""A message with at least this many words is searched for anywhere in other texts. A shorter message
could be there by chance. So it counts as a copy only if it is a line of its own, or is in quotes, in a
list, or behind a label."""
_PART = 4
"""If a text with at least this many words is a part of a message, the text counts as a copy."""
_SQUEEZED = 16
"""A message with at least this many letters is also searched for with all spaces ignored."""
_AROUND = 40
"""The number of characters before and after a short message that are checked to find out whether the
message stands alone."""
_SIDES = [
    (re.compile(before), re.compile(after))
    for before, after in (
        (
            r"(?:^\s*|\n(?:\s*\d+\s)?|[>\])}|:=*•–—「『«]|(?<![\w.])\d+[.)]|(?<!\w)-)[\s\"'`*_]*$",
            r"[.!?。！？…]*[ \t\r\"'`*_]*(?:\s*$|[\n<\[({|;」』»])",
        ),
        (r"[\"“”'`]$", r"[.!?]*[\"“”'`]"),
        (r"(?:^|[\n,;|])\s*(?:\d+[.)]\s*)?$", r"[.!?]*\s*(?:$|[\n,;|])"),
    )
]
"""Patterns for the text before and after a short message that stands alone: in a line or behind a label,
in quotes, and in a list."""
_BARE = [
    (
        re.compile(r"(?:^\s*|\n\s*(?:\d+\s)?|[:>\])]\s*|\*\*\s*|[–—：]\s*)$"),
        re.compile(r"[ \t\r]*(?:\s*$|[\n<])"),
    )
]
"""Patterns for the text before and after a message of a single word without punctuation. They match in
fewer cases than ``_SIDES``, because such a word may by chance be in a table or in brackets."""


class Told(NamedTuple):
    """A ``Told`` is a text, prepared for comparisons. ``plain``: the text in small letters, without
    accents and invisible characters. ``words``: its words, separated by spaces. ``squeezed``: its letters
    and digits. ``size``: the number of its words; in a script without spaces, two characters count as one
    word."""

    plain: str
    words: str
    squeezed: str
    size: float


@lru_cache(maxsize=1024)
def told(text: str) -> Told:
    """Returns the ``Told`` of a text, in which two texts are compared."""
    plain = text.casefold()
    if not text.isascii():
        signs = unicodedata.normalize("NFKD", text).casefold()
        plain = "".join(each for each in signs if unicodedata.category(each) not in {"Mn", "Cf"})
    words = _WORD.findall(plain)
    letters = sum(bool(_LETTER.match(each)) for each in words)
    size = len(words) - letters / 2
    return Told(plain, f" {' '.join(words)} ", "".join(words), size)


@dataclass(frozen=True, slots=True)
class TurnCopies:
    """A ``TurnCopies`` recognises copies of turns. ``turns``: the texts of the messages of each turn, by
    the turn's id. ``question``: the user's present question. A field that contains only this question is
    no copy of a turn, even if the turn has the same question."""

    turns: Mapping[str, Sequence[str]]
    question: str = ""

    def in_text(self, value: str | bytes, *, is_field: bool, is_prompt: bool = False) -> Set[str]:
        """Returns the ids of the turns of which the text ``value`` contains a copy, perhaps in an encoded
        form. ``is_field``: True if the text is the whole value of a field. A single word, or the user's
        present question, is then no copy. ``is_prompt``: True for instructions, which may contain short
        messages by chance."""
        forms = read_as(value).texts
        if is_field and forms and told(forms[0]).words == told(self.question).words:
            return frozenset()
        said = {text for some in self.turns.values() for text in some if told(text).squeezed}
        found = {each for each in said if is_copied(each, value, is_field, is_prompt)}
        if not is_prompt and len(found) < len(said):
            found.update(*(_listed_in(form, said, self.question, is_field) for form in forms))
        return {identity for identity, some in self.turns.items() if not found.isdisjoint(some)}

    def says_only_messages(self, texts: Sequence[str]) -> bool:
        """Returns True iff there are at least two texts and all of them are messages. The texts are then
        a record of the conversation."""
        known = {told(each).words for said in self.turns.values() for each in said}
        known.add(told(self.question).words)
        return len(texts) > 1 and all(told(each).words in known for each in texts)


# The result is cached, because every replay compares the same texts.
@lru_cache(maxsize=4096)
def is_copied(message: str, value: str | bytes, is_field: bool, is_prompt: bool) -> bool:
    """Returns True iff one of the readable forms of ``value`` contains a copy of the message. The
    parameters are those of ``TurnCopies.in_text``."""
    one = told(message)
    return any(_is_copy(one, told(each), is_field, is_prompt) for each in read_as(value).texts)


def _is_copy(one: Told, form: Told, is_field: bool, is_prompt: bool) -> bool:
    if one.words == form.words:
        return not (is_field and one.size <= 1 and form.plain.strip().isalnum())
    is_inside = one.words in form.words
    if is_inside and one.size >= _LONG:
        return True
    if len(one.squeezed) >= _SQUEEZED and one.size > 1 and one.squeezed in form.squeezed:
        return True
    if is_prompt:
        return False
    if form.size >= _PART and form.words in one.words:
        return True
    return is_inside and one.size < _LONG and _stands_alone(one, form.plain)


def _stands_alone(one: Told, text: str) -> bool:
    """Returns True iff a short message stands alone in a text: as a line, behind a label, in quotes, or
    in a list. A single word is often in lists by chance, so it must be a line or be behind a label, or
    have its punctuation, as in "Why?"."""
    said, exact = _patterns(one.words, one.plain.strip())
    is_bare = exact is None
    for pattern, sides in ((said, _BARE if is_bare else _SIDES[:1]), (exact, _SIDES[1:])):
        for found in pattern.finditer(text) if pattern is not None else ():
            before, after = text[max(0, found.start() - _AROUND) : found.start()], text[found.end() :]
            if any(left.search(before) and right.match(after[:_AROUND]) for left, right in sides):
                return True
    return False


@lru_cache(maxsize=256)
def _patterns(words: str, plain: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """Returns two patterns for a message: one that ignores punctuation and spaces, and one for the
    message as it is written. The second one is None for a single word without punctuation. ``plain``: the
    text of the message."""
    between = r"[\W_]*?"
    said = re.compile(rf"(?<!\w){between.join(map(re.escape, words.split()))}(?!\w)")
    if " " in words.strip():
        return said, said
    return said, None if plain.isalnum() else re.compile(re.escape(plain))


def _listed_in(form: str, said: Set[str], question: str, is_field: bool) -> Set[str]:
    """Returns the messages in a text that contains only messages and numbers. Returns no messages for any
    other text."""
    whole = told(form)
    if is_field and whole.size <= 1:
        return frozenset()
    left, found = whole.words, set[str]()
    for each in sorted({*said, question}, key=len, reverse=True):
        words = told(each).words
        while words.strip() and words in left:
            left = left.replace(words, " ")
            found.add(each)
    return found & said if not any(each.isalpha() for each in left.split()) else frozenset()
