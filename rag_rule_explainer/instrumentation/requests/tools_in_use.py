"""This module stores which tools run in the current context, and by which call."""

from contextvars import ContextVar

tools_in_use: ContextVar[tuple[str, ...]] = ContextVar("rag_rule_current_tools", default=())
"""The names of the tools that run, the outermost first."""
call_in_use: ContextVar[int] = ContextVar("rag_rule_current_call", default=0)
"""The moment of the call by which the innermost running tool runs; 0 if none runs."""
