"""This module records which tools a run calls. It replaces the tools in the setting ``stub_tools`` by
stubs."""

import asyncio
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from copy import copy
from functools import partial, wraps
from typing import Any

from llama_index.core.agent.workflow.multi_agent_workflow import handoff
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index_instrumentation.span import active_span_id
from workflows.runtime.types import results  # pyright: ignore[reportMissingTypeStubs] -- the package has none

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.executed_calls import ToolOutcome
from rag_rule_explainer.instrumentation.late_calls import in_its_run, late_use
from rag_rule_explainer.instrumentation.run_context import participation, using_tool
from rag_rule_explainer.instrumentation.searches.guarded_tools import ToolGuards
from rag_rule_explainer.instrumentation.searches.own_functions import OwnFunctions
from rag_rule_explainer.instrumentation.searches.tools import noting_made
from rag_rule_explainer.instrumentation.tool_replay import UsedTool

from .context_reads import given_besides

_HANDOFF = "handoff"
"""The name of the tool by which an agent of an ``AgentWorkflow`` passes the task to the next agent. Calls
of this tool are not recorded as uses of a tool, because it does nothing else."""


_PAUSES: tuple[type[Exception], ...] = (
    (results.WaitingForEvent,) if hasattr(results, "WaitingForEvent") else ()
)
"""The error by which a tool waits for an event, such as a human's answer. LlamaIndex calls the tool again
when the event has arrived. Empty if the installed release has no such error."""
_running: ContextVar[object] = ContextVar("rag_rule_llama_index_tool", default=None)
"""The tool that runs in this context; None if no tool runs. A tool whose ``__call__`` calls its other
methods is thereby recorded as one call."""


def _calling(name: str, method: Any) -> Any:
    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = method.__get__(self, type(self))
        with in_its_run():
            used = _used(self, args, kwargs)
            if used is None:
                return bound(*args, **kwargs)
            with _within(self), using_tool(str(self.metadata.name), used):
                if used.outcome is not None:
                    return _made(_output(self, used.outcome, args, kwargs))
                with used.noting_errors(_PAUSES):
                    result = bound(*args, **kwargs)
            return _made(used.noted(result))

    @wraps(method)
    async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
        with in_its_run():
            own = self if participation() is None else _in_context(self)
            bound = method.__get__(own, type(own))
            used = _used(self, args, kwargs)
            if used is None:
                return await bound(*args, **kwargs)
            with _within(own), using_tool(str(self.metadata.name), used):
                if used.outcome is not None:
                    return _made(_output(self, used.outcome, args, kwargs))
                with used.noting_errors(_PAUSES):
                    result = await bound(*args, **kwargs)
            return _made(used.noted(result))

    return acall if name == "acall" else call


def _used(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> UsedTool | None:
    """Records a tool call on the current run, and returns it as a ``UsedTool``. The ``UsedTool`` says
    whether the tool runs and, if not, which result the call gets.

    Returns None for two kinds of calls, which run without being recorded: a call that the tool makes of
    itself, and a call outside of runs that ``late_use`` allows.
    """
    run = participation()
    called = str(tool.metadata.name)
    if _running.get() is tool:
        return None
    if run is None:
        given = partial(_arguments, args, _without_context(tool, kwargs))
        return late_use(called, given, _is_of_another, tool=tool)
    if _hands_over(tool):
        run.calls.note_own(called)
        return run.use_tool(None)
    given = _arguments(args, _without_context(tool, kwargs))
    return run.use_tool(called, given, tool=tool, given=given_besides(args, kwargs))


def _is_of_another() -> bool:
    """Returns True iff a run of LlamaIndex that belongs to no explanation goes on in this context, such
    as a run that a user started. The context of a run in an explanation shows to which explanation it
    belongs."""
    return active_span_id.get() is not None


def _without_context(tool: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments without the context of the workflow, which the framework adds."""
    context = getattr(tool, "ctx_param_name", None)
    return {key: each for key, each in given.items() if key != context}


def _hands_over(tool: Any) -> bool:
    """Returns True iff an agent of an ``AgentWorkflow`` calls this tool to pass the task to the next
    agent."""
    return tool.metadata.name == _HANDOFF and getattr(tool, "_async_fn", None) is handoff


@contextmanager
def _within(tool: object) -> Generator[None, None, None]:
    token = _running.set(tool)
    try:
        yield
    finally:
        _running.reset(token)


def _output(tool: Any, outcome: ToolOutcome, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolOutput:
    result = outcome.given()
    if isinstance(result, ToolOutput):
        return result
    given = {"args": args, "kwargs": kwargs}
    name = str(tool.metadata.name)
    return ToolOutput(content=str(result), tool_name=name, raw_input=given, raw_output=result)


def _arguments(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return {**({"input": args[0] if len(args) == 1 else args} if args else {}), **kwargs}


def _made(result: Any) -> Any:
    """Returns the result of a tool. Records its text, so that it is not taken for the text of a
    source."""
    run = participation()
    if run is not None:
        run.made.append(str(result))
    return result


def _in_context(tool: Any) -> Any:
    """Returns a tool whose async call runs the sync function in a thread that has the context of the run.

    Releases of llama-index-core before 0.14.21 do not pass the context on to the thread. A tool with an
    async function of its own is returned unchanged.
    """
    if not isinstance(tool, FunctionTool) or not _was_made_async(tool.async_fn):
        return tool
    own, function = copy(tool), tool.fn

    async def in_context(*args: Any, **kwargs: Any) -> Any:
        context = copy_context()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, lambda: context.run(function, *args, **kwargs))

    own._async_fn = in_context  # pyright: ignore[reportPrivateUsage] -- there is no public way to set the function
    return own


def _was_made_async(function: Any) -> bool:
    return str(getattr(function, "__qualname__", "")).startswith("sync_to_async.")


def _name_of(tool: Any) -> str:
    return str(tool.metadata.name)


TOOL = ("llama_index.core.tools.types", "BaseTool")
_NONE = re.compile("(?!)")
_FUNCTIONS = OwnFunctions(
    frozenset({"fn", "async_fn", "real_fn", "_fn", "_async_fn", "_real_fn"}),
    _name_of,
    _without_context,
)
GUARDS = ToolGuards(
    Interception(*TOOL, _NONE, _FUNCTIONS.getting).root,
    ("_fn", "_async_fn", "_real_fn"),
    ("call", "acall", "__call__"),
    _name_of,
    _without_context,
)
INTERCEPTIONS = (
    Interception(*TOOL, re.compile("call|acall|__call__"), _calling),
    Interception(*TOOL, re.compile("__init__"), noting_made(_name_of), inherited=("__init__",)),
    Interception(*TOOL, _NONE, _FUNCTIONS.getting, added=("__getattribute__",)),
)
