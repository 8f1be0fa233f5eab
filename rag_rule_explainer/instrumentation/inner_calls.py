"""This module checks conditions about tool calls if tools were called inside other tools.

A replay gets the recorded results of the outer tools. The calls inside them, the *inner calls*, are then
not made again, and are not counted. So a condition is explained only if its verdict does not depend on
inner calls.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import InvalidInput
from ..predicates import Predicate
from ..predicates.next_action import OfNextAction
from ..predicates.only_calls import call_parts
from ..verdicts import Answer
from .answered import calls_in
from .chosen_reply import holds_at_once
from .executed_calls import ExecutedCall
from .options import Manner
from .run_failures import unusable
from .run_record import Participation

_IN_BASELINE = (
    "inside the tool {outer}, the first run called {inner}, and it depends on this call whether the "
    "condition is met ({condition}); replays get the recorded result of {outer}, and do not count it: "
    "let {outer} run again, with the calls inside it answered from the record, by safe_tools=[{outer}] "
    "and source_kinds=['tools'], or name another call in the condition"
)
_IN_REPLAY = (
    "the replay got the recorded result of the tool {outer}, inside which {inner} was called in the "
    "first run, and the condition depends on whether that call counts ({condition}); "
    "safe_tools=[{outer}] and source_kinds=['tools'] let {outer} run again, and count the calls inside it"
)


def check_first(run: Participation, manner: Manner, question: str) -> None:
    """Raises InvalidInput if the condition's verdict depends on inner calls of a baseline: calls inside
    tools whose recorded results replays get."""
    found = _counted_otherwise(run, manner, question)
    if found:
        raise InvalidInput(_IN_BASELINE.format(**found))


def check_replay(run: Participation, manner: Manner, question: str) -> None:
    """Raises UnusableReply if the condition's verdict depends on inner calls of a replay: calls inside
    tools whose recorded results this replay got."""
    found = _counted_otherwise(run, manner, question)
    if found:
        raise unusable(_IN_REPLAY.format(**found), run.watch, passing=False)


def _counted_otherwise(run: Participation, manner: Manner, question: str) -> dict[str, object]:
    """Returns a part of the condition whose verdict depends on the inner calls of a run, and the names of
    the outer and the inner tool, as the fields of an error message. Returns an empty dict if there is no
    such part."""
    if not run.inside or manner.condition is None:
        return {}
    said = list(run.watch.said)
    outer = tuple(calls_in(said, run.executed))
    for part in _call_parts(manner.condition):

        def holds(inner: Sequence[ExecutedCall], part: Predicate = part) -> bool | None:
            calls = tuple(calls_in(said, [*run.executed, *inner])) if inner else outer
            return holds_at_once(part, Answer("", calls=calls), question)

        without = holds(())
        if holds(run.inside) is not without:
            alone = (each for each in run.inside if holds([each]) is not without)
            inner = next(alone, run.inside[0])
            names = {"outer": repr(inner.within[-1]), "inner": repr(inner.call.name)}
            return {**names, "condition": part}
    return {}


def _call_parts(condition: Any) -> Iterator[Predicate]:
    for each in call_parts(condition):
        yield from _call_parts(each.inner) if isinstance(each, OfNextAction) else (each,)
