"""This module stores which tools run in the current context."""

from contextvars import ContextVar

tools_in_use: ContextVar[tuple[str, ...]] = ContextVar("rag_rule_current_tools", default=())
"""The names of the tools that run, the outermost first."""
