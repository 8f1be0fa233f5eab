"""This module stores which tools run in the current context, and which call of a model started them."""

from contextvars import ContextVar

TOOL_NAME = "rag_rule_tool"
"""The attribute in which a function that ``@tool`` returns has the name of the tool."""

tools_in_use: ContextVar[tuple[str, ...]] = ContextVar("rag_rule_current_tools", default=())
"""The names of the tools that run, the outermost first."""
call_in_use: ContextVar[int] = ContextVar("rag_rule_current_call", default=0)
"""The moment at which the innermost running tool was called, as a number that is higher for later events;
0 if no tool runs, or if its call is unknown."""
functions_in_use: ContextVar[tuple[str, ...]] = ContextVar("rag_rule_within_functions", default=())
"""The names of the tools whose functions are running now because they were called directly, not through
their tools."""
