"""This module lists the tracing tools that accept annotations, each with the form of its annotations and
its client."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ...errors import InvalidInput, MissingExtra
from ...late_patterns import compiled_late
from ...printable import printable_within
from ..places import TracedPlaces
from .langfuse import langfuse_client, langfuse_payload, send_to_langfuse
from .langsmith import langsmith_client, langsmith_payload, send_to_langsmith
from .mlflow import mlflow_client, mlflow_payload, send_to_mlflow
from .otlp import otlp_client, otlp_payload, send_by_otlp
from .phoenix import phoenix_client, phoenix_payload, send_to_phoenix
from .placed import PlacedNotes


@dataclass(frozen=True, slots=True)
class AnnotatedTool:
    """An ``AnnotatedTool`` is a tracing tool that takes annotations.

    ``trace`` and ``step``: patterns of the tool's ids of traces and of steps. ``payload``: returns the
    annotations as the tool's API accepts them. ``client``: returns the tool's own client, which reads its
    address and its key from the environment. ``send``: sends a payload by a client, and yields, for each
    request, the number of annotations that arrived. ``module``, ``package``: the module of the client,
    and the package to install for it.
    """

    name: str
    trace: re.Pattern[str]
    step: re.Pattern[str]
    payload: Callable[[PlacedNotes], dict[str, Any]]
    client: Callable[[], Any]
    send: Callable[[dict[str, Any], Any], Iterator[int]]
    module: str
    package: str

    def check_ids(self, traced: TracedPlaces) -> None:
        """Raises InvalidInput if the trace does not have ids of this tool."""
        steps = {traced.step, *(each.step for found in traced.documents.values() for each in found)}
        wrong = next((each for each in sorted(steps) if not self.step.fullmatch(each)), None)
        if not self.trace.fullmatch(traced.trace):
            wrong = traced.trace
        if wrong is not None:
            raise InvalidInput(
                f"{self.name} has no trace or step with the id {printable_within(wrong, 100)!r}; name "
                "the tool that recorded the trace"
            )

    def check_installed(self) -> None:
        """Raises MissingExtra if the tool's own client is not installed."""
        try:
            found = find_spec(self.module)
        except (ImportError, ValueError):
            found = None
        if found is None:
            raise MissingExtra(f"sending to {self.name} needs its own client: pip install {self.package}")


_TRACE, _SPAN = compiled_late(r"[0-9a-f]{32}"), compiled_late(r"[0-9a-f]{16}")
"""The patterns of the ids of traces and of spans in OpenTelemetry."""
_RUN = compiled_late(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OF_MLFLOW = compiled_late(r"(trace:/[\w./-]{1,200}/|tr-)[0-9a-f]{32}")
_OF_LANGFUSE = compiled_late(r"[\w.:-]{1,200}")
"""The pattern of ids in Langfuse, which users may choose themselves."""

_TOOLS = (
    AnnotatedTool(
        "phoenix",
        _TRACE,
        _SPAN,
        phoenix_payload,
        phoenix_client,
        send_to_phoenix,
        "phoenix.client",
        "arize-phoenix-client",
    ),
    AnnotatedTool(
        "langsmith",
        _RUN,
        _RUN,
        langsmith_payload,
        langsmith_client,
        send_to_langsmith,
        "langsmith",
        "langsmith",
    ),
    AnnotatedTool(
        "langfuse",
        _OF_LANGFUSE,
        _OF_LANGFUSE,
        langfuse_payload,
        langfuse_client,
        send_to_langfuse,
        "langfuse",
        "'langfuse>=5'",
    ),
    AnnotatedTool(
        "mlflow",
        _OF_MLFLOW,
        _SPAN,
        mlflow_payload,
        mlflow_client,
        send_to_mlflow,
        "mlflow",
        "mlflow",
    ),
    AnnotatedTool(
        "otlp",
        _TRACE,
        _SPAN,
        otlp_payload,
        otlp_client,
        send_by_otlp,
        "opentelemetry.exporter.otlp.proto.http",
        "opentelemetry-exporter-otlp-proto-http",
    ),
)
ANNOTATED_TOOLS: Mapping[str, AnnotatedTool] = {tool.name: tool for tool in _TOOLS}
"""The tools by name. This is the only place where a tool is registered."""


def annotated_tool(name: str) -> AnnotatedTool:
    """Returns the tool with this name. Raises InvalidInput if there is none."""
    if name not in ANNOTATED_TOOLS:
        known = ", ".join(ANNOTATED_TOOLS)
        raise InvalidInput(
            f"{printable_within(str(name), 60)!r} takes no annotations; give one of {known}"
        )
    return ANNOTATED_TOOLS[name]
