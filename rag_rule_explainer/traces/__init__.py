"""This package reads traces of RAG applications: question, answer and documents of each incident.

Nothing here uses the network.
"""

from .corpora import CorpusLike
from .incident import Incident
from .recorded_request import RecordedRequest
from .spans import TracedMessage

__all__ = ["CorpusLike", "Incident", "RecordedRequest", "TracedMessage"]
