"""This module tells whether a text depends on a turn, although it is no copy that could be read: the
turn's letters in pieces or between signs, its words in any order, its beginning, or a digest."""

import codecs
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .turn_copies import TurnCopies, told

_BETWEEN = re.compile(
    r"\x1b\[[0-9;?]*[A-Za-z]|<[^<>]*>|\u00ad|=\r?\n"
    r"|^\s*\d*\s*\n?(?:\d+:)?\d+:\d+[.,]\d+ --> .*$|^[ \t]*[-+>|]+[ \t]?",
    re.M,
)
"""Matches what stands between the parts of a text: colours of a terminal, tags, soft hyphens, times of
subtitles, and the signs at the beginning of a changed or quoted line."""
_DUMPED = re.compile(r"^\s*[0-9a-fA-F]{4,8}:?\s+((?:[0-9a-fA-F]{2,8}[ \t]{1,2})+)", re.M)
"""Matches a line of a hexadecimal dump."""
_FIELD = re.compile(r'"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)"')
"""Matches a field of JSON with a text, as in the events of a stream."""
_DIGEST = re.compile(r"(?<![0-9a-zA-Z])[0-9a-f]{8,128}(?![0-9a-zA-Z])", re.I)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s")
_LEAST_LETTERS = 8
"""The smallest number of letters of a message that is looked for without regard to what is between."""
_LEAST_CUT, _LEAST_INITIALS = 6, 4
_CONTENT = 4
"""The smallest number of letters of a word that says what a text is about."""
_LEAST_WORDS = 3
_RUN = 3
"""The number of words of a message, one after the other, that an id or a name does not have by chance."""
_SPREAD = 12
"""The largest span of the words of a message in a text, as a multiple of their number."""
_SHARED = 0.7
"""The smallest share of the words of a text that are the conversation's, if the text depends on it."""
_CUT_ENDS = ("…", "...", "..")


@dataclass(frozen=True)
class Likenesses:
    """A ``Likenesses`` recognises texts that depend on turns. ``turns``: the texts of the turns'
    messages; ``question``: what the user asks now, whose words are no turn's."""

    turns: Sequence[str]
    question: str = ""
    _seen: dict[str, bool] = field(default_factory=dict[str, bool], repr=False)

    def is_like(self, text: str) -> bool:
        """Returns True if a text depends on a turn. False says that no likeness was found, not that the
        text is independent."""
        if text not in self._seen:
            self._seen[text] = any(map(self._is_like, self._forms_of(text)))
        return self._seen[text]

    def is_rare_word(self, text: str) -> bool:
        """Returns True iff a text is a name or a number of at least three digits in a turn, which the
        question does not have."""
        return told(text).squeezed in self._rare

    def shares_words(self, text: str) -> bool:
        """Returns True iff a text has a few words one after the other that a message has."""
        words = told(text).words.split()
        runs = (words[at : at + _RUN] for at in range(len(words) - _RUN + 1))
        said = [told(each).words for each in self.turns]
        return any(
            f" {' '.join(run)} " in each and any(map(_is_content, run)) for run in runs for each in said
        )

    def has_content(self, text: str) -> bool:
        """Returns True iff a text has any word of a message that says what this is about, also where
        signs or capitals join words."""
        words = {each.lower() for each in _WORD.findall(text)}
        return not (words | {*told(text).words.split()}).isdisjoint(self._content)

    def has_digest(self, text: str) -> bool:
        """Returns True iff a text has a digest of messages, whole or cut."""
        return any(
            any(whole.startswith(each.lower()) for whole in self._sums) for each in _DIGEST.findall(text)
        )

    @cached_property
    def counts(self) -> frozenset[int]:
        """Returns the numbers that code may compute of the turns: of messages, words, and letters."""
        words, letters = (
            [len(each.split()) for each in self.turns],
            [len(each) for each in self.turns],
        )
        size = len(self.turns)
        return frozenset(
            {*words, *letters, sum(words), sum(letters), size, size + 1, size // 2, size // 2 + 1}
        )

    def _forms_of(self, text: str) -> Iterator[str]:
        yield text
        plain = _BETWEEN.sub("", text)
        if plain != text:
            yield plain
        dumped = "".join("".join(each.split()) for each in _DUMPED.findall(text))
        if dumped:
            even = dumped[: len(dumped) // 2 * 2]
            yield bytes.fromhex(even).decode("utf-8", "ignore")
        fields = dict[str, list[str]]()
        for name, value in _FIELD.findall(text):
            fields.setdefault(name, []).append(value)
        yield from ("".join(each) for each in fields.values() if len(each) > 1)
        yield plain[::-1]
        yield codecs.encode(plain, "rot13")

    def _is_like(self, text: str) -> bool:
        one = told(text)
        if not one.squeezed or one.words == told(self.question).words:
            return False
        if self._copies.in_text(text, is_field=True):
            return True
        return (
            self._has_letters(one.squeezed)
            or self._is_beginning(text)
            or one.squeezed in self._initials
            or self._has_words(one.words.split())
            or self.has_digest(text)
        )

    @cached_property
    def _copies(self) -> TurnCopies:
        return TurnCopies({"": self.turns}, self.question)

    @cached_property
    def _letters(self) -> frozenset[str]:
        said = {_without_digits(told(each).squeezed) for each in self.turns}
        asked = _without_digits(told(self.question).squeezed)
        return frozenset(each for each in said if len(each) >= _LEAST_LETTERS and each not in asked)

    def _has_letters(self, squeezed: str) -> bool:
        letters = _without_digits(squeezed)
        return any(each in letters for each in self._letters)

    def _is_beginning(self, text: str) -> bool:
        """Returns True iff a text is the beginning of a message, cut anywhere."""
        stripped = text.strip()
        is_cut = stripped.endswith(_CUT_ENDS)
        one = told(stripped).squeezed
        if len(one) < _LEAST_CUT or not (is_cut or len(stripped.split()) > 1):
            return False
        asked = told(self.question).squeezed
        return not asked.startswith(one) and any(
            told(each).squeezed.startswith(one) for each in self.turns
        )

    @cached_property
    def _initials(self) -> frozenset[str]:
        of_each = ["".join(word[0] for word in told(each).words.split()) for each in self.turns]
        longer = ["".join(of_each[start:]) for start in range(len(of_each))]
        longer += ["".join(of_each[start::2]) for start in (0, 1)]
        return frozenset(each for each in (*of_each, *longer) if len(each) >= _LEAST_INITIALS)

    @cached_property
    def _wanted(self) -> list[list[str]]:
        said = [told(each).words.split() for each in self.turns]
        asked = set(told(self.question).words.split())
        return [each for each in said if len({*filter(_is_content, each)} - asked) >= _LEAST_WORDS]

    def _has_words(self, words: list[str]) -> bool:
        """Returns True iff a text has all words of a message near each other, or little else than words
        of the conversation."""
        having = set(words)
        for said in self._wanted:
            if having.issuperset(said) and any(
                _in_order(each, words) for each in (said, sorted(set(said)))
            ):
                return True
        content = set(filter(_is_content, words)) - set(told(self.question).words.split())
        shared = content & self._content
        return len(shared) >= _LEAST_WORDS and len(shared) >= _SHARED * len(content)

    @cached_property
    def _content(self) -> frozenset[str]:
        words = {word for each in self.turns for word in told(each).words.split()}
        return frozenset(filter(_is_content, words))

    @cached_property
    def _rare(self) -> frozenset[str]:
        names = {
            found
            for each in self.turns
            for found in re.findall(r"(?<=\w[ ,])\s*([A-Z][\w-]+|\d{3,})|(?:^|\W)(\d{3,})(?!\w)", each)
        }
        known = set(told(self.question).words.split())
        return frozenset(told(one).squeezed for pair in names for one in pair if one) - known

    @cached_property
    def _sums(self) -> frozenset[str]:
        wholes = [*self.turns, *(sign.join(self.turns) for sign in ("", " ", "\n"))]
        return frozenset(
            hashlib.new(name, each.encode(), usedforsecurity=False).hexdigest()
            for each in wholes
            for name in _DIGESTS
        )


def _in_order(said: Sequence[str], words: Sequence[str]) -> bool:
    """Returns True iff the words ``said`` follow each other in ``words``, with not too many between."""
    for start, first in enumerate(words):
        if first != said[0]:
            continue
        rest = iter(words[start : start + _SPREAD * len(said)])
        if all(each in rest for each in said):
            return True
    return False


def _is_content(word: str) -> bool:
    return len(word) >= _CONTENT or any(each.isdigit() for each in word)


def _without_digits(text: str) -> str:
    return "".join(each for each in text if not each.isdigit())
