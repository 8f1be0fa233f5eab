"""Shows an explanation to people."""

from .text import as_text, lines

__all__ = ["as_text", "lines"]
