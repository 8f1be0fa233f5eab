"""This module reports what replays changed in the application's objects, and whether these changes may
influence later runs."""

from collections.abc import Callable, Iterator

from .counting import is_read
from .held import Held
from .holdings import Holdings, changed_values

_MOST_NAMED = 3


def has_changed(before: Holdings, after: Holdings) -> bool:
    """Returns True iff a value of the user's objects differs between the states ``before`` and ``after``,
    and may influence a later run. The user's objects inside language models are included.

    An attribute or variable may influence a run only if code that the run may call reads its name. A
    value without a name, such as an entry of a list that has no name itself, may always influence a run.
    """
    names = {
        each
        for held, name in _changed(before, after, after.is_in_users_or_models)
        for each in (*((name,) if name else ()), *after.names(held))
    }
    return any(not name or is_read(after, name) for name in names)


def remaining_in_words(before: Holdings, after: Holdings, known: str, runs: str = "replays") -> str:
    """Returns a sentence that names the values of the user's objects that differ between the states
    ``before`` and ``after`` the runs; empty if there is nothing to report.

    ``runs``: the word for the runs in the sentence. ``known``: the text of other notes for the user.
    Changes that these notes already name are left out.
    """
    places = dict.fromkeys(
        after.named(held, name)
        for held, name in _changed(before, after, after.is_in_users)
        if _was_there(before, after, held)
    )
    left = [each for each in places if each.split("'")[1] not in known]
    more = len(left) - _MOST_NAMED
    named = ", ".join(left[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{runs} have changed {named}: what they left stays there after this call" if left else ""


def _changed(
    before: Holdings, after: Holdings, wanted: Callable[[Held], bool]
) -> Iterator[tuple[Held, str]]:
    """Yields each object whose content differs between the two states, with the name of the changed
    value. The name is empty for an entry without a name, and for a change of the number of entries.
    ``wanted``: returns True iff an object is to be compared."""
    for held, name, _ in changed_values(before, after, wanted):
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
    """Returns True iff the object, or the object that refers to it, existed before the runs. So a new
    list in an old object counts as a change of the old object."""
    holder = None if held.holder is None else after.all[held.holder].thing
    return any(before.of(each) is not None for each in (held.thing, holder))
