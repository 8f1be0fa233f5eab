"""This module annotates a traced answer with the rules of its explanation, in the form that a tracing
tool accepts."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...errors import InvalidInput, NotSent, RagRuleError
from ...explanation.explanation import Explanation
from ...printable import printable_within
from ...report.saving import write_whole
from ..incident import Incident
from .placed import PlacedNotes
from .tools import annotated_tool


class Annotations:
    """An ``Annotations`` puts the rules of an answer into a tracing tool, as notes on the answer and on
    its documents.

    ``explanation``: the explanation of the answer. ``incident``: the incident with the answer, as
    ``Incident.from_trace`` returned it. ``tool``: "phoenix", "langsmith", "langfuse", "mlflow" or "otlp".

    ``payload`` is the body of a request to the tool's API, as JSON data. Raises InvalidInput if the
    incident is not from a trace of this tool, or if the explanation is about another answer.
    """

    def __init__(self, explanation: Explanation, incident: Incident, tool: str) -> None:
        self._tool = annotated_tool(tool)
        self._notes = PlacedNotes.of(explanation, incident)
        if incident.traced is not None:
            self._tool.check_ids(incident.traced)
        self.payload: dict[str, Any] = self._tool.payload(self._notes)

    @property
    def tool(self) -> str:
        """Returns the name of the tool."""
        return self._tool.name

    @property
    def count(self) -> int:
        """Returns the number of annotations."""
        return len(self._notes.each)

    def write(self, folder: "str | Path" = ".") -> Path:
        """Writes the payload into a file, whose name contains the names of the tool and of the trace.
        Returns the file. Only an earlier file of the same trace and condition is replaced. Raises
        InvalidInput if the file cannot be written."""
        file = annotations_file(folder, self._tool.name, self._notes.trace, self._notes.condition)
        # ``dumps`` writes ASCII and escapes control characters, so the file suits every reader.
        write_whole(file, f"{json.dumps(self.payload, indent=2)}\n")
        return file

    def send(self, client: Any = None) -> int:
        """Sends the payload by the tool's own client. Returns the number of annotations. If they were
        sent before, the tool's earlier copies are replaced.

        ``client``: the tool's client; None for a new client that reads its address and its key from the
        environment. Raises MissingExtra if the client is not installed, and NotSent if the tool does not
        accept the annotations.
        """
        tool, sent = self._tool, 0
        if client is None:
            tool.check_installed()
        try:
            for count in tool.send(self.payload, tool.client() if client is None else client):
                sent += count
        except RagRuleError:
            raise
        except Exception as error:
            raise NotSent(
                f"{tool.name} did not take the annotations ({sent} were sent before): {_reason(error)}"
            ) from error
        return sent


def _reason(error: Exception) -> str:
    """Returns a client's message about a failure, with the server's reply if the message lacks it."""
    said = f"{type(error).__name__}: {error}"
    reply = getattr(getattr(error, "response", None), "text", None)
    more = f" {reply[:500]}" if isinstance(reply, str) and reply[:100] not in said else ""
    return printable_within(said + more, 700)


def annotations_file(folder: "str | Path", tool: str, trace: str, condition: str) -> Path:
    """Returns the path of the file for those annotations of a trace that are about one condition. Raises
    InvalidInput if there is no such folder."""
    place = Path(folder)
    if not place.is_dir():
        raise InvalidInput(f"there is no folder {place} for annotations; make it, or name another one")
    mark = sha256(f"{trace}\n{condition}".encode("utf-8", "replace")).hexdigest()[:8]
    return place / f"{tool}-{re.sub('[^0-9A-Za-z-]', '_', trace)[:64]}-{mark}.json"
