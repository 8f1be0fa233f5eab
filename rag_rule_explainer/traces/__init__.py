"""This package reads traces of RAG applications: question, answer and documents of each incident. It
annotates them with the rules of an explanation.

Nothing here uses the network before annotations are sent.
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
