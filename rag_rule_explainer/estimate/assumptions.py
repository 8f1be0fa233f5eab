"""This module defines what an estimate assumes about values that are unknown before the explanation
runs."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isfinite

from ..allowed import called_as, checked_function
from ..errors import InvalidInput

_CHARACTERS_PER_TOKEN = 4
_DENSE = 0x2E80
"""The first Unicode code point of the scripts in which one character is about one token."""


def approximate_tokens(text: str) -> int:
    """Returns a rough number of tokens: one for four characters. In scripts without spaces between
    words, such as Chinese, each character counts as one token."""
    dense = 0 if text.isascii() else sum(ord(character) >= _DENSE for character in text)
    return dense + ceil((len(text) - dense) / _CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class RunShape:
    """A ``RunShape`` describes the requests to models in one run, up to the first request that shows a
    retrieved source.

    ``asked_before``: the texts of the requests before that first one. ``written_before``: the models'
    replies to them. ``one_at_a_time``: True if the first request with a source shows only one of several
    documents. Each document is then expected to have a request of its own.
    """

    asked_before: tuple[str, ...] = ()
    written_before: tuple[str, ...] = ()
    one_at_a_time: bool = False

    def requests(self, sources: int) -> int:
        """Returns the expected number of requests in a run that shows all sources."""
        return len(self.asked_before) + (max(1, sources) if self.one_at_a_time else 1)


@called_as("Assumptions")
@dataclass(frozen=True, slots=True)
class Assumptions:
    """An ``Assumptions`` holds the values that an estimate assumes.

    ``answer_tokens``: the tokens of an answer. ``seconds_per_replay``: the seconds of one run of the
    application. ``model``: the model whose price is used; not needed if there is only one price.
    ``count_tokens``: a function that counts the tokens of a text; by default a guess, which is right
    within a fifth for English. Raises InvalidInput for negative or non-numeric values, and for an empty
    model name.
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
