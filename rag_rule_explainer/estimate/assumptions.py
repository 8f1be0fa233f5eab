"""What an estimate assumes, because nobody knows it before anything is spent."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isfinite

from ..allowed import checked_function
from ..errors import InvalidInput

_CHARACTERS_PER_TOKEN = 4
_DENSE = 0x2E80
"""From here on, scripts are mostly written a token a character."""


def approximate_tokens(text: str) -> int:
    """Returns a token every four characters, and one for each character of scripts without spaces."""
    dense = 0 if text.isascii() else sum(ord(character) >= _DENSE for character in text)
    return dense + ceil((len(text) - dense) / _CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class RunShape:
    """What models are asked in one run of an application, as far as it was followed: up to the first
    request that shows something retrieved.

    ``asked_before``: what they were sent before that, ``written_before``: what they replied.
    ``one_at_a_time``: whether that first request shows one of several documents, so that each of them
    will have one of its own.
    """

    asked_before: tuple[str, ...] = ()
    written_before: tuple[str, ...] = ()
    one_at_a_time: bool = False

    def requests(self, sources: int) -> int:
        """Returns how many are foreseen where all sources are shown."""
        return len(self.asked_before) + (max(1, sources) if self.one_at_a_time else 1)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """``answer_tokens``: of an answer. ``seconds_per_replay``: of one run of the application. ``model``:
    whose price is taken; may be left out where the table has one price only. ``count_tokens``: of a text;
    by default, a rough guess that is right within a fifth for English.

    Raises InvalidInput for what is no number, or below 0, and for a model without a name.
    """

    answer_tokens: int = 150
    seconds_per_replay: float = 2.0
    model: str | None = None
    count_tokens: Callable[[str], int] = approximate_tokens

    def __post_init__(self) -> None:
        tokens, seconds = self.answer_tokens, self.seconds_per_replay
        if type(tokens) is not int or tokens < 0:
            raise InvalidInput(f"answer_tokens is {tokens!r}; give a whole number, 0 or more")
        if type(seconds) not in {int, float} or not isfinite(seconds) or seconds < 0:
            raise InvalidInput(f"seconds_per_replay is {seconds!r}; give a number, 0 or more")
        if self.model is not None and not (isinstance(self.model, str) and self.model.strip()):  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
            raise InvalidInput(f"model is {self.model!r}; give the name that its price has, or None")
        checked_function(
            "count_tokens", self.count_tokens, "a function from a text to a number of tokens"
        )
