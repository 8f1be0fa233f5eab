"""This module runs workflows. It finds the arguments for ``run``, and passes the events to the caller."""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any, cast

from llama_index.core.agent.workflow import AgentWorkflow
from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
from llama_index.core.workflow import Context, Workflow
from llama_index.core.workflow.events import StartEvent

from rag_rule_explainer import InvalidInput

from .explained_runs import listening
from .reading import QUESTION_KEYS
from .standstills import asking, note_answered


async def result_of(workflow: Workflow, given: Any) -> Any:
    """Runs a workflow once, and returns its result.

    If the workflow waits for a human, raises BaselineFailed, or UnusableReply in a replay. However, if
    the caller reads the events of this run (see ``Listener``), the run waits for the caller's answer.
    """
    handler = workflow.run(**run_arguments(workflow, given))
    listener, name = listening.get(), type(workflow).__name__
    if listener is not None and not listener.begin(handler):
        listener = None

    async def listen() -> Exception | None:
        async for event in handler.stream_events(expose_internal=True):
            if listener is not None:
                listener.tell(event)
            reason = asking(name, handler, event)
            if reason is not None and listener is None:
                return reason
            if reason is not None and listener is not None and not listener.is_code:
                note_answered(reason)
        return None

    # A failed run may leave its stream of events open. So the first of two ends counts: that of the
    # stream, or that of the run.
    hearing, running = asyncio.ensure_future(listen()), asyncio.ensure_future(_awaited(handler))
    try:
        await asyncio.wait((hearing, running), return_when=asyncio.FIRST_COMPLETED)
        reason = None if not hearing.done() or hearing.exception() else hearing.result()
        if reason is not None:
            await handler.cancel_run()
            raise reason
        return await running
    finally:
        for task in (hearing, running):
            task.cancel()
        await asyncio.wait((hearing, running))


async def _awaited(handler: Any) -> Any:
    return await handler


def run_arguments(workflow: Workflow, given: Any) -> dict[str, Any]:
    """Returns the keyword arguments with which to call a workflow's ``run`` for an input.

    Raises InvalidInput if the input is a question, and it is unclear which argument takes the question.
    """
    if isinstance(given, Mapping):
        return dict(cast("Mapping[str, Any]", given))
    if isinstance(given, StartEvent):
        return {"start_event": given}
    if is_agent(type(workflow)):
        return {"user_msg": given}
    starts: Any = getattr(workflow, "start_event_class", StartEvent)
    wanted = [name for name, each in starts.model_fields.items() if each.is_required()]
    if len(starts.model_fields) == 1 or len(wanted) == 1:
        return {next(iter(wanted or starts.model_fields)): given}
    # A plain StartEvent declares no fields. The names of possible arguments are therefore read from the
    # code of the first steps.
    read = _names_read_by(type(workflow))
    keys = [name for name in QUESTION_KEYS if name in (read or starts.model_fields)]
    if len(keys) == 1 and not wanted:
        return {keys[0]: given}
    raise InvalidInput(
        f"the workflow {type(workflow).__name__} may be started in more than one way; pass the "
        "arguments of its run() as a dict, such as {'query': '...'} (--input-key or --input)"
    )


def by_name(kind: type[Workflow], positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Returns all arguments of a call of ``run`` by name.

    Raises TypeError if there are too many positional arguments, or if an argument is given twice.
    """
    is_asked = is_agent(kind) and not (positional and isinstance(positional[0], Context))
    names = ("user_msg", "chat_history", "memory", "ctx") if is_asked else ("ctx", "start_event")
    given = dict(zip(names, positional, strict=False))
    if len(given) < len(positional) or given.keys() & named.keys():
        raise TypeError(
            f"run() of {kind.__name__} takes {', '.join(names)} by place, each of them once, "
            "and everything by name"
        )
    return {**given, **named}


def is_agent(kind: type[Workflow]) -> bool:
    """Returns True iff the class is one of LlamaIndex's own agents. The input of an agent is a
    message."""
    return issubclass(kind, (BaseWorkflowAgent, AgentWorkflow))


def _names_read_by(kind: type[Workflow]) -> set[str]:
    """Returns the names of attributes and keys that occur in the code of a workflow's first steps."""
    names: set[str] = set()
    for owner in kind.__mro__[: kind.__mro__.index(Workflow)]:
        for member in vars(owner).values():
            function = inspect.unwrap(member) if callable(member) else None
            code = getattr(function, "__code__", None)
            if isinstance(code, CodeType) and _is_first(function):
                names |= _names_in(code)
    return names


def _names_in(code: CodeType) -> set[str]:
    """Returns the names and the string constants in code, including those in nested functions."""
    names = {*code.co_names, *(each for each in code.co_consts if isinstance(each, str))}
    return names.union(*(_names_in(each) for each in code.co_consts if isinstance(each, CodeType)))


def _is_first(function: Any) -> bool:
    """Returns True iff a step accepts a StartEvent. It is then a first step of the workflow."""
    hints = getattr(function, "__annotations__", {}).values()
    return any(
        (isinstance(hint, type) and issubclass(hint, StartEvent))
        or (isinstance(hint, str) and "StartEvent" in hint)
        for hint in hints
    )
