"""This package says in tracing tools what the rules say: notes on an answer and on its documents.

Nothing is sent before ``Annotations.send`` is called.
"""

from .annotating import Annotations, annotations_file
from .tools import ANNOTATED_TOOLS, annotated_tool

__all__ = ["ANNOTATED_TOOLS", "Annotations", "annotated_tool", "annotations_file"]
