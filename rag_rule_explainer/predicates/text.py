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

_SUPERSCRIPT = re.compile("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]")
_TYPOGRAPHIC = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "\u2212": "-"})
_OPENING, _CLOSING = "\"'`*_ ", "\"'`*_.!?,;: "
"""Quotation marks and emphasis around a whole answer, and what may end one."""
_THOUSANDS = re.compile(r"\d{3}(?!\d)")
_NUMBER = re.compile(r"\.?\d")


@lru_cache(maxsize=2048)
def same_wording(text: str) -> str:
    """The text without what a model varies when it says the same: case, white space, typographic marks,
    and quotation marks or a full stop around the whole."""
    plain = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHIC).casefold()
    return " ".join(plain.split()).lstrip(_OPENING).rstrip(_CLOSING) or text.strip()


@lru_cache(maxsize=2048)
def near_exact(text: str) -> str:
    """The text in the form in which the paper's near-exact match compares answers.

    NFKD, accents taken off Latin letters, case folded, punctuation stripped, white space collapsed.
    Beyond the paper, what tells values apart stays: letters of other scripts (turned to ASCII, all
    Chinese answers would be equal), symbols, per cent, a decimal point, a sign before or after (-3 is not
    3, HER2+ not HER2-), an exponent; and punctuation between digits parts them (2-3 is not 23).
    """
    raised = _SUPERSCRIPT.sub(lambda found: "^" + found[0], text)
    decomposed = unicodedata.normalize("NFKD", raised).replace("\u2212", "-")
    return " ".join("".join(_telling(decomposed)).casefold().split())


def _telling(text: str) -> Iterator[str]:
    """The characters that tell answers apart, and a space where two of them are to stay apart."""
    base = ""  # the last character that is no combining mark
    for place, character in enumerate(text):
        category = unicodedata.category(character)
        if category[0] == "M":
            # Vowel signs of Indic and other scripts are letters too; accents on ASCII letters go.
            yield "" if base.isascii() else character
            continue
        if category[0] in "LN" or (category[0] == "S" and character not in "`^~") or character in "%^":
            yield character
        else:
            yield " " if character.isspace() else _mark(text, place, base)
        base = character


def _mark(text: str, place: int, previous: str) -> str:
    """What is left of the punctuation mark at this place, after this character."""
    mark, following = text[place], text[place + 1 : place + 2]
    if previous.isdigit() and following.isdigit():
        thousands = mark == "," and _THOUSANDS.match(text, place + 1) is not None
        return "" if thousands else "." if mark == "." else " "
    starts = not previous.isalnum()
    if mark == "-" and starts and _NUMBER.match(text, place + 1):
        return "-"
    if mark == "." and starts and following.isdigit():
        return "."
    closes = previous.isalnum() and not (following.isalnum() or following in "-")
    return "-" if mark == "-" and closes else ""


def equivalent(first: str, second: str) -> bool:
    """True iff both are the same under ``near_exact``; texts of marks alone are compared as such."""
    left, right = near_exact(first), near_exact(second)
    return left == right and (bool(left) or first.strip() == second.strip())


@dataclass(frozen=True, slots=True)
class SameAnswer:
    """Holds iff the answer is still the baseline's, but for what ``same_wording`` leaves out.

    Stricter than the near-exact match with a ground truth: accents and all inner punctuation count,
    because here nobody has said what the answer should be.
    """

    def __call__(self, case: Case) -> Judgement:
        """HOLDS or BREAKS."""
        return Judgement(Verdict.of(same_wording(case.answer.text) == same_wording(case.baseline.text)))

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


def _text(given: str) -> str:
    if not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        raise InvalidInput(f"a predicate on the answer's text was given {given!r}; give a str")
    return given


def same_answer() -> SameAnswer:
    """The answer stays the baseline's, but for case, white space and marks around it. The default."""
    return SameAnswer()


def equals(text: str) -> Equals:
    """The answer is exactly ``text``, apart from white space around it."""
    return Equals(_text(text))


def contains(text: str, *, ignore_case: bool = True) -> Contains:
    """``text`` occurs in the answer. Raises InvalidInput for an empty text."""
    return Contains(_text(text), ignore_case)


def matches(pattern: str) -> Matches:
    """The regular expression is found in the answer. Raises InvalidInput for a bad pattern."""
    return Matches(_text(pattern))


def consistent_with(truth: str) -> ConsistentWith:
    """The answer is the ``truth``, by the paper's near-exact match (see ``near_exact``)."""
    return ConsistentWith(_text(truth))
