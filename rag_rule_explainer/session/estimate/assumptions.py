"""This module defines the values that an estimate assumes, because they are not known before the
explanation runs."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, isfinite

from ...allowed import brief, called_as, checked_function
from ...errors import InvalidInput

_CHARACTERS_PER_TOKEN = 4
_DENSE = 0x2E80
"""From this Unicode code point on, scripts such as Chinese are dense: one character is about one
token."""


def approximate_tokens(text: str) -> int:
    """Returns the rough number of tokens of a text: one for four characters. In scripts without spaces
    between words, such as Chinese, each character counts as one token."""
    dense = 0 if text.isascii() else sum(ord(character) >= _DENSE for character in text)
    return dense + ceil((len(text) - dense) / _CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class RunShape:
    """A ``RunShape`` describes which requests to models one run of the application makes, as far as the
    first request that shows a retrieved source. Later requests cannot be foreseen.

    ``asked_before``: the texts of the requests before the first request that shows a source.
    ``written_before``: the models' replies to these earlier requests. ``one_at_a_time``: True if the
    first request that shows a source shows only one of several documents. Each document is then expected
    to have its own request. ``holds_out``: True if some of the retrieved documents are not shown; a few
    replays then test whether these are shown if other documents are omitted. ``is_whole``: True if the
    run went to its end, so that all its requests are known.
    """

    asked_before: tuple[str, ...] = ()
    written_before: tuple[str, ...] = ()
    one_at_a_time: bool = False
    holds_out: bool = False
    is_whole: bool = False

    def requests(self, sources: int) -> int:
        """Returns the expected number of requests to models in one run of the application. ``sources``:
        the number of sources that the run shows to its models."""
        return len(self.asked_before) + (max(1, sources) if self.one_at_a_time else 1)


@called_as("Assumptions")
@dataclass(frozen=True, slots=True)
class Assumptions:
    """An ``Assumptions`` holds the values that an estimate assumes.

    ``answer_tokens``: the tokens of an answer. ``seconds_per_replay``: the seconds of one run of the
    application. ``model``: the model whose price is used; not needed if prices are given for one model
    only. ``count_tokens``: a function that counts the tokens of a text; by default a guess, which for
    English is at most a fifth too high or too low. Raises InvalidInput for negative or non-numeric
    values, and for an empty model name.
    """

    answer_tokens: int = 150
    seconds_per_replay: float = 2.0
    model: str | None = None
    count_tokens: Callable[[str], int] = approximate_tokens

    def __post_init__(self) -> None:
        tokens, seconds = self.answer_tokens, self.seconds_per_replay
        if type(tokens) is not int or tokens < 0:
            raise InvalidInput(f"answer_tokens is {brief(tokens)}; give a whole number, 0 or more")
        if type(seconds) not in {int, float} or not isfinite(seconds) or seconds < 0:
            raise InvalidInput(f"seconds_per_replay is {brief(seconds)}; give a number, 0 or more")
        if self.model is not None and not (isinstance(self.model, str) and self.model.strip()):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(f"model is {brief(self.model)}; give the name that its price has, or None")
        checked_function(
            "count_tokens", self.count_tokens, "a function from a text to a number of tokens"
        )
