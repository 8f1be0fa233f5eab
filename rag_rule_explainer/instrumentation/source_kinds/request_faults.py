"""This module says why a recorded reply perhaps does not belong to a request of a replay of the next
action."""

from typing import NamedTuple

from ...printable import printable, shortened

OTHER_REQUEST = (
    "without what is omitted, the application makes another request before the next action, so the "
    "recorded reply is no reply to it; replay_of='whole_run' asks the model anew"
)
OTHER_MODEL = (
    "without what is omitted, the application asks another model before the next action, so the recorded "
    "reply is not its reply; replay_of='whole_run' asks the model anew"
)
_DOUBTED = (
    "a request before the next action got a recorded reply, and without what is omitted it is not known "
    "to be the request that had this reply: "
)
_VOLATILE = _DOUBTED + "it has {now!r}, where the runs with all sources have {was!r}. "
_MEANING = (
    "If the value has no meaning for the model, say so: ignore=[re.escape(the_text)]; or leave replay_of "
    "out"
)
_HELD_OUT = (
    "Perhaps the value differs from run to run without a meaning; a replay on all that was retrieved "
    "would show that, but no replay gets what the model was not shown. Pass "
    'scope="retrieved", which includes it'
)
PERHAPS_ANOTHER = (
    _DOUBTED + "its model was made anew, and it cannot be compared with the one of the first run. Make "
    "the model once, before the runs, or leave replay_of out"
)


class Fault(NamedTuple):
    """A ``Fault`` says why (``why``) a request perhaps needs another reply than the recorded one.
    ``is_sure``: True if the recorded reply certainly does not belong to the request."""

    why: str
    is_sure: bool


def differing(was: str, now: str, *, holds_out: bool) -> Fault:
    """Returns the ``Fault`` for a request that has another value, such as another date or id. ``was``:
    the value in the baseline; ``now``: that in the replay. ``holds_out``: see ``RecordedRequests``."""
    shown = {"was": shortened(printable(was), 60), "now": shortened(printable(now), 60)}
    return Fault(_VOLATILE.format(**shown) + (_HELD_OUT if holds_out else _MEANING), is_sure=False)
