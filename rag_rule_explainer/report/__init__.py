"""This package lays an explanation out as a readable report."""

from .text import as_text, lines

__all__ = ["as_text", "lines"]
