"""This module finds conversations of which no turn can be a source, although the user asked for turns. A
turn is found only if the first request to a model has its messages, and not a text made of them."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, cast

from .kinds import SourceKind
from .listed_messages import spoken_in
from .made_anew import searched_fields

_LEVELS = 12
"""The maximum depth at which lists of messages are searched for."""
_LONG = 12
"""The smallest length of a text by which a turn of a memory is recognised in a request."""
_PAIR = ("user", "assistant")
_PLACES: dict[SourceKind, str] = {"turns": "input", "memory": "memory"}
NOT_CHECKED = "fidelity not checked: "
_UNVARIED = NOT_CHECKED + (
    "source_kinds has {kind!r}, and no earlier turn of the conversation in the application's {place} is "
    "a source, as the first request to a model has none as messages: the application left them out, or "
    "made a text of them, such as for a summary (SummarizationMiddleware). What they do is not seen, as "
    "no replay is without them. Explain a conversation that is not shortened yet, or raise the limit "
    "from which it is (trigger=); or leave {kind!r} out of source_kinds, and rules say what holds with "
    "these turns"
)


def unvaried_turns(
    kinds: Collection[SourceKind], given: object, remembered: Iterable[object], requests: Iterable[str]
) -> str:
    """Returns a warning if the application's input (``given``) or memory (``remembered``) has turns of a
    kind that was asked for (``kinds``). Call it if no turn is a source. A memory may also have other
    conversations, so its turns count only if one of ``requests`` has a text of them. Returns an empty
    text if there are no such turns."""
    sent = ["".join(each.split()) for each in requests]
    in_input = "turns" in kinds and any(_spoken_turns(given, frozenset()))
    in_memory = "memory" in kinds and any(
        text in each
        for value in remembered
        for text in _spoken_turns(value, frozenset())
        for each in sent
        if len(text) >= _LONG
    )
    kind: SourceKind = "turns" if in_input else "memory"
    return _UNVARIED.format(kind=kind, place=_PLACES[kind]) if in_input or in_memory else ""


def _spoken_turns(value: Any, above: frozenset[int]) -> Iterator[str]:
    """Yields the texts, without spaces, in the lists of messages in which a reply follows a user's
    message."""
    is_plain = isinstance(value, (str, bytes, int, float, type(None)))
    if is_plain or len(above) > _LEVELS or id(value) in above:
        return
    above |= {id(value)}
    parts: list[Any] = [getattr(value, name) for name in searched_fields(value)]
    if isinstance(value, dict):
        parts = [*cast("dict[Any, Any]", value).values()]
    elif isinstance(value, (list, tuple)):
        parts = [*cast("list[Any]", value)]
        # Two texts side by side may be anything, such as a title and its text.
        said = [one[0] for each in parts if len(one := spoken_in(each)) == 1]
        roles = [each.role for each in said]
        if "user" in roles and "assistant" in roles[roles.index("user") :]:
            yield from (each.text for each in said if each.role in _PAIR)
    for each in parts:
        yield from _spoken_turns(each, above)
