"""This module notes the tool calls that LangChain itself answers, so that no code of the application runs
for them: an answer in a structured form, a refusal by a middleware, a call of an unknown tool.

They are recognised by the module whose code makes the message with the result. The words of the message
do not show it, because an application may use the same words.
"""

import inspect
import re
from functools import wraps
from types import FrameType
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation

_OWN = re.compile(r"langchain\.agents\.(factory|middleware\.\w+)|deepagents\..+")
"""The modules that answer calls without running anything for them."""
_AFTER_A_RUN = re.compile(r".*\.(tool_retry|tool_error|shell_tool)")
"""Exceptions among these modules: they make messages after the application's code ran for a call."""
_UNKNOWN_TOOL = "_validate_tool_call"
"""The function by which a node for tools answers the call of a tool that it does not have."""


def _making(_: str, init: Any) -> Any:
    @wraps(init)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        run = participation()
        if run is not None and _is_langchains(inspect.currentframe()):
            run.calls.note_settled(str(self.tool_call_id))

    return made


def _is_langchains(own: FrameType | None) -> bool:
    """Returns True iff the caller of ``own`` is code of LangChain that runs nothing for a call."""
    caller = None if own is None else own.f_back
    if caller is None:
        return False
    module = str(caller.f_globals.get("__name__"))
    if module.endswith(".tool_node") and module.startswith("lang"):
        return caller.f_code.co_name == _UNKNOWN_TOOL
    return _OWN.fullmatch(module) is not None and _AFTER_A_RUN.fullmatch(module) is None


INTERCEPTIONS = (
    Interception("langchain_core.messages.tool", "ToolMessage", re.compile("__init__"), _making),
)
