"""This module finds the answer of a first run, and checks that it can be explained."""

from typing import Any

from ..predicates.only_calls import CALLS_ONLY
from ..probing.replaying import EMPTY, said_nothing
from ..verdicts import Answer
from .answered import taken_as_answer, whole_answer
from .first_run_faults import check_unrecorded, no_answer
from .options import Manner
from .run_record import Participation


def first_answer(manner: Manner, output: Any, first: Participation) -> Answer:
    """Returns the answer of the first run: the explained reply if only one reply of a model is explained
    (``replay_of="next_action"``), otherwise the answer that is read from the run's output. Raises
    InvalidInput if the output holds no answer."""
    return first.action.answer if first.action else whole_answer(manner, output, first.uncut or first)


def explainable(answer: Answer, run: Participation, manner: Manner) -> Answer:
    """Returns ``answer``, which is the answer of the first run, if it can be explained. Call it after the
    run has ended. Raises BaselineFailed if the answer is empty, or is only a model's request to call a
    tool although no condition is about tool calls. Raises InvalidInput if replays would run a tool that
    must not run, because it is unknown which function the tool is."""
    check_unrecorded(manner, run)
    answer, fault = taken_as_answer(answer, run.uncut or run, manner)
    is_empty = said_nothing(answer) and answer.finish_reason != CALLS_ONLY
    if fault or is_empty:
        called = answer.calls[-1].name if fault and answer.calls else ""
        raise no_answer(fault or EMPTY, called)
    return answer
