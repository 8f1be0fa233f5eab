"""This module recognises the message of a turn in a text that may be a copy of it: whole, in other
letters or signs, behind a label, or a part of it."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from .readable_forms import readable

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
_BEFORE = r"(?:^|[\n>\])}|:=*•–—「『«]|(?<![\w.])\d+[.)]|(?<![\w])-)[\s\"'`*_]*"
_AFTER = r"[.!?。！？…]*[\s\"'`*_]*(?:$|[\n<\[({|;」』»])"
_QUOTED = r"[\"“”'`]"
_SEPARATED = r"(?:^|[,;|])\s*(?:\d+[.)]\s*)?"


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
    plain = "".join(
        each
        for each in unicodedata.normalize("NFKD", text).casefold()
        if unicodedata.category(each) not in {"Mn", "Cf"}
    )
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
    _words: dict[str, list[Told]] = field(default_factory=dict[str, list[Told]], init=False)

    def __post_init__(self) -> None:
        for identity, said in self.turns.items():
            self._words[identity] = [each for each in map(told, said) if each.squeezed]

    def in_text(self, value: str | bytes, *, is_field: bool, is_prompt: bool = False) -> Set[str]:
        """Returns the ids of the turns of which a text or its readable forms have a copy. ``is_field``:
        True if the text is the value of a field, as which a single word or the question is no copy.
        ``is_prompt``: True for instructions, which have short texts by chance."""
        forms = [told(each) for each in readable(value).texts]
        if is_field and forms and forms[0].words == told(self.question).words:
            return frozenset()
        found = {
            identity
            for identity, said in self._words.items()
            if any(self._is_copy(one, form, is_field, is_prompt) for one in said for form in forms)
        }
        return found if is_prompt else found.union(*(self._listed_in(form, is_field) for form in forms))

    def _listed_in(self, form: Told, is_field: bool) -> Set[str]:
        """Returns the ids of the turns whose messages a text has, if it has nothing but messages and
        numbers."""
        if is_field and form.size <= 1:
            return frozenset()
        left, found = form.words, set[str]()
        said = [(one, identity) for identity, some in self._words.items() for one in some]
        for one, identity in sorted(said, key=lambda each: -each[0].size):
            if one.words in form.words:
                found.add(identity)
                while one.words in left:
                    left = left.replace(one.words, " ")
        asked = told(self.question).words
        words = (left.replace(asked, " ") if asked.strip() else left).split()
        return found if not any(each.isalpha() for each in words) else frozenset()

    def says_only_messages(self, texts: Sequence[str]) -> bool:
        """Returns True iff all of at least two texts are messages, as in a record of what was said."""
        known = {each.words for said in self._words.values() for each in said} | {
            told(self.question).words
        }
        return len(texts) > 1 and all(told(each).words in known for each in texts)

    def _is_copy(self, one: Told, form: Told, is_field: bool, is_prompt: bool) -> bool:
        if one.words == form.words:
            return not (is_field and one.size <= 1 and form.plain.strip().isalnum())
        if one.size >= _LONG and one.words in form.words:
            return True
        if len(one.squeezed) >= _SQUEEZED and one.size > 1 and one.squeezed in form.squeezed:
            return True
        if is_prompt:
            return False
        if form.size >= _PART and form.words in one.words:
            return True
        return one.size < _LONG and any(
            each.search(form.plain) for each in _patterns(one.words, one.plain.strip())
        )


@lru_cache(maxsize=256)
def _patterns(words: str, plain: str) -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of a short message that is a line, or stands behind a label or in a list. A
    single word stands there by chance, unless with the signs around it. ``plain``: the message."""
    between = r"[\W_]*?"
    said = rf"(?<!\w){between.join(map(re.escape, words.split()))}(?!\w)"
    exact = said if " " in words.strip() else "" if plain.isalnum() else re.escape(plain)
    return tuple(re.compile(each, re.M) for each in _forms_of(said, exact))


def _forms_of(said: str, exact: str) -> Iterator[str]:
    yield f"{_BEFORE}{said}{_AFTER}"
    if exact:
        yield f"{_QUOTED}{exact}[.!?]*{_QUOTED}"
        yield f"{_SEPARATED}{exact}[.!?]*\\s*(?:$|[,;|])"
