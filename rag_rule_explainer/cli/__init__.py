"""The command ``rag-rules``."""

from .entry import main

__all__ = ["main"]
