"""This module finds the places of turns among the messages of a request."""

from collections.abc import Callable, Collection, Mapping, Sequence

from .prompt_sections import PromptMessage, is_system


def start_of_turn(
    group: Sequence[PromptMessage], messages: Sequence[PromptMessage], taken: Collection[int]
) -> int | None:
    """Returns the first index, not in ``taken``, at which all messages of ``group`` follow each other;
    None if there is no such index."""
    size = len(group)
    for start in range(len(messages) - size + 1):
        if start not in taken and tuple(messages[start : start + size]) == tuple(group):
            return start
    return None


def count_of_turns(group: Sequence[PromptMessage], messages: Sequence[PromptMessage]) -> int:
    """Returns how often all messages of ``group`` follow each other in ``messages``, without overlaps."""
    taken = set[int]()
    while (start := start_of_turn(group, messages, taken)) is not None:
        taken.update(range(start, start + len(group)))
    return len(taken) // max(1, len(group))


def without_turns(
    messages: Sequence[PromptMessage],
    groups: Mapping[str, Sequence[PromptMessage]],
    is_there: Callable[[str], bool],
) -> list[PromptMessage]:
    """Returns the messages without the turns for whose ids ``is_there`` returns False. A message is
    removed by its place, because another turn may have an equal one. ``groups``: the messages of all
    turns in ``messages``, by id, in order."""
    taken, gone = set[int](), set[int]()
    spoken = [place for place, each in enumerate(messages) if not is_system(each)]
    conversation = [messages[place] for place in spoken]
    for identity, group in groups.items():
        start = start_of_turn(group, conversation, taken)
        own = () if start is None else range(start, start + len(group))
        taken.update(own)
        if not is_there(identity):
            gone.update(spoken[each] for each in own)
    return [each for place, each in enumerate(messages) if place not in gone]
