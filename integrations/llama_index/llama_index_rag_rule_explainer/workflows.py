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
from pydantic import PydanticUserError, TypeAdapter, ValidationError
from workflows.errors import WorkflowRuntimeError

from rag_rule_explainer import InvalidInput

from .explained_runs import listening
from .reading import QUESTION_KEYS
from .standstills import asking, is_explained_so_far, note_answered


async def result_of(workflow: Workflow, given: Any) -> Any:
    """Runs a workflow once, and returns its result.

    If the workflow asks a human, raises BaselineFailed, or UnusableReply in a replay. There are two
    exceptions. If the caller reads the events of this run, the run continues when the caller answers. If
    only the next action is explained, a first run is cancelled, and None is returned.
    """
    handler = _begun(workflow, run_arguments(workflow, given))
    listener, name = listening.get(), type(workflow).__name__
    if listener is not None and not listener.begin(handler):
        listener = None

    async def listen() -> Exception | None:
        async for event in handler.stream_events(expose_internal=True):
            if listener is not None:
                listener.take(event)
            reason = asking(name, handler, event)
            if reason is not None and listener is None:
                return reason
            if reason is not None and listener is not None and not listener.is_code:
                note_answered(reason)
        return None

    # A failed run may leave its stream of events open. So the stream and the run are both awaited, until
    # one of them ends.
    hearing, running = asyncio.ensure_future(listen()), asyncio.ensure_future(_awaited(handler))
    try:
        await asyncio.wait((hearing, running), return_when=asyncio.FIRST_COMPLETED)
        reason = None if not hearing.done() or hearing.exception() else hearing.result()
        if reason is not None:
            await handler.cancel_run()
            if is_explained_so_far():
                note_answered(reason)
                return None
            raise reason
        return await running
    finally:
        for task in (hearing, running):
            task.cancel()
        await asyncio.wait((hearing, running))


def _begun(workflow: Workflow, arguments: dict[str, Any]) -> Any:
    """Begins a run, and returns its handler. If a required field of the start event has no value, raises
    InvalidInput, or LlamaIndex's own error in a run that the user made."""
    try:
        return workflow.run(**arguments)
    except WorkflowRuntimeError as error:
        cause: object = error.__context__
        details = cause.errors() if isinstance(cause, ValidationError) else []
        missing = [str(each["loc"][0]) for each in details if each["type"] == "missing"]
        if not missing or listening.get() is not None:
            raise
        raise InvalidInput(
            f"the workflow {type(workflow).__name__} needs {' and '.join(missing)} to start; pass all "
            f"arguments of its run() as a dict, such as {_example(workflow)} (--input)"
        ) from error


async def _awaited(handler: Any) -> Any:
    return await handler


def run_arguments(workflow: Workflow, given: Any) -> dict[str, Any]:
    """Returns the keyword arguments with which to call a workflow's ``run`` for an input.

    Raises InvalidInput if the input is a question, and it is unclear which argument takes the question.
    """
    if isinstance(given, Mapping):
        return _with_its_question(workflow, cast("Mapping[str, Any]", given))
    if isinstance(given, StartEvent):
        return {"start_event": given}
    if is_agent(type(workflow)):
        return {"user_msg": given}
    fields = _fields_of(workflow)
    wanted = [name for name, each in fields.items() if each.is_required()]
    taking = [name for name in wanted or fields if _may_be(fields[name].annotation, given)]
    if len(taking) == 1 and (wanted or len(fields) == 1):
        return {taking[0]: given}
    # A plain StartEvent declares no fields. The names of possible arguments are therefore read from the
    # code of the first steps.
    read = _names_read_by(type(workflow))
    keys = [name for name in QUESTION_KEYS if name in (read or fields)]
    if len(keys) == 1 and not wanted:
        return {keys[0]: given}
    raise InvalidInput(
        f"the workflow {type(workflow).__name__} may be started in more than one way; pass the "
        f"arguments of its run() as a dict, such as {_example(workflow)} (--input-key or --input)"
    )


def _with_its_question(workflow: Workflow, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of ``run`` in a dict. If the workflow's start event requires exactly one text
    that the dict lacks, the question in the dict becomes this argument."""
    fields = _fields_of(workflow)
    missing = [
        name
        for name, each in fields.items()
        if each.is_required() and not each.alias and each.annotation is str and name not in given
    ]
    asked = [name for name in QUESTION_KEYS if name in given and name not in fields]
    if len(missing) != 1 or len(asked) != 1 or is_agent(type(workflow)) or "start_event" in given:
        return dict(given)
    return {missing[0] if name == asked[0] else name: value for name, value in given.items()}


def _fields_of(workflow: Workflow) -> dict[str, Any]:
    return getattr(workflow, "start_event_class", StartEvent).model_fields


def _example(workflow: Workflow) -> str:
    """Returns, as text, an example of a dict of arguments with which the workflow can be started."""
    fields = _fields_of(workflow)
    entries = {
        name: "'...'" if each.annotation is str else "..."
        for name, each in fields.items()
        if each.is_required()
    }
    if "'...'" not in entries.values():
        asked = next((name for name in QUESTION_KEYS if name in fields), "query")
        entries = {asked: "'...'", **entries}
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in entries.items()) + "}"


def _may_be(kind: Any, given: object) -> bool:
    """Returns False iff pydantic rejects ``given`` as the value of a field of this type."""
    try:
        TypeAdapter(kind).validate_python(given)
    except ValidationError:
        return False
    except PydanticUserError:  # pydantic does not know the type
        return not isinstance(kind, type) or isinstance(given, kind)
    return True


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
        for member in vars(owner).copy().values():
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
