"""This module reads the answer of a run: from the output of the application, and from the replies of the
run's models."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..predicates.only_calls import BY_TOOL, CALLS_ONLY, CUT
from ..probing.budget import summed
from ..probing.replaying import said_nothing
from ..probing.wholeness import CALLS, Said
from ..tool_calls import ToolCall
from ..verdicts import Answer
from .executed_calls import ExecutedCall
from .options import Manner
from .reading import unread_in
from .run_failures import unusable
from .run_record import Participation
from .source_kinds.shown_results import ends_with_tool
from .watches import ModelWatch


def whole_answer(
    manner: Manner, output: Any, run: Participation, first: Participation | None = None
) -> Answer:
    """Returns the answer that is read from the output of a run, with the tokens that the run spent and
    the tool calls that it made. ``manner``: the user's options; ``first``: the first run, if ``run`` is a
    replay of it. Raises InvalidInput if the output holds no answer."""
    answer = Answer.of(manner.answer_of(output))
    if answer.value is None and not manner.reads_answers:
        answer = replace(answer, unread=unread_in(output, answer.text))
    answer = _with_calls_of(run, with_spent(answer, run.watch), first)
    is_emptied = first is not None and first.answered_by_tool and said_nothing(answer)
    return replace(answer, finish_reason=BY_TOOL) if is_emptied and ends_with_tool(run) else answer


def _with_calls_of(run: Participation, answer: Answer, first: Participation | None) -> Answer:
    # The replies of the application's models are seen: those of its first run were.
    is_seen = first is not None and bool(first.watch.said) and not run.watch.requests
    return with_calls(answer, run.watch, run.executed, run.tools, asks_none=is_seen)


def taken_as_answer(answer: Answer, run: Participation, manner: Manner) -> tuple[Answer, str]:
    """Returns the answer of a run, and its fault: ``CALLS`` if it is only a model's request to call a
    tool, else an empty text. If a condition is about tool calls, such a request has no fault, and its
    finish reason is ``CALLS_ONLY``."""
    fault = fault_in(answer, run.watch, run.tools)
    if fault and manner.accepts_calls and answer.calls:
        return replace(answer, finish_reason=CALLS_ONLY), ""
    return answer, fault


def reply_behind(answer: Answer, said: Sequence[Said]) -> Said | None:
    """Returns the model's reply from which the answer was made; None if there is none. ``said``: all
    replies of the run.

    This is the last reply that has the answer's text. If no reply has it, this is the last reply that is
    not only a tool call, or, if the answer is a value (``answer.value``), the last reply of all. For
    example, if the answer is the output of a tool, the reply that called the tool is not returned.
    """
    text = answer.text.strip()
    same = next((each for each in reversed(said) if each.text.strip() == text), None)
    if same is not None:
        return same
    is_structured = answer.value is not None
    return next((each for each in reversed(said) if is_structured or not each.is_call), None)


def fault_in(answer: Answer, watch: ModelWatch, tools: Collection[str] = ()) -> str:
    """Returns ``CALLS`` if the answer is only a model's request to call a tool; otherwise an empty text.

    ``watch``: has the replies of the run. ``tools``: the names of the tools that ran. If any ran, a text
    that looks like such a request may be the output of a tool, so the text alone proves nothing.
    """
    if answer.finish_reason == BY_TOOL:
        return ""
    reply = reply_behind(answer, watch.said)
    if reply is None and watch.said and not tools and watch.said[-1].shown_as == answer.text.strip():
        reply = watch.said[-1]
    if answer.value is None and reply is not None and reply.is_call:
        return CALLS
    return ""


def with_spent(answer: Answer, watch: ModelWatch) -> Answer:
    """Returns the answer with the tokens of all models of the run, not only of the model that wrote it.

    If the answer has no finish reason, adds the finish reason of the reply that the answer comes from.
    """
    reply = reply_behind(answer, watch.said) if answer.finish_reason is None else None
    if reply is not None and reply.reason is not None:
        answer = replace(answer, finish_reason=reply.reason)
    models = watch.models
    if not models:
        return answer
    return replace(answer, usage={**(answer.usage or {}), **summed(models)}, models=models)


def cut_answer(run: Participation, manner: Manner, cut: str, first: Participation) -> Answer:
    """Returns the answer of a replay that was ended at a tool call: it holds the tool calls that the
    replay made until then. ``cut``: the reason why the replay was ended; ``first``: the first run. Raises
    UnusableReply if no condition is about tool calls, or if the calls were not recorded."""
    answer = _with_calls_of(run, with_spent(Answer(""), run.watch), first)
    if not (manner.accepts_calls and answer.calls):
        raise unusable(cut, run.watch, passing=False)
    return replace(answer, finish_reason=CUT, note=cut)


def with_calls(
    answer: Answer,
    watch: ModelWatch,
    executed: Sequence[ExecutedCall] = (),
    tools: Collection[str] = (),
    *,
    asks_none: bool = False,
) -> Answer:
    """Returns the answer with the tool calls of the run. If not all calls are known, returns the answer
    unchanged, and its ``calls`` stay None. ``executed``: the calls of tools that ran; ``tools``: the
    names of the tools that ran; ``asks_none``: True if a run without replies asked no model.

    All calls are known if the models' replies were recorded, and each reply that calls a tool names this
    tool. A tool may also run although no reply names it: the application calls it by itself, or a model
    writes the call as plain text. Calls of such a tool are known if they were recorded when the tool ran.
    """
    said = list(watch.said)
    if answer.calls is not None or not (said or asks_none):
        return answer
    if any(each.is_call and not each.called and not each.apart for each in said):
        return answer
    calls = tuple(calls_in(said, executed))
    if not {call.name for call in calls}.issuperset(tools):
        return answer
    return replace(answer, calls=calls)


def calls_in(said: Sequence[Said], executed: Sequence[ExecutedCall]) -> Iterator[ToolCall]:
    """Yields the tool calls of a run: the calls in the models' replies (``said``), and those of the
    ``executed`` calls whose tool no reply names. Each has the number of its step; the calls of one reply
    are one step."""
    for place, step in enumerate(_steps(said, executed), start=1):
        yield from (replace(call, step=place) for call in step)


def _steps(said: Sequence[Said], executed: Sequence[ExecutedCall]) -> Iterator[tuple[ToolCall, ...]]:
    """Yields the steps of a run, in order. A step is all calls of one reply, or one call of a tool that
    no reply names."""
    asked = {call.name for each in said for call in each.called if not each.apart}
    own = [(each.before, each.call) for each in executed if each.call.name not in asked]
    for place, each in enumerate(said):
        yield from ((call,) for before, call in own if before == place)
        if each.called and not each.apart:
            yield each.called
    yield from ((call,) for before, call in own if before >= len(said))
