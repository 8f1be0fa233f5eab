"""The two things a comparing question names."""

import re
from collections.abc import Iterable
from typing import Final

from rag_rule_explainer.reader.words import content_key, listed

_BORDERS: Final = (",", ":", ";", "?", " between ")
_WITHIN_NAMES: Final = listed("of the de")
_OPENING: Final = re.compile(r"(?i)^\W{0,4}\w{1,20}\s+(?:both\s+)?(?:the\s+\w{1,30}s\s+)?")


def alternatives(text: str) -> tuple[str, ...]:
    """The two sides of the question's last `or`; nothing if there is none."""
    left, joint, right = text.rstrip(" ?").rpartition(" or ")
    if not joint:
        return ()
    border = max(_BORDERS, key=left.rfind)
    cut = left.rfind(border)
    return _two(_trailing_name(left) if cut < 0 else left[cut + len(border) :], right)


def pair(text: str) -> tuple[str, ...]:
    """The two names joined by the first `and` of a yes/no question; nothing if there is none."""
    left, joint, right = text.partition(" and ")
    if not joint:
        return ()
    return _two(_OPENING.sub("", left, count=1), " ".join(_named(right.split())))


def _trailing_name(text: str) -> str:
    return " ".join(reversed(list(_named(reversed(text.split())))))


def _named(words: Iterable[str]) -> Iterable[str]:
    """The words as long as they can belong to a name."""
    for word in words:
        bare = word.strip("\"'“”(),.?")
        if not bare or not (bare[0].isupper() or bare[0].isdigit() or bare in _WITHIN_NAMES):
            return
        yield word


def _two(left: str, right: str) -> tuple[str, ...]:
    options = tuple(option.strip(" ,.?\"“”'") for option in (left, right))
    return options if all(content_key(option) for option in options) else ()
