"""What an estimate assumes, because nobody knows it before anything is spent."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isfinite

from .errors import InvalidInput

_CHARACTERS_PER_TOKEN = 4
_DENSE = 0x2E80
"""From here on, scripts are mostly written a token a character."""


def approximate_tokens(text: str) -> int:
    """A token every four characters, and one for each character of scripts without spaces."""
    dense = 0 if text.isascii() else sum(ord(character) >= _DENSE for character in text)
    return dense + ceil((len(text) - dense) / _CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Assuming:
    """``answer_tokens``: of an answer. ``seconds_per_replay``: of one run of the application. ``model``:
    whose price is taken; may be left out where the table has one price only. ``count_tokens``: of a text;
    by default, a rough guess that is right within a fifth for English.

    Raises InvalidInput for what is no number, or below 0.
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
