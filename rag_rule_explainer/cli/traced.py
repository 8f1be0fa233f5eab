"""This module defines the options about a trace, and reads the incident that they name."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ..errors import InvalidInput
from ..explanation.wording import phrase
from ..instrumentation.application_files import load_object
from ..printable import plain_id, printable_within
from ..probing.replaying import Baseline
from ..traces import CorpusLike, Incident
from ..verdicts import logged_answer
from .options import place
from .terminal import say

TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        parser=place,
        metavar="FILE_OR_DIR",
        help="What a tracing tool recorded of the answer: Phoenix, MLflow, LangSmith, Langfuse, "
        "OpenTelemetry, or events of LlamaIndex.",
    ),
]
TraceId = Annotated[
    str | None,
    typer.Option("--trace-id", metavar="ID", help="--trace: which question, if it holds several."),
]
CorpusOption = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="FILE|DIR|MODULE:OBJECT",
        help="--trace: the texts of documents that it only names.",
    ),
]
_WRAPPED = frozenset({"str_or_query_bundle", "query_bundle", "query_str", "message"})
"""The parameters by which engines of LlamaIndex get a question. A trace records them as a dict, but the
user of an engine passes the question alone."""


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """These options name an incident in a trace."""

    trace: TraceFile = None
    trace_id: TraceId = None
    corpus: CorpusOption = None

    def check(self, *, answers: bool, others: dict[str, Any]) -> None:
        """Raises InvalidInput for options that cannot be given together with a trace, or that need a
        trace.

        ``answers``: True if an application or a model is named, which a trace needs. ``others``: options
        that a trace replaces, with their values; None for an option that is not given.
        """
        self.check_alone()
        if self.trace is None:
            return
        for option, value in others.items():
            if value is not None:
                raise InvalidInput(
                    f"{option} does not go with --trace, which has the answer and its documents; leave "
                    "one of them out"
                )
        if not answers:
            raise InvalidInput(
                "--trace needs what answers: --app, to replay the application, or --model, to replay the "
                "request that the trace recorded"
            )

    def check_alone(self) -> None:
        """Raises InvalidInput for options that need a trace, if there is none."""
        for option, value in {"--trace-id": self.trace_id, "--corpus": self.corpus}.items():
            if self.trace is None and value is not None:
                raise InvalidInput(f"{option} goes with --trace only; give one, or leave it out")

    def incident(self) -> Incident | None:
        """Returns the incident in the trace, and prints its question, its documents and notes about it;
        None if there is no trace."""
        if self.trace is None:
            return None
        found = Incident.from_trace(self.trace, trace_id=self.trace_id, corpus=_corpus(self.corpus))
        ids = [plain_id(each.id) for each in found.documents or ()]
        shown = phrase(ids if len(ids) <= 10 else [*ids[:9], f"{len(ids) - 9} more"])
        documents = f"{len(ids)} document{'s' * (len(ids) != 1)}"
        say(f"{found.place}: {printable_within(found.question or '', 200)!r}, with {documents}: {shown}")
        for note in found.notes:
            say(note)
        return found


NO_TRACE = TraceOptions()
"""The options of a command whose user names no trace."""


def _corpus(written: str | None) -> "CorpusLike | None":
    """Returns the value of ``--corpus``: the path of a file or folder, or the object that
    ``module:object`` names; None without the option."""
    if written is None:
        return None
    path = place(written)
    if path.exists() or ":" not in written:
        return path
    return cast("CorpusLike", load_object(written, "--corpus"))


def traced_input(incident: Incident | None) -> dict[str, Any] | None:
    """Returns the application's whole input as the trace has it; None if the application takes the
    question alone, or if the trace does not have the input."""
    given = None if incident is None else incident.given
    if not isinstance(given, dict):
        return None
    entries = {key: value for key, value in cast("dict[str, Any]", given).items() if value is not None}
    is_plain = set(entries) & _WRAPPED or "init_state" in entries
    return None if is_plain or not entries else entries


def shown_to_the_model(incident: Incident) -> Incident:
    """Returns the incident with only those documents that the recorded request contains; unchanged if no
    request was recorded. Prints the ids of the other documents.

    Raises NotInTrace if the request cannot be replayed.
    """
    request, documents = incident.request, incident.documents or ()
    if request is None:
        return incident
    shown = request.shown(documents)
    if request.hidden:
        names = phrase([plain_id(each) for each in request.hidden])
        say(f"{names}: not in the request to the model, so in no rule")
    if not request.is_chat:
        say("the trace has a text to complete; it is sent as one message of a user")
    return replace(incident, documents=shown)


def recorded_baseline(incident: Incident | None) -> Baseline | str | None:
    """Returns the logged answer to explain; None if there is none.

    If the trace has the request to the model, returns a ``Baseline`` whose ``state`` is a digest of the
    request. A store then does not mix answers to different requests.
    """
    if incident is None or incident.request is None:
        return None if incident is None else incident.answer
    state = hashlib.sha256(repr(incident.request).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Baseline(logged_answer(incident.answer), logged=True, state=state)
