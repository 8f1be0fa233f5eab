"""What is said of a name that nobody knows."""

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches


def unknown_name(given: str, what: str, known: Iterable[str]) -> str:
    """Returns what is said of a name that is none of the known ones: the nearest of them, then all."""
    names = sorted(set(known))
    return f"{given!r} is not a {what}; {did_you_mean(given, names)}known are {', '.join(names)}"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Returns a question that names the nearest known name; nothing where none is near."""
    near = get_close_matches(given, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}? " if near else ""


def keywords_of(function: Callable[..., object]) -> tuple[str, ...]:
    """Returns the names that a function can be given arguments by, without those that it collects."""
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return tuple(each.name for each in parameters if each.kind in kinds and each.name != "self")
