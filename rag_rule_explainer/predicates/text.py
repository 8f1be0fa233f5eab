"""This module contains predicates on the text of an answer."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..allowed import brief, called_as, checked_flag
from ..errors import InvalidInput
from ..verdicts import Case, Judgement, Verdict
from .combine import Combinable
from .pattern_sizes import MOST_PARTS, number_of_parts
from .protocol import answer_key
from .wording import equivalent, normal_form

_LONGEST_SEARCH = 5
"""The maximum number of seconds for the search of a pattern in one answer. It is measured in CPU time of
the whole process. A longer search gives UNKNOWN."""


@dataclass(frozen=True, slots=True)
class Equals(Combinable):
    """This predicate holds iff the answer is exactly ``text``. White space at the start and the end of
    the answer and of ``text`` is ignored."""

    text: str

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS if the answer is the text, else BREAKS."""
        return Judgement(Verdict.of(case.answer.text.strip() == self.text.strip()))

    def __str__(self) -> str:
        return f"the answer is {self.text!r}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer is not 'yes'"."""
        return f"the answer is not {self.text!r}"

    memo_key = answer_key


@dataclass(frozen=True, slots=True)
class Contains(Combinable):
    """This predicate holds iff ``text`` occurs in the answer. ``ignore_case``: if True, upper and lower
    case are not distinguished. ``whole_words``: if True, ``text`` must not begin or end in the middle of
    a word or number of the answer: "5" is not in "5.5", "5 %" or "5-10", and "C" is not in "C++"."""

    text: str
    ignore_case: bool = True
    whole_words: bool = False

    def __post_init__(self) -> None:
        checked_flag("ignore_case", self.ignore_case)
        checked_flag("whole_words", self.whole_words)
        if not self.text:
            raise InvalidInput("contains('') holds for every answer; say which text to look for")

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS if the answer contains the text, else BREAKS."""
        text, answer = self._plain(self.text), self._plain(case.answer.text)
        is_there = text in answer
        if is_there and self.whole_words:
            before = r"(?<!\w)(?<!\d[.,])" if text[0].isalnum() else ""
            before += r"(?<!\d[-–])(?<!\d [-–] )(?<![-−±$€£¥#])" if text[0].isdigit() else ""
            after = r"(?!\w)(?![.,]\d)(?!\+\+|#)" if text[-1].isalnum() else ""
            after += r"(?! ?[%‰°²³^])(?! ?[-–/] ?\d)(?!\+)" if text[-1].isdigit() else ""
            is_there = re.search(f"{before}{re.escape(text)}{after}", answer) is not None
        return Judgement(Verdict.of(is_there))

    def _plain(self, text: str) -> str:
        # A letter with an accent can be one character or two characters, which look the same. So both
        # texts are converted to the form with one character.
        composed = normal_form("NFC", text)
        return normal_form("NFC", composed.casefold()) if self.ignore_case else composed

    def __str__(self) -> str:
        return f"the answer contains {self._text}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer does not contain 'zinc'"."""
        return f"the answer does not contain {self._text}"

    @property
    def _text(self) -> str:
        said = f"the words {self.text!r}" if self.whole_words else repr(self.text)
        return said if self.ignore_case else f"{said} (case counts)"

    memo_key = answer_key


@dataclass(frozen=True, slots=True)
class Matches(Combinable):
    """This predicate holds iff the regular expression ``pattern`` matches somewhere in the answer.

    The judgement is UNKNOWN if the search takes longer than 5 seconds. A pattern with nested repetition,
    such as ``(a|aa)+$``, can take practically for ever in some answers, and an adversary may write such
    an answer.
    """

    pattern: str

    def __post_init__(self) -> None:
        # This import is late, because most users have no patterns.
        import regex

        try:
            if not self.pattern:
                raise InvalidInput("matches('') holds for every answer; say which pattern to look for")
            re.compile(self.pattern)
            if number_of_parts(self.pattern) > MOST_PARTS:
                raise InvalidInput(
                    f"{brief(self.pattern)} repeats so often that it would fill the memory; write "
                    "smaller numbers of repetitions"
                )
            regex.compile(self.pattern)
        except (re.error, regex.error, OverflowError, RecursionError) as error:
            raise InvalidInput(
                f"{self.pattern!r} is not a regular expression: {error}; "
                "escape special characters with a backslash"
            ) from error

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS if the pattern matches in the answer, else BREAKS; UNKNOWN if the search takes
        too long."""
        import regex

        # The library ``regex`` can stop a search and lets other threads run meanwhile; the module ``re``
        # cannot.
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
        """Returns the opposite of this condition in words, as in "the answer does not match /zinc/"."""
        return f"the answer does not match /{self.pattern}/"

    memo_key = answer_key


@dataclass(frozen=True, slots=True)
class OneOf(Combinable):
    """This predicate holds iff the answer equals one of ``texts`` by near-exact match, which ignores
    case, most punctuation, and accents on Latin letters."""

    texts: tuple[str, ...]

    def __call__(self, case: Case) -> Judgement:
        """Returns HOLDS if the answer equals one of the texts, else BREAKS."""
        return Judgement(Verdict.of(any(equivalent(case.answer.text, text) for text in self.texts)))

    def __str__(self) -> str:
        return f"the answer is one of {', '.join(map(repr, self.texts))}"

    @property
    def negation(self) -> str:
        """Returns the opposite of this condition in words, as in "the answer is none of 'yes', 'no'"."""
        return f"the answer is none of {', '.join(map(repr, self.texts))}"

    memo_key = answer_key


def text_given(given: str) -> str:
    """Returns the text unchanged. Raises InvalidInput if it is no str."""
    if not isinstance(given, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        raise InvalidInput(f"a predicate on the answer's text was given {brief(given)}; give a str")
    return given


def texts_given(given: Iterable[str], where: str) -> tuple[str, ...]:
    """Returns the texts as a tuple. Raises InvalidInput for a single str instead of a list, and for a
    list with an object that is no str. ``where``: the name of the parameter, for the error message."""
    # Users may pass values of other types than the annotation says.
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"{where} was given {brief(given)}; give a list of texts")
    return tuple([text_given(text) for text in given])


@called_as("equals")
def equals(text: str) -> Equals:
    """Returns a predicate that holds iff the answer is exactly ``text``. White space at the start and the
    end of the answer and of ``text`` is ignored."""
    return Equals(text_given(text))


@called_as("contains")
def contains(text: str, *, ignore_case: bool = True, whole_words: bool = False) -> Contains:
    """Returns a predicate that holds iff ``text`` occurs in the answer. ``ignore_case``: if True, upper
    and lower case are not distinguished. ``whole_words``: if True, "5 mg" does not occur in "15 mg".
    Raises InvalidInput for an empty text."""
    return Contains(text_given(text), ignore_case, whole_words)


@called_as("matches")
def matches(pattern: str) -> Matches:
    """Returns a predicate that holds iff the regular expression ``pattern`` matches somewhere in the
    answer. Raises InvalidInput for an invalid pattern."""
    return Matches(text_given(pattern))


@called_as("one_of")
def one_of(texts: Iterable[str]) -> OneOf:
    """Returns a predicate that holds iff the answer equals one of ``texts``, as in
    ``one_of(["yes", "no"])``. Texts are compared by near-exact match, which ignores case, most
    punctuation, and accents on Latin letters. Raises InvalidInput for an empty list."""
    given = texts_given(texts, "one_of")
    if not given:
        raise InvalidInput("one_of([]) breaks for every answer; give the texts that may be the answer")
    return OneOf(given)
