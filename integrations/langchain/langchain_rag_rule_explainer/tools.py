"""This module records which tools a run calls. It replaces the tools in the setting ``stub_tools`` by
stubs."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.runnables.config import ensure_config
from langchain_core.tools import BaseTool
from typing_extensions import override

from rag_rule_explainer.instrumentation.clients.fields import mapping_in
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.engine import BASELINE_TAG, REPLAY_TAG
from rag_rule_explainer.instrumentation.executed_calls import ToolOutcome
from rag_rule_explainer.instrumentation.late_calls import in_its_run, late_use
from rag_rule_explainer.instrumentation.run_context import participation, using_tool
from rag_rule_explainer.instrumentation.searches.guarded_tools import ToolGuards
from rag_rule_explainer.instrumentation.searches.own_functions import OwnFunctions
from rag_rule_explainer.instrumentation.searches.tools import noting_made
from rag_rule_explainer.instrumentation.source_kinds.new_texts import forms_of
from rag_rule_explainer.instrumentation.tool_replay import UsedTool

from .injected import given_besides, noting_channels, noting_injected
from .reading import texts_in
from .results import result_content
from .watching import Watch


class StubTool(BaseTool):
    """This tool returns a given result, or raises a given error. It sends the events and makes the
    message of an ordinary tool."""

    outcome: Any

    @classmethod
    def standing_in_for(cls, tool: BaseTool, outcome: ToolOutcome) -> "StubTool":
        """Returns a stub with the name, the description and the parameters of a tool."""
        return cls(
            name=tool.name, description=tool.description, args_schema=tool.args_schema, outcome=outcome
        )

    @override
    def _run(self, *_: Any, **__: Any) -> Any:
        return self.outcome.given()


def _running(name: str, method: Any) -> Any:
    @wraps(method)
    def run(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        with in_its_run():
            used = _used(self, args, kwargs)
            with using_tool(self.name, used):
                if used is None:
                    return _noted(method(self, *args, **kwargs))
                if used.outcome is not None:
                    return _noted(_standing_in(self, used.outcome, args, kwargs).run(*args, **kwargs))
                with used.noting_errors():
                    result = method(self, *args, **noting_channels(kwargs))
            return _noted(_kept(self, used, result))

    @wraps(method)
    async def arun(self: BaseTool, *args: Any, **kwargs: Any) -> Any:
        with in_its_run():
            used = _used(self, args, kwargs)
            with using_tool(self.name, used):
                if used is None:
                    return _noted(await method(self, *args, **kwargs))
                if used.outcome is not None:
                    stub = _standing_in(self, used.outcome, args, kwargs)
                    return _noted(await stub.arun(*args, **kwargs))
                with used.noting_errors():
                    result = await method(self, *args, **noting_channels(kwargs))
            return _noted(_kept(self, used, result))

    return arun if name == "arun" else run


def _used(tool: BaseTool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> UsedTool | None:
    """Records a tool call on the current run. Returns a ``UsedTool``, which says whether the tool runs,
    and which result the call gets if the tool does not run.

    Returns None for a call that is not recorded: the tool is a stub, or it is called outside of runs,
    where it may run.
    """
    run = participation()
    if isinstance(tool, StubTool):
        return None
    given = _given(args, kwargs)
    if run is None:
        return late_use(
            tool.name,
            lambda: _given_by_the_model(tool, given),
            lambda: _is_of_another(kwargs),
            tool=tool,
        )
    arguments = _given_by_the_model(tool, given)
    injected = given_besides(tool, mapping_in(arguments_in(given)), arguments, kwargs)
    return run.use_tool(tool.name, arguments, _identity_in(given, kwargs), tool=tool, given=injected)


def _is_of_another(kwargs: Mapping[str, Any]) -> bool:
    """Returns True iff a run of LangChain that belongs to no explanation calls the tool. ``kwargs``: the
    keyword arguments of the tool's call."""
    manager = kwargs.get("callbacks")
    if getattr(manager, "parent_run_id", None) is None:
        manager = ensure_config().get("callbacks")
    if getattr(manager, "parent_run_id", None) is None:
        return False  # the application's code calls the tool itself
    tags = {*getattr(manager, "tags", ()), *getattr(manager, "inheritable_tags", ())}
    handlers = getattr(manager, "handlers", ())
    return not (tags & {BASELINE_TAG, REPLAY_TAG} or any(isinstance(each, Watch) for each in handlers))


def _given(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return args[0] if args else kwargs.get("tool_input")


def _identity_in(given: Any, kwargs: Mapping[str, Any]) -> Any:
    """Returns the id of the call in the input of a tool; None if it has none."""
    entries = mapping_in(given)
    return (entries.get("id") if entries.get("type") == "tool_call" else None) or kwargs.get(
        "tool_call_id"
    )


def _standing_in(
    tool: BaseTool, outcome: ToolOutcome, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> StubTool:
    """Returns a stub that returns or raises the given outcome in place of the tool. If the outcome is a
    message, it gets the id of the current call."""
    identity = _identity_in(_given(args, kwargs), kwargs)
    result = (
        outcome if outcome.error is not None else ToolOutcome(answering(outcome.copy().result, identity))
    )
    return StubTool.standing_in_for(tool, result)


def answering(result: Any, identity: str | None) -> Any:
    """Returns the result of a tool, with ``identity`` as the id of the call that it answers.

    Only a tool message, and the tool messages in LangGraph's ``Command``, have such an id. None as
    ``identity`` leaves their ids unchanged.
    """
    if isinstance(result, ToolMessage):
        return result.model_copy(update={"tool_call_id": identity or result.tool_call_id})
    update: Any = getattr(result, "update", None)
    if isinstance(result, ToolOutputMixin) and isinstance(update, dict):
        entries = cast("dict[str, Any]", update)
        if isinstance(entries.get("messages"), list):
            messages = [answering(each, identity) for each in entries["messages"]]
            return replace(cast("Any", result), update={**entries, "messages": messages})
    return result


def _kept(tool: BaseTool, used: UsedTool, result: Any) -> Any:
    """Records the result of a tool that ran, so that replays can get it, and returns the result.

    A ``Command`` of LangGraph that adds other messages than tool messages is not recorded, because it
    contains the conversation of this run, which differs from that of a replay.
    """
    run = participation()
    if run is not None and used.record is not None and _has_conversation(result):
        run.unkept.add(tool.name)
        return result
    return used.noted(result)


def _has_conversation(result: Any) -> bool:
    """Returns True iff the result is LangGraph's ``Command`` with messages other than tool messages. A
    tool that hands a task over to another agent may return such a ``Command``, with the conversation."""
    update: Any = getattr(result, "update", None)
    if not isinstance(result, ToolOutputMixin) or not isinstance(update, Mapping):
        return False
    given: Any = cast("Mapping[str, Any]", update).get("messages")
    listed = cast("list[Any]", given if isinstance(given, list) else [])
    return any(not isinstance(each, ToolMessage) for each in listed)


def _given_by_the_model(tool: BaseTool, given: Any) -> Any:
    """Returns the arguments in the input of a tool without those that the framework adds, such as the
    state of the graph."""
    arguments = arguments_in(given)
    if not isinstance(arguments, Mapping):
        return arguments
    entries = cast("Mapping[str, Any]", arguments)
    schema: Any = tool.tool_call_schema
    known: Any = _fields_of(schema)
    if isinstance(schema, dict):
        known = cast("dict[str, Any]", schema).get("properties", entries)
    return {name: each for name, each in entries.items() if name in known}


def _fields_of(schema: Any) -> Any:
    """Returns the fields of a pydantic model (of version 1 or 2), by their names."""
    # Version 2 of pydantic still has the older name ``__fields__`` but warns about its use. So the newer
    # name is used if it exists, even if it holds no fields.
    return schema.model_fields if hasattr(schema, "model_fields") else getattr(schema, "__fields__", {})


def arguments_in(given: Any) -> Any:
    """Returns the arguments in ``given``, the input of a tool. The input is either a dict of the
    arguments, or a whole tool call that contains this dict."""
    entries = mapping_in(given)
    return entries["args"] if entries.get("type") == "tool_call" else given


def _noted(result: Any) -> Any:
    """Returns the result of a tool. Records the texts in it as tool output, so that they are not
    mistaken for texts of sources."""
    run = participation()
    if run is not None:
        run.made.extend(texts_in(result))
        content: object = result_content(result).content
        # The node of a graph that runs tools writes a list of texts as JSON before a model gets it.
        run.made.extend(forms_of(cast("object", content)) if isinstance(content, list) else ())
    return result


def _model_arguments(tool: BaseTool, given: Mapping[str, Any]) -> Any:
    return _given_by_the_model(tool, given)


def _own_name_of(tool: BaseTool) -> str:
    """Returns the name of a tool of the application. Raises TypeError for a stub, because this package
    made it and not the application."""
    if isinstance(tool, StubTool):
        raise TypeError("a stub is no tool of the application")
    return tool.name


_NONE = re.compile("(?!)")
_WORK = re.compile("_a?run")
_TOOL = ("langchain_core.tools.base", "BaseTool")
_FUNCTIONS = OwnFunctions(
    frozenset({"func", "coroutine", "_run", "_arun"}), lambda tool: tool.name, _model_arguments
)
GUARDS = ToolGuards(
    Interception(*_TOOL, _NONE, _FUNCTIONS.getting).root,
    ("func", "coroutine"),
    ("_run", "_arun"),
    lambda tool: tool.name,
    _model_arguments,
)
INTERCEPTIONS = (
    Interception(*_TOOL, re.compile("a?run"), _running),
    Interception(*_TOOL, re.compile("__init__"), noting_made(_own_name_of)),
    Interception(*_TOOL, _NONE, _FUNCTIONS.getting, added=("__getattribute__",)),
    Interception(*_TOOL, _WORK, noting_injected),
    Interception(*_TOOL, _WORK, _FUNCTIONS.calling),
)
