"""Predicates on the wording of an answer."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .combine import both, either, opposite
from .protocol import answer_key

_DECIMAL_OR_SIGN = re.compile(
    # After a letter or its accent, a hyphen is no sign and a full stop begins no number: "café-3".
    r"(?:(?<=\d)|(?<![\w.\u0300-\u036f]))\.(?=\d)|(?<![\w\u0300-\u036f])[-\u2212](?=\.?\d)"
)
_ASCII_NEITHER_LETTER_NOR_SPACE = {
    code: None for code in range(128) if not (chr(code).isalnum() or chr(code).isspace())
}


@lru_cache(maxsize=2048)
def near_exact(text: str) -> str:
    """The text in the form in which the paper's near-exact match compares answers.

    NFKD, accents taken off Latin letters, case folded, punctuation and symbols stripped, white space
    collapsed. Beyond the paper: letters of other scripts stay (turned to ASCII, all Chinese answers
    would be equal), and so do a decimal point and a sign (1.5 is not 15, and -3 is not 3).
    """
    decomposed = unicodedata.normalize("NFKD", text)
    numeric = {found.start() for found in _DECIMAL_OR_SIGN.finditer(decomposed)}
    if decomposed.isascii() and not numeric:
        stripped = decomposed.translate(_ASCII_NEITHER_LETTER_NOR_SPACE)
    else:
        stripped = "".join(_letters(decomposed, numeric))
    return " ".join(stripped.casefold().split())


def _letters(decomposed: str, numeric: set[int]) -> Iterator[str]:
    letter = ""
    for place, character in enumerate(decomposed):
        category = unicodedata.category(character)[0]
        if place in numeric:
            yield "." if character == "." else "-"
        elif category in "LN":
            letter = character
            yield character
        elif category == "M":
            # Vowel signs of Indic and other scripts are letters too; accents on ASCII letters go.
            yield "" if letter.isascii() else character
        elif character.isspace():
            yield " "


def equivalent(first: str, second: str) -> bool:
    """True iff both are the same under ``near_exact``; texts of symbols alone are compared as such."""
    left, right = near_exact(first), near_exact(second)
    return left == right and (bool(left) or first.strip() == second.strip())


@dataclass(frozen=True, slots=True)
class SameAnswer:
    """Holds iff the answer is still the baseline's, by near-exact match."""

    def __call__(self, case: Case) -> Judgement:
        """HOLDS or BREAKS."""
        return Judgement(Verdict.of(equivalent(case.answer.text, case.baseline.text)))

    def __str__(self) -> str:
        return "the answer stays the same"

    @property
    def negation(self) -> str:
        """The clause of its negation."""
        return "the answer changes"

    memo_key = answer_key
    __and__, __or__, __invert__ = both, either, opposite


@dataclass(frozen=True, slots=True)
class Equals:
    """Holds iff the answer, apart from white space around it, is exactly ``text``."""

    text: str

    def __call__(self, case: Case) -> Judgement:
        """HOLDS or BREAKS."""
        return Judgement(Verdict.of(case.answer.text.strip() == self.text.strip()))

    def __str__(self) -> str:
        return f"the answer is {self.text!r}"

    @property
    def negation(self) -> str:
        """The clause of its negation."""
        return f"the answer is not {self.text!r}"

    memo_key = answer_key
    __and__, __or__, __invert__ = both, either, opposite


@dataclass(frozen=True, slots=True)
class Contains:
    """Holds iff ``text`` occurs in the answer; by default whatever its case."""

    text: str
    ignore_case: bool = True

    def __post_init__(self) -> None:
        if not self.text:
            raise InvalidInput("contains('') holds for every answer; say which text to look for")

    def __call__(self, case: Case) -> Judgement:
        """HOLDS or BREAKS."""
        found = (
            self.text.casefold() in case.answer.text.casefold()
            if self.ignore_case
            else self.text in case.answer.text
        )
        return Judgement(Verdict.of(found))

    def __str__(self) -> str:
        return f"the answer contains {self.text!r}"

    @property
    def negation(self) -> str:
        """The clause of its negation."""
        return f"the answer does not contain {self.text!r}"

    memo_key = answer_key
    __and__, __or__, __invert__ = both, either, opposite


@dataclass(frozen=True, slots=True)
class Matches:
    """Holds iff the regular expression is found somewhere in the answer."""

    pattern: str

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise InvalidInput(
                f"{self.pattern!r} is not a regular expression: {error}; "
                "escape special characters with a backslash"
            ) from error

    def __call__(self, case: Case) -> Judgement:
        """HOLDS or BREAKS."""
        return Judgement(Verdict.of(re.search(self.pattern, case.answer.text) is not None))

    def __str__(self) -> str:
        return f"the answer matches /{self.pattern}/"

    @property
    def negation(self) -> str:
        """The clause of its negation."""
        return f"the answer does not match /{self.pattern}/"

    memo_key = answer_key
    __and__, __or__, __invert__ = both, either, opposite


@dataclass(frozen=True, slots=True)
class ConsistentWith:
    """Holds iff the answer is the ``truth``, by the paper's near-exact match."""

    truth: str

    def __call__(self, case: Case) -> Judgement:
        """HOLDS or BREAKS."""
        return Judgement(Verdict.of(equivalent(case.answer.text, self.truth)))

    def __str__(self) -> str:
        return f"the answer is consistent with {self.truth!r}"

    @property
    def negation(self) -> str:
        """The clause of its negation."""
        return f"the answer is inconsistent with {self.truth!r}"

    memo_key = answer_key
    __and__, __or__, __invert__ = both, either, opposite


def same_answer() -> SameAnswer:
    """The answer stays the baseline's, whatever its case, punctuation and accents. The default."""
    return SameAnswer()


def equals(text: str) -> Equals:
    """The answer is exactly ``text``, apart from white space around it."""
    return Equals(text)


def contains(text: str, *, ignore_case: bool = True) -> Contains:
    """``text`` occurs in the answer. Raises InvalidInput for an empty text."""
    return Contains(text, ignore_case)


def matches(pattern: str) -> Matches:
    """The regular expression is found in the answer. Raises InvalidInput for a bad pattern."""
    return Matches(pattern)


def consistent_with(truth: str) -> ConsistentWith:
    """The answer is the ``truth``, by the paper's near-exact match (see ``near_exact``)."""
    return ConsistentWith(truth)
