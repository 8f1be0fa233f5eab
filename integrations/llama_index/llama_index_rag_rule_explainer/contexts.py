"""This module isolates the ``Context`` of workflows: every run finds the state from before the first run.

The application uses the same context object in every run. In a replay, however, reading or setting an
attribute of the object uses a copy of the context, which was restored for this replay.
"""

import re
from collections.abc import Hashable
from functools import wraps
from typing import Any

from llama_index.core.workflow import Context

from rag_rule_explainer import RagRuleError, StateShared
from rag_rule_explainer.instrumentation.baseline_retries import without_loop
from rag_rule_explainer.instrumentation.copies.hidden_warnings import warnings_hidden
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.copies.state import Same, State
from rag_rule_explainer.instrumentation.isolation.attributes import ADDED, born
from rag_rule_explainer.instrumentation.isolation.isolating import current_state, reading_real
from rag_rule_explainer.instrumentation.run_context import refused


def _wrapping(name: str, method: Any) -> Any:
    if name == "__init__":
        return born(method)
    return {"__getattribute__": _getting, "__setattr__": _setting, "__delattr__": _deleting}[name](method)


def _getting(method: Any) -> Any:
    @wraps(method)
    def get(context: Any, name: str) -> Any:
        # Only attributes of the instance are copied; methods and class attributes are shared by all runs.
        held = object.__getattribute__(context, "__dict__")
        own = _own(context) if name in held else None
        return method(context, name) if own is None else own[name]

    return get


def _setting(method: Any) -> Any:
    @wraps(method)
    def set_(context: Any, name: str, value: Any) -> None:
        if not object.__getattribute__(context, "__dict__"):
            # Some contexts are made without a call of ``__init__``. So a run is regarded as the maker of
            # a context when it sets the context's first attribute.
            state = current_state()
            if state is not None:
                state.note_birth(context)
        own = _own(context)
        if own is None:
            method(context, name, value)
        else:
            own[name] = value

    return set_


def _deleting(method: Any) -> Any:
    @wraps(method)
    def delete(context: Any, name: str) -> None:
        own = _own(context)
        if own is None:
            method(context, name)
        else:
            own.pop(name)

    return delete


def _own(context: Any) -> dict[str, Any] | None:
    """Returns the attributes of the copy of a context that this run uses; None if the run uses the real
    context."""
    state = current_state()
    if state is None or state.bore(context):
        return None
    key = "context", Same(context)
    if key not in state.before:
        try:
            held = state.read(key, lambda: _taken(context))
            # The dict that LlamaIndex makes of a context lacks the agent's memory, which is stored
            # separately.
            state.kept(_memory_key(context), lambda: _memory_in(context, held))
        except RagRuleError:
            if not state.live:
                raise
            # A run that the user made must succeed. So the error is raised only after this run has ended.
            state.before[key] = None
    if state.live:
        return None
    own = state.own(key, lambda: _restored(state, context))
    return object.__getattribute__(own, "__dict__")


def _taken(context: Any) -> dict[str, Any]:
    try:
        # LlamaIndex warns that the dict lacks an agent's memory. The warning is hidden, because
        # ``_restored`` adds the memory.
        with reading_real(), warnings_hidden():
            return context.to_dict()
    except Exception as error:
        raise _not_copied(error) from error


def _memory_key(context: Any) -> Hashable:
    return "memory in context", Same(context)


def _memory_in(context: Any, held: dict[str, Any]) -> Any:
    """Returns the memory that a context holds before the first run; None if it holds none.

    ``held``: the content of the context, as a dict.
    """
    try:
        # Reading a store that does not exist would create it. So it is read only if the context has
        # state.
        with reading_real():
            return without_loop(context.store.get("memory", default=None)) if held.get("state") else None
    except Exception as error:
        raise _not_copied(error) from error


def _restored(state: State, context: Any) -> Any:
    before = state.read(("context", Same(context)), dict)
    # The first run may have put another memory into the context. So the memory from before that run is
    # used.
    found = state.kept(_memory_key(context), lambda: None)
    try:
        with reading_real():
            workflow = getattr(getattr(context, "_face", context), "_workflow")  # noqa: B009 -- no public attribute holds the workflow
        own: Any = Context.from_dict(workflow, before)
        state.note_birth(own)
        if found is not None:
            without_loop(own.store.set("memory", found))
    except Exception as error:
        raise _not_copied(error) from error
    return own


_OWN_CONTEXT = (
    "Pass a function that makes the workflow, and a Context of its own for every run: async def "
    "ask(question): workflow = make_workflow(); return await workflow.run(query=question, "
    "ctx=Context(workflow)), and RuleExplainer(ask). What a run is to start from is set there, and a "
    "memory is passed as memory="
)


def _not_copied(error: Exception) -> RagRuleError:
    seen = f"its ctx cannot be copied, and replays must not write to it: {type(error).__name__}: {error}"
    return refused(StateShared(seen, _OWN_CONTEXT))


CONTEXT = ("workflows.context.context", "Context")
INTERCEPTIONS = (Interception(*CONTEXT, re.compile("__init__"), _wrapping, added=ADDED),)
