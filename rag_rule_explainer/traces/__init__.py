"""This package reads incidents from traces of RAG applications: a question with its answer and its
documents. It annotates traces with the rules of an explanation.

The network is used only to send annotations.
"""

from .annotations import ANNOTATED_TOOLS, Annotations, annotated_tool, annotations_file
from .corpora import CorpusLike
from .incident import Incident
from .recorded_request import RecordedRequest
from .spans import TracedMessage

__all__ = [
    "ANNOTATED_TOOLS",
    "Annotations",
    "CorpusLike",
    "Incident",
    "RecordedRequest",
    "TracedMessage",
    "annotated_tool",
    "annotations_file",
]
