"""This module checks one reply of a run: the *chosen reply*, which is explained if the user sets
``replay_of="next_action"``. Rules about this reply must not contradict what happened in the whole run."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..errors import InvalidInput
from ..predicates.at_once import verdict_at_once
from ..predicates.combine import AnyOf
from ..predicates.next_action import OfNextAction
from ..predicates.only_calls import is_only_calls, reads_calls, reads_only_calls, unguarded
from ..printable import printable, shortened
from ..verdicts import Answer, Case, Verdict

_OF_TEXT = (
    "the reply that is explained is only a tool call ({reply}), and one condition is about a text "
    "({condition}): explain that one on its own, or leave replay_of out"
)
_BESIDE_TEXT = (
    "replay_of='next_action' judges one reply of a model, and the one that may meet the condition is "
    "only a tool call ({reply}), without a text to judge ({condition}): leave out the part about the "
    "text, or leave replay_of out"
)
_OF_RUN = (
    "replay_of='next_action' judges one reply of a model, and none meets the condition; the whole run "
    "does ({condition}): leave replay_of out, or name one call, such as by calls_tool"
)
_OF_REPLY = (
    "replay_of='next_action' judges one reply of a model, and the last one meets the condition; the "
    "whole run does not ({condition}): leave replay_of out, or explain the call that was made, by "
    "calls_tool"
)
_UNTOLD = (
    "replay_of='next_action' judges one reply of a model; none is known to meet the condition, and of "
    "one it cannot be told, as it has arguments that are no JSON object ({reply}): leave replay_of out"
)


def check_chosen(
    condition: Any, answers: Sequence[Answer], place: int, question: str, *, meets: bool
) -> None:
    """Raises InvalidInput if rules about the chosen reply would contradict what happened in the run.
    ``answers``: all replies of the run; ``place``: the index of the chosen reply, counted from 0;
    ``meets``: True iff the chosen reply is known to meet the condition."""
    chosen = answers[place]
    _check_has_a_text(condition, chosen)
    if not meets:
        _check_no_text_is_missing(condition, answers, chosen, question)
        _check_none_may_meet(condition, answers, question)
    does_nothing = place == len(answers) - 1 and not chosen.calls
    if not meets or does_nothing:
        _check_is_no_other_of_the_run(condition, answers, chosen, question)


def _check_has_a_text(condition: Any, chosen: Answer) -> None:
    """Raises InvalidInput if one of several conditions is about a text, and the chosen reply has only
    tool calls: this condition then has no text to judge."""
    parts = condition.parts if isinstance(condition, AnyOf) else ()
    for each in parts if is_only_calls(chosen) else ():
        if isinstance(each, OfNextAction) and not reads_calls(each):
            reply = printable(shortened(chosen.shown, 120))
            raise InvalidInput(_OF_TEXT.format(reply=reply, condition=each.inner))


def _check_no_text_is_missing(
    condition: Any, answers: Sequence[Answer], chosen: Answer, question: str
) -> None:
    """Raises InvalidInput if another reply would be chosen, but has no text. An example is the condition
    "calls ``send`` and says sorry": the chosen reply does not meet it, and another reply calls ``send``
    but has no text in which the second part could be judged."""
    inner = condition.inner if isinstance(condition, OfNextAction) else condition
    if condition is None or not reads_calls(condition) or holds_at_once(condition, chosen, question):
        return
    may = (each for each in answers if is_only_calls(each))
    found = next((each for each in may if holds_at_once(unguarded(inner), each, question)), None)
    if found is not None and not holds_at_once(condition, found, question):
        reply = printable(shortened(found.shown, 120))
        raise InvalidInput(_BESIDE_TEXT.format(reply=reply, condition=inner))


def _check_none_may_meet(condition: Any, answers: Sequence[Answer], question: str) -> None:
    """Raises InvalidInput if it is unknown whether some reply meets a condition about tool calls, because
    the arguments of a call in the reply are not a JSON object."""
    if condition is None or isinstance(condition, AnyOf) or not reads_calls(condition):
        return
    for each in answers:
        if not any(isinstance(call.arguments, str) for call in each.calls or ()):
            continue
        verdict: Verdict | None = None
        with suppress(Exception):  # the user's function may raise any error
            verdict = verdict_at_once(condition, Case(question, each, each, ()))
        if verdict is Verdict.UNKNOWN:
            raise InvalidInput(_UNTOLD.format(reply=printable(shortened(each.shown, 120))))


def _check_is_no_other_of_the_run(
    condition: Any, answers: Sequence[Answer], chosen: Answer, question: str
) -> None:
    """Raises InvalidInput if a condition about tool calls has one verdict for the chosen reply, and the
    opposite verdict for the whole run. For example, the last reply does not call ``send``, but an earlier
    one does. Rules about the reply would then say the opposite of what happened in the run."""
    if isinstance(condition, AnyOf) and all(isinstance(each, OfNextAction) for each in condition.parts):
        # Each of several conditions is explained by its own rules. A condition that the chosen reply does
        # not meet has no rules, so it cannot contradict the run, and is not checked. The others are
        # checked: the reply may meet "does not call send" although an earlier reply called ``send``.
        for each in condition.parts:
            if holds_at_once(each, chosen, question):
                _check_is_no_other_of_the_run(each, answers, chosen, question)
        return
    condition = condition.inner if isinstance(condition, OfNextAction) else condition
    if condition is None or not reads_calls(condition):
        return
    text = "" if reads_only_calls(condition) else answers[-1].text
    calls = [
        replace(call, step=step) for step, each in enumerate(answers, 1) for call in each.calls or ()
    ]
    of_run = holds_at_once(unguarded(condition), Answer(text, calls=tuple(calls)), question)
    of_reply = holds_at_once(condition, chosen, question)
    if None not in (of_run, of_reply) and of_run is not of_reply:
        raise InvalidInput((_OF_RUN if of_run else _OF_REPLY).format(condition=condition))


def holds_at_once(condition: Any, answer: Answer, question: str) -> bool | None:
    """Returns whether the condition holds of the answer; None if the condition is async, so that it must
    be awaited to know this. Returns False for an async condition that is not about tool calls if the
    answer is only tool calls: such an answer has no text for the condition."""
    verdict = Verdict.UNKNOWN
    with suppress(Exception):  # the user's function may raise any error
        verdict = verdict_at_once(condition, Case(question, answer, answer, ()))
    if verdict is not None:
        return verdict is Verdict.HOLDS
    return False if is_only_calls(answer) and not reads_calls(condition) else None
