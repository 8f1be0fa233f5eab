"""This package contains the sources of an answer: what a caller may give as a source, sets of sources,
and arrangements (ordered sequences of sources)."""

from .arrangement import Arrangement
from .source import MOST_SOURCES, Source, SourceLike
from .source_set import SourceSet

__all__ = ["MOST_SOURCES", "Arrangement", "Source", "SourceLike", "SourceSet"]
