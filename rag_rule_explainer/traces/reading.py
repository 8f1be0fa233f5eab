"""This module reads the traces in a file or a folder, one trace at a time.

Each file is read twice: the first time, the spans of each trace are counted, so that the second time a
trace is complete as soon as its last span was read. So only open traces are in memory.
"""

import os.path
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from ..errors import InvalidInput
from .bounds import LARGEST_TRACE, MOST_FILES, MOST_SPANS
from .genai import genai_span
from .langfuse import langfuse_conversation, langfuse_observation, langfuse_span
from .langsmith import langsmith_span
from .llama_events import LlamaEvents, is_llama_event
from .mlflow import mlflow_conversation, mlflow_span
from .openinference import openinference_span
from .opentelemetry import Convention, envelope_of
from .records import records_in
from .spans import TracedSpan

_CONVENTIONS: tuple[Convention, ...] = (mlflow_span, langfuse_span, openinference_span, genai_span)
_SUFFIXES = (".json", ".jsonl", ".ndjson")
TOOLS = (
    "OpenInference (OTLP JSON, or as Phoenix exports it), MLflow, LangSmith, Langfuse, OpenTelemetry "
    "GenAI, and events of LlamaIndex"
)
_Said: TypeAlias = "TracedSpan | tuple[str, str | None] | None"
"""The content of a record: a step; the ids of a trace and of its conversation; or None if the record says
nothing about an application."""


@dataclass(slots=True)
class SpansOfTrace:
    """A ``SpansOfTrace`` collects the spans of one trace, in the order of the file. ``session``: the id
    of the conversation that the trace belongs to; None if the file does not name it."""

    id: str
    spans: list[TracedSpan] = field(default_factory=list[TracedSpan])
    session: str | None = None
    weight: int = 0

    def add(self, span: TracedSpan) -> None:
        """Adds a span. Raises InvalidInput if the trace then has more than ``MOST_SPANS`` spans or
        ``LARGEST_TRACE`` characters."""
        self.spans.append(span)
        self.session = self.session or span.session
        self.weight += _weight(span)
        if len(self.spans) > MOST_SPANS or self.weight > LARGEST_TRACE:
            raise InvalidInput(
                f"{span.place}: the trace {self.id} has more than {MOST_SPANS:,} spans or "
                f"{LARGEST_TRACE >> 20} million characters; export the question alone"
            )


def traces_in(path: Path) -> Iterator[SpansOfTrace]:
    """Yields the traces in a file or a folder, in the order in which they are complete.

    Raises InvalidInput if the path cannot be read or has no trace, and for a trace that is too large.
    """
    files = trace_files(path)
    counts, sessions = Counter[str](), dict[str, str]()
    for said in _said_in(files):
        if isinstance(said, TracedSpan):
            counts[said.trace] += 1
        elif said[1] is not None:
            sessions[said[0]] = said[1]
    if not counts:
        raise InvalidInput(f"{path} holds no trace of an application; what is read are {TOOLS}")
    opened, weight = dict[str, SpansOfTrace](), 0
    for said in _said_in(files):
        if not isinstance(said, TracedSpan):
            continue
        trace = opened.setdefault(said.trace, SpansOfTrace(said.trace, session=sessions.get(said.trace)))
        before = trace.weight
        trace.add(said)
        weight += trace.weight - before
        if len(trace.spans) == counts[said.trace]:
            weight -= trace.weight
            yield opened.pop(said.trace)
        elif weight > 4 * LARGEST_TRACE:
            raise InvalidInput(
                f"{said.place}: the spans of {len(opened)} traces are mixed, more than fit into memory; "
                "write each trace into a file of its own, or sort the spans by their traces"
            )


def trace_files(path: Path) -> list[Path]:
    """Returns the file itself, or all .json, .jsonl and .ndjson files in the folder and its subfolders.

    Raises InvalidInput if there are none, or more than ``MOST_FILES``.
    """
    if not os.path.isdir(path):  # noqa: PTH112 -- Path.is_dir may raise an error, os.path does not
        if not os.path.exists(path):  # noqa: PTH110 -- Path.exists may raise an error, os.path does not
            raise InvalidInput(f"there is no {path}; give a trace file, or a folder of them")
        if not os.path.isfile(path):  # noqa: PTH113 -- Path.is_file may raise an error, os.path does not
            raise InvalidInput(f"{path} is a stream, and a trace is read twice; save it in a file first")
        return [path]
    found = [
        each for each in sorted(path.rglob("*")) if each.suffix.lower() in _SUFFIXES and each.is_file()
    ]
    if not found:
        raise InvalidInput(f"{path} holds no {', '.join(_SUFFIXES)} file; give a trace file")
    if len(found) > MOST_FILES:
        raise InvalidInput(f"{path} holds {len(found):,} files; at most {MOST_FILES:,} are read")
    return found


def _said_in(files: Sequence[Path]) -> Iterator["TracedSpan | tuple[str, str | None]"]:
    for file in files:
        events, several = LlamaEvents(), len(files) > 1
        for place, record in records_in(file):
            said = _read(record, place, events)
            if isinstance(said, TracedSpan) and not said.trace:
                raise InvalidInput(f"{place}: the span {said.id} names no trace; it has no trace id")
            if isinstance(said, TracedSpan) and several and said.tracer == "LlamaIndex":
                said = replace(said, trace=f"{said.trace} of {file.name}")
            if said is not None:
                yield said


def _read(record: Mapping[str, Any], place: str, events: LlamaEvents) -> _Said:
    if is_llama_event(record):
        return events.span(record, place)
    run = langsmith_span(record, place) or langfuse_observation(record, place)
    if run is not None:
        return run
    envelope = envelope_of(record, place)
    if envelope is None:
        return mlflow_conversation(record) or langfuse_conversation(record)
    read = next((span for each in _CONVENTIONS if (span := each(envelope)) is not None), None)
    # A span of a web server or of a database says nothing about the application. Such a span is kept with
    # the kind "other", because it may be the parent of spans of the application.
    return read or TracedSpan(**envelope.fields(), kind="other", tracer="OpenTelemetry")


def _weight(span: TracedSpan) -> int:
    """Returns roughly the number of characters that a span keeps in memory."""
    total, stack = 0, [span.input, span.output, span.reply, span.request and span.request.messages]
    stack.extend(each.text for each in span.documents or ())
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            total += len(value)
        elif isinstance(value, Mapping):
            stack.extend(cast("Mapping[str, Any]", value).values())
            total += 64
        elif isinstance(value, (list, tuple)):
            stack.extend(cast("Sequence[Any]", value))
            total += 64
    return total
