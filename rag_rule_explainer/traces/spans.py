"""This module defines a span: one step of an application as a tracer recorded it, in the same form for
all tracers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

TracedKind: TypeAlias = Literal["retrieval", "rerank", "tool", "model", "other"]


@dataclass(frozen=True, slots=True)
class TracedDocument:
    """A ``TracedDocument`` is one document that a span returned. ``text``: None if the trace has only the
    id of the document. ``id``: None if the tracer wrote no id. ``metadata``: includes the document's
    score, if the tracer recorded one.
    """

    text: str | None
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


TracedMessage: TypeAlias = tuple[str, str]
"""A message of a chat: its role (system, user, assistant or tool), and its text."""


@dataclass(frozen=True, slots=True)
class TracedRequest:
    """A ``TracedRequest`` is a recorded request to a model.

    ``messages``: the messages of a chat, or one message of a user if the model completes a text
    (``is_chat`` is then False). ``unread``: the parts of the request that are no texts, such as
    pictures, in words; empty if there are none.
    """

    messages: tuple[TracedMessage, ...]
    is_chat: bool = True
    unread: str = ""


@dataclass(frozen=True, slots=True)
class TracedSpan:
    """A ``TracedSpan`` is one step of an application.

    ``parent``: the id of the step of which this step is a part; None if it is not part of another step.
    ``place``: where the step was read, such as "a.json, record 3". ``start``: orders the spans of a
    trace. ``input`` and ``output``: JSON data, or a text; None if the tracer wrote none. ``session``: the
    id of the conversation that the step belongs to. ``project``: the id of the project in the tracing
    tool. Both are None if the tracer wrote none.

    ``documents``: the documents that a search or a reranker returned; None if the span contains no data
    about documents. ``given``: the documents that a reranker was given. ``request`` and ``reply``: the
    request to a model and the model's reply.
    """

    trace: str
    id: str
    parent: str | None
    kind: TracedKind
    name: str
    place: str
    tracer: str
    start: str = ""
    input: Any = None
    output: Any = None
    documents: tuple[TracedDocument, ...] | None = None
    given: tuple[TracedDocument, ...] | None = None
    request: TracedRequest | None = None
    reply: str | None = None
    model: str | None = None
    session: str | None = None
    project: str | None = None
