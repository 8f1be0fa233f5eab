"""This module defines the assumptions of an estimate about values that are unknown before the run."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isfinite

from ..allowed import called_as, checked_function
from ..errors import InvalidInput

_CHARACTERS_PER_TOKEN = 4
_DENSE = 0x2E80
"""The first code point of the scripts that have about one token per character."""


def approximate_tokens(text: str) -> int:
    """Returns a rough count: one token per four characters, but one per character of scripts without
    spaces."""
    dense = 0 if text.isascii() else sum(ord(character) >= _DENSE for character in text)
    return dense + ceil((len(text) - dense) / _CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class RunShape:
    """A ``RunShape`` holds the requests to models in one run, up to the first that shows a retrieved
    source.

    ``asked_before``: the texts of the requests before that one. ``written_before``: the replies to these.
    ``one_at_a_time``: True if that first request shows one of several documents, so that each document
    will have a request of its own.
    """

    asked_before: tuple[str, ...] = ()
    written_before: tuple[str, ...] = ()
    one_at_a_time: bool = False

    def requests(self, sources: int) -> int:
        """Returns the number of requests that are foreseen if all sources are shown."""
        return len(self.asked_before) + (max(1, sources) if self.one_at_a_time else 1)


@called_as("Assumptions")
@dataclass(frozen=True, slots=True)
class Assumptions:
    """An ``Assumptions`` holds assumed values.

    ``answer_tokens``: tokens of an answer. ``seconds_per_replay``: seconds of one run of the application.
    ``model``: the model whose price is used; not needed if the table has a single price.
    ``count_tokens``: a function that counts the tokens of a text; by default a rough guess, right within
    a fifth for English.

    Raises InvalidInput for negative or non-numeric values, and for an empty model name.
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
