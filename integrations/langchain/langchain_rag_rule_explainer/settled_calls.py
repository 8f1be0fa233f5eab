"""This module records the tool calls that LangChain itself answers, without running code of the
application: calls that carry an answer in a structured form, calls that a middleware refuses, and calls
of unknown tools.

Such a call is recognised by the Python module whose code creates the message with the result. The words
of the message prove nothing, because an application may use the same words.
"""

import inspect
import re
from functools import wraps
from types import FrameType
from typing import Any

from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation

_OWN = re.compile(r"langchain\.agents\.(factory|middleware\.\w+)|deepagents\..+")
"""Modules of LangChain that create the result of a tool call without running anything for the call."""
_AFTER_A_RUN = re.compile(r".*\.(tool_retry|tool_error|shell_tool)")
"""Exceptions to ``_OWN``: modules that create the result of a tool call after the application's code ran
for this call."""
_UNKNOWN_TOOL = "_validate_tool_call"
"""The function of a tool node (``tool_node``) that answers a call of a tool that the node does not have.
"""


def _making(_: str, init: Any) -> Any:
    @wraps(init)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        run = participation()
        if run is not None and _is_langchains(inspect.currentframe()):
            run.calls.note_settled(str(self.tool_call_id))

    return made


def _is_langchains(own: FrameType | None) -> bool:
    """Returns True iff LangChain itself, and not a tool, is writing the result of a tool call.
    LangChain's middleware, for example, writes the result of a rejected call.

    ``own``: the frame of the function that creates the message with the result; None if there is no
    frame. Whether LangChain writes the result depends on the module that called this function.
    """
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
