"""This module defines the settings ``source_kinds`` and ``omit``."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

from ...allowed import brief, checked_list, did_you_mean
from ...errors import InvalidInput

SourceKind: TypeAlias = Literal["documents", "tools", "turns", "memory", "instructions", "examples"]
"""The kinds of sources: retrieved "documents"; results of "tools"; earlier "turns" of the conversation
that the caller passes; turns in the "memory" of the application; sections of the "instructions" (the
system message); and "examples" of questions with answers in the prompt."""
IN_PROMPTS: tuple[SourceKind, ...] = ("turns", "memory", "instructions", "examples")
"""The kinds of sources that are parts of the requests to models."""
Omit: TypeAlias = Literal["remove", "blank"]
"""The two ways to omit a source: "remove" removes it, and "blank" keeps it with empty texts. Retrieved
documents are always removed."""


def checked_source_kinds(given: Sequence[SourceKind]) -> tuple[SourceKind, ...]:
    """Returns the setting ``source_kinds``, with each kind once. Raises InvalidInput unless ``given`` is
    a list of at least one kind, and contains nothing else."""
    kinds, known = checked_list("source_kinds", given, "kinds of sources"), get_args(SourceKind)
    for each in kinds:
        if each not in known:
            near = did_you_mean(each, known) if isinstance(each, str) else ""
            raise InvalidInput(
                f"source_kinds has {brief(each)}; {near}give some of {', '.join(map(repr, known))}"
            )
    if not kinds:
        raise InvalidInput("source_kinds is empty; name a kind of source, such as 'tools'")
    listed: Any = dict.fromkeys(kinds)
    return tuple(listed)


def checked_omit(given: Omit) -> Omit:
    """Returns the setting ``omit``. Raises InvalidInput unless it is "remove" or "blank"."""
    words = get_args(Omit)
    if given not in words:
        raise InvalidInput(f"omit is {brief(given)}; give one of {', '.join(map(repr, words))}")
    return given
