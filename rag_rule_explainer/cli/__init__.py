"""This package contains the command line ``rag-rules``."""

from .entry import main

__all__ = ["main"]
