"""The command ``rag-rules``."""

from .app import main

__all__ = ["main"]
