"""This package puts rules into tracing tools, as notes on an answer and on its documents.

Nothing is sent before ``Annotations.send`` is called.
"""

from .annotating import Annotations, annotations_file
from .tools import ANNOTATED_TOOLS, annotated_tool

__all__ = ["ANNOTATED_TOOLS", "Annotations", "annotated_tool", "annotations_file"]
