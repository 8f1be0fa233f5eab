"""What replays leave on objects: whether it may bear on later runs, and what is to be said of it."""

from collections.abc import Callable, Iterator

from .counting import is_read
from .holdings import Held, Holdings, changed

_MOST_NAMED = 3


def has_changed(before: Holdings, after: Holdings) -> bool:
    """Returns True iff something of the user's, or of a model, holds something else than before that may
    bear on a run: it has no name, or code that a run may call reads that name."""
    names = {
        each
        for held, name in _changed(before, after, after.is_in_users_or_models)
        for each in (*((name,) if name else ()), *after.names(held))
    }
    return any(not name or is_read(after, name) for name in names)


def told_of_what_remains(before: Holdings, after: Holdings, known: str) -> str:
    """Returns what replays have changed on the user's own objects, in a sentence; nothing where there is
    nothing, or ``known`` names it all."""
    places = dict.fromkeys(
        after.named(held, name)
        for held, name in _changed(before, after, after.is_in_users)
        if _was_there(before, after, held)
    )
    left = [each for each in places if each.split("'")[1] not in known]
    more = len(left) - _MOST_NAMED
    named = ", ".join(left[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"replays have changed {named}: what they left stays there after this call" if left else ""


def _changed(
    before: Holdings, after: Holdings, wanted: Callable[[Held], bool]
) -> Iterator[tuple[Held, str]]:
    """Yields what holds something else than before, and the name of that, if it has any."""
    for held, name, _ in changed(before, after, wanted):
        yield held, name
    for held in after.all:
        earlier = before.of(held.thing)
        if earlier is None or held.is_code or not wanted(held):
            continue
        if earlier.size != held.size:
            yield held, ""
        for name, state in held.states.items():
            if earlier.states.get(name, state) != state:
                yield held, name


def _was_there(before: Holdings, after: Holdings, held: Held) -> bool:
    """Returns whether it was, or what holds it: a list that is new is one more value of an object."""
    holder = None if held.holder is None else after.all[held.holder].thing
    return any(before.of(each) is not None for each in (held.thing, holder))
