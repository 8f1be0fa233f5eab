"""This module contains predicates on the text of an answer."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..allowed import brief, called_as, checked_flag
from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .combine import both, either, no_truth, opposite
from .protocol import answer_key
from .wording import equivalent, normal_form

_LONGEST_SEARCH = 5
"""The maximum number of seconds (CPU time of the process) for the search of a pattern in one answer."""


@dataclass(frozen=True, slots=True)
class Equals:
    """This predicate holds iff the answer is exactly ``text``. White space around both is ignored."""

    text: str

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS or BREAKS."""
        return Judgement(Verdict.of(case.answer.text.strip() == self.text.strip()))

    def __str__(self) -> str:
        return f"the answer is {self.text!r}"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        return f"the answer is not {self.text!r}"

    memo_key = answer_key
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class Contains:
    """This predicate holds iff ``text`` occurs in the answer. ``ignore_case``: True if upper and lower
    case are not distinguished."""

    text: str
    ignore_case: bool = True

    def __post_init__(self) -> None:
        checked_flag("ignore_case", self.ignore_case)
        if not self.text:
            raise InvalidInput("contains('') holds for every answer; say which text to look for")

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS or BREAKS."""
        return Judgement(Verdict.of(self._plain(self.text) in self._plain(case.answer.text)))

    def _plain(self, text: str) -> str:
        # A letter with an accent can be one character or two, which look the same. Both texts are
        # therefore brought to the form with one character.
        composed = normal_form("NFC", text)
        return normal_form("NFC", composed.casefold()) if self.ignore_case else composed

    def __str__(self) -> str:
        return f"the answer contains {self._text}"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        return f"the answer does not contain {self._text}"

    @property
    def _text(self) -> str:
        return repr(self.text) if self.ignore_case else f"{self.text!r} (case counts)"

    memo_key = answer_key
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class Matches:
    """This predicate holds iff the regular expression matches somewhere in the answer.

    A search that takes longer than 5 seconds gives UNKNOWN. With nested repetition, as in ``(a|aa)+$``,
    the search in some answers would take practically for ever, and an adversary may write such answers.
    """

    pattern: str

    def __post_init__(self) -> None:
        # imported late, because most users have no patterns
        import regex

        try:
            if not self.pattern:
                raise InvalidInput("matches('') holds for every answer; say which pattern to look for")
            re.compile(self.pattern)
            regex.compile(self.pattern)
        except (re.error, regex.error, OverflowError, RecursionError) as error:
            raise InvalidInput(
                f"{self.pattern!r} is not a regular expression: {error}; "
                "escape special characters with a backslash"
            ) from error

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS or BREAKS, or UNKNOWN if the search takes too long."""
        import regex

        # A search by the module ``re`` cannot be stopped and blocks all other threads, so ``regex`` is
        # used.
        try:
            found = regex.search(self.pattern, case.answer.text, timeout=_LONGEST_SEARCH, concurrent=True)
        except TimeoutError:
            return Judgement(
                Verdict.UNKNOWN,
                f"the search for /{self.pattern}/ took longer than {_LONGEST_SEARCH} seconds; write the "
                "pattern without a repetition inside a repetition, such as (a|aa)+",
            )
        return Judgement(Verdict.of(found is not None))

    def __str__(self) -> str:
        return f"the answer matches /{self.pattern}/"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        return f"the answer does not match /{self.pattern}/"

    memo_key = answer_key
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


@dataclass(frozen=True, slots=True)
class OneOf:
    """This predicate holds iff the answer equals one of ``texts`` by the paper's near-exact match."""

    texts: tuple[str, ...]

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS or BREAKS."""
        return Judgement(Verdict.of(any(equivalent(case.answer.text, text) for text in self.texts)))

    def __str__(self) -> str:
        return f"the answer is one of {', '.join(map(repr, self.texts))}"

    @property
    def negation(self) -> str:
        """Returns the words by which a rule says that the condition does not hold."""
        return f"the answer is none of {', '.join(map(repr, self.texts))}"

    memo_key = answer_key
    __and__, __or__, __invert__, __bool__ = both, either, opposite, no_truth


def text_given(given: str) -> str:
    """Returns the text unchanged. Raises InvalidInput if it is no str."""
    if not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        raise InvalidInput(f"a predicate on the answer's text was given {brief(given)}; give a str")
    return given


def texts_given(given: Iterable[str], where: str) -> tuple[str, ...]:
    """Returns the texts as a tuple. Raises InvalidInput for a single str, and for a list that contains
    other objects than str."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"{where} was given {brief(given)}; give a list of texts")
    return tuple([text_given(text) for text in given])


@called_as("equals")
def equals(text: str) -> Equals:
    """Returns a predicate that holds iff the answer is exactly ``text``. White space around both is
    ignored."""
    return Equals(text_given(text))


@called_as("contains")
def contains(text: str, *, ignore_case: bool = True) -> Contains:
    """Returns a predicate that holds iff ``text`` occurs in the answer. Raises InvalidInput for an empty
    text."""
    return Contains(text_given(text), ignore_case)


@called_as("matches")
def matches(pattern: str) -> Matches:
    """Returns a predicate that holds iff the regular expression ``pattern`` matches somewhere in the
    answer. Raises InvalidInput for an invalid pattern."""
    return Matches(text_given(pattern))


@called_as("one_of")
def one_of(texts: Iterable[str]) -> OneOf:
    """Returns a predicate that holds iff the answer equals one of ``texts``, as in ``one_of(["yes",
    "no"])``. Texts are compared by the paper's near-exact match. Raises InvalidInput for an empty
    list."""
    given = texts_given(texts, "one_of")
    if not given:
        raise InvalidInput("one_of([]) breaks for every answer; give the texts that may be the answer")
    return OneOf(given)
