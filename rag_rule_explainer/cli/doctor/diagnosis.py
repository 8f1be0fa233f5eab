"""This module defines ``Diagnosis``, which is one line of ``rag-rules doctor``."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...printable import printable, shortened, without_secrets

Health: TypeAlias = Literal["ok", "warning", "problem"]
_LONGEST_SAID = 500


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A ``Diagnosis`` describes the condition of one part of an installation, and what to do about it.

    ``part``: the examined part. ``said``: the findings. ``way_out``: advice; empty if there is nothing to
    do. Keys in the texts are masked, and control characters are escaped.
    """

    part: str
    state: Health
    said: str
    way_out: str = ""

    def __post_init__(self) -> None:
        for name in ("part", "said", "way_out"):
            shown = without_secrets(printable(getattr(self, name)))
            object.__setattr__(self, name, shortened(shown, _LONGEST_SAID))


def split_advice(message: str) -> tuple[str, str]:
    """Splits an error message into two texts: what is wrong, and what to do. In messages of this package,
    a semicolon separates the two. Without a semicolon, the second text tells the user to read the first.
    """
    wrong, mark, advice = message.partition("; ")
    return (wrong, advice) if mark else (message, "do what the message says, and run this again")
