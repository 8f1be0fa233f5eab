"""This module recognises the message of a turn in a text that may be a copy of it: whole, in other
letters or signs, behind a label, or a part of it."""

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
"""The letters of writings that have no spaces between words."""
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+")
_LETTER = re.compile(f"[{_SPACELESS}]")
_LONG = 3
"""The smallest number of words in a message that is looked for anywhere in other texts. A shorter one
could be there by chance, so it has to be a line, or stand behind a label or between signs."""
_PART = 4
"""The smallest number of words in a text that counts as a copy if it is a part of a message."""
_SQUEEZED = 16
"""The smallest number of letters in a message that is looked for without regard to spaces."""
_AROUND = 40
"""The number of characters around a short message that show whether it stands alone."""
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
"""The patterns of what stands before and after a message: in a line or behind a label, in quotes, and in
a list."""
_BARE = [
    (
        re.compile(r"(?:^\s*|\n\s*(?:\d+\s)?|[:>\])]\s*|\*\*\s*|[–—：]\s*)$"),
        re.compile(r"[ \t\r]*(?:\s*$|[\n<])"),
    )
]
"""The patterns of what stands before and after a message that is a single word without other signs. They
match less than ``_SIDES``, because such a word also stands in tables and between marks by chance."""


class Told(NamedTuple):
    """A ``Told`` is a text in the form in which it is compared. ``plain``: in small letters, without
    accents and invisible signs; ``words``: its words, each between two spaces; ``squeezed``: its letters
    and digits; ``size``: the number of its words, where two letters of a writing without spaces count as
    a word."""

    plain: str
    words: str
    squeezed: str
    size: float


@lru_cache(maxsize=1024)
def told(text: str) -> Told:
    """Returns a text in the form in which it is compared."""
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
    """A ``TurnCopies`` recognises copies of turns. ``turns``: the messages' texts of each turn, by id;
    ``question``: what the user asks now, which is no copy of an equal message of a turn."""

    turns: Mapping[str, Sequence[str]]
    question: str = ""

    def in_text(self, value: str | bytes, *, is_field: bool, is_prompt: bool = False) -> Set[str]:
        """Returns the ids of the turns of which a text or its readable forms have a copy. ``is_field``:
        True if the text is the value of a field, as which a single word or the question is no copy.
        ``is_prompt``: True for instructions, which have short texts by chance."""
        forms = read_as(value).texts
        if is_field and forms and told(forms[0]).words == told(self.question).words:
            return frozenset()
        said = {text for some in self.turns.values() for text in some if told(text).squeezed}
        found = {each for each in said if is_copied(each, value, is_field, is_prompt)}
        if not is_prompt and len(found) < len(said):
            found.update(*(_listed_in(form, said, self.question, is_field) for form in forms))
        return {identity for identity, some in self.turns.items() if not found.isdisjoint(some)}

    def says_only_messages(self, texts: Sequence[str]) -> bool:
        """Returns True iff all of at least two texts are messages, as in a record of what was said."""
        known = {told(each).words for said in self.turns.values() for each in said}
        known.add(told(self.question).words)
        return len(texts) > 1 and all(told(each).words in known for each in texts)


# Cached, because every replay has the same texts beside its messages.
@lru_cache(maxsize=4096)
def is_copied(message: str, value: str | bytes, is_field: bool, is_prompt: bool) -> bool:
    """Returns True iff one of the readable forms of a text has a copy of the message; see
    ``TurnCopies.in_text``."""
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
    """Returns True iff a short message is a line in a text, or stands behind a label or in a list. A
    single word stands there by chance, unless with the signs around it."""
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
    """Returns the pattern of a message, and that of the message as it is written; None for a single word
    without other signs. ``plain``: the message."""
    between = r"[\W_]*?"
    said = re.compile(rf"(?<!\w){between.join(map(re.escape, words.split()))}(?!\w)")
    if " " in words.strip():
        return said, said
    return said, None if plain.isalnum() else re.compile(re.escape(plain))


def _listed_in(form: str, said: Set[str], question: str, is_field: bool) -> Set[str]:
    """Returns the messages that a text has, if it has nothing but messages and numbers."""
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
