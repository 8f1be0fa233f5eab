"""This module judges single texts and numbers beside the messages by their names, their form, their size
and their likeness to turns."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .field_names import Naming, is_count, is_of_orders, is_question, naming_in, naming_of
from .formal_texts import is_formal
from .likenesses import Likenesses
from .readable_forms import is_encoded_media
from .turn_copies import told

_SHORT = 4
_LONGEST_WORD = 64
"""The length of the longest text without spaces that is taken for a word of a list of choices, an id, a
date or the like."""
_LONGEST_UNSPACED = 4
"""The largest number of characters of such a text in a script without spaces, such as Chinese."""
_LONGER = 8
"""The smallest number of times by which a text is longer than the conversation, if it is no form."""
_LONG = 1_500
"""The length of the shortest such text."""
_PROSE = 0.8
"""The smallest share of letters and spaces in it."""
_ID = re.compile(
    r"(?=[^ ]*\d)[\w.:/@+#-]+|https?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[a-z]{2}(?:[-_][A-Z]{2})?"
)
"""Matches ids, dates, addresses and languages."""
_SIGN = re.compile(r"[\w.:/@+#%&?=~,;*|\\-]+")
_SECRET = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)?[A-Za-z0-9+/=_]{24,}")
"""Matches a text that may be encoded or encrypted."""
_TELLING = re.compile(
    r"\b(?:user|customer|client|visitor|caller|guest|assistant|agent|bot|he|she|they|you|we)"
    r"(?: (?:has|have|had|already|also|then|first|just))* (?:asked|said|told|mentioned|wanted|wrote"
    r"|inquired|requested|complained|reported|learned|replied|answered|talked|spoke|discussed|agreed)\b"
    r"|\b(?:earlier|so far|previously|before)\b.*\b(?:asked|said|discussed|talked|told|conversation)\b",
    re.I | re.S,
)
"""Matches a report of what was said."""


@dataclass(slots=True, eq=False)
class DoubtfulTexts:
    """A ``DoubtfulTexts`` judges texts and numbers; see ``DoubtfulFields``. ``trusts``: True if one whose
    names say nothing is trusted."""

    like: Likenesses
    said: Collection[str]
    is_constant: Callable[[str], bool]
    trusts: bool = False
    trusts_short: bool = False
    """True if a text of a few words is trusted, as the application holds it from before the run."""

    def naming(self, names: Iterable[str]) -> Naming:
        """Returns what the names of a field say, from the inside out."""
        said = naming_in(names)
        return Naming.OTHER if said is Naming.NEUTRAL and self.trusts else said

    def is_number_of_talk(self, value: Any, names: tuple[str, ...]) -> bool:
        """Returns True iff a number may be of a turn, such as how many there are."""
        name = names[0] if names else ""
        if is_count(name) and (value in self.like.counts or naming_of(name) is Naming.TALK):
            return True
        said = self.naming(names)
        return said is Naming.TALK or (said is Naming.NEUTRAL and self.like.is_rare_word(str(value)))

    def is_doubtful(
        self, text: str, names: tuple[str, ...], forms: Sequence[str], count: int = 1
    ) -> bool:
        """Returns True iff nothing speaks for a text. ``forms``: the texts that it may stand for;
        ``count``: how many texts were beside it in a list, and it."""
        naming = self.naming(names)
        is_word = count == 1 and text.isalnum() and len(text) < _LONGEST_WORD
        is_like = any(map(self.like.is_like, (text, *forms)))
        if self.is_question(text, names, naming):
            return False
        is_by_chance = is_word and naming is Naming.OTHER and not self.like.has_digest(text)
        if is_like and not is_by_chance:
            return True
        is_media = is_encoded_media(text.rpartition(";base64,")[2])
        return not is_media and not self.is_constant(text) and self._has_nothing_for_it(text, names)

    def _has_nothing_for_it(self, text: str, names: tuple[str, ...]) -> bool:
        naming = self.naming(names)
        if naming is Naming.OTHER:
            return _TELLING.search(text) is not None and not any(map(is_of_orders, names))
        if self.like.is_rare_word(text):
            return True
        if naming is Naming.TALK:
            return _ID.fullmatch(text.strip()) is None
        if self.trusts_short and len(text.split()) <= _SHORT:
            return False
        if is_formal(text) and not self.like.has_content(text):
            return False
        return self.like.shares_words(text) if _is_sign(text) else not self.is_long(text)

    def is_question(self, text: str, names: tuple[str, ...], naming: Naming) -> bool:
        """Returns True iff a text is the user's question, or empty."""
        asked, one = told(self.like.question).words, told(text).words
        if one == asked or not text.strip():
            return True
        name = names[0] if names else "input"
        return (
            is_question(name) and naming is not Naming.TALK and bool(one.strip()) and asked.endswith(one)
        )

    def is_long(self, text: str) -> bool:
        """Returns True iff a text is too long for another form of the conversation."""
        letters = sum(each.isalpha() or each.isspace() for each in text)
        is_prose = letters >= _PROSE * len(text)
        return is_prose and len(text) > max(_LONG, _LONGER * sum(map(len, self.said)))


def _is_sign(text: str) -> bool:
    """Returns True iff a text is a single word, an id, a date or the like."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_WORD or len(stripped.split()) > 1:
        return False
    if not stripped.isascii() and told(stripped).size > 1 and len(stripped) > _LONGEST_UNSPACED:
        return False
    if _SECRET.fullmatch(stripped):
        return False
    is_mark = len(stripped) <= _LONGEST_UNSPACED and not any(map(str.isalnum, stripped))
    return _SIGN.fullmatch(stripped) is not None or is_mark
