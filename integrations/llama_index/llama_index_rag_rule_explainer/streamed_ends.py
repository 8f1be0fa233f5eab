"""This module records how streamed replies end, if only a chunk before the last one, or an event of the
provider's client, reports it.

LlamaIndex does not keep the refusals of OpenAI's protocol, and drops the event by which Bedrock reports
the finish reason of a stream. If this module did not record them, a reply that was cut off would look
whole.
"""

import threading
from dataclasses import dataclass, field
from typing import TypeAlias

from llama_index.core.base.llms.types import ChatResponse, CompletionResponse

from rag_rule_explainer.instrumentation.engine import reason_in

from .responses import is_refusal, stop_reason_of

_Response: TypeAlias = ChatResponse | CompletionResponse
_Span: TypeAlias = str | None


@dataclass(slots=True, eq=False)
class EventsOfStream:
    """An ``EventsOfStream`` holds the events of one stream of Bedrock.

    ``parts``: the events that were read. The events are found by Python's ``id``. The references keep the
    events alive, because the id of a deleted event could be given to another object. ``reason``: the
    finish reason; None until it has arrived.
    """

    stream: object
    parts: list[object] = field(default_factory=list[object])
    reason: str | None = None


class StreamedEnds:
    """A ``StreamedEnds`` records the finish reasons and the refusals in the streamed replies of one run.
    The replies are told apart by the ids of their spans."""

    def __init__(self) -> None:
        self._reasons: dict[_Span, str | None] = {}
        self._refusing: set[_Span] = set()
        self._streams: dict[int, EventsOfStream] = {}
        self._of_part: dict[int, EventsOfStream] = {}
        self._read_from: dict[_Span, EventsOfStream] = {}
        self._guard = threading.Lock()

    def note(self, span: _Span, response: _Response) -> None:
        """Records the finish reason and the refusal that a chunk of a reply reports, if it reports any.
        ``span``: the id of the reply's span; None if it has none."""
        with self._guard:
            self.set_reason(span, stop_reason_of(response) or self._reasons.get(span))
            if is_refusal(response):
                self._refusing.add(span)
            events = self._of_part.get(id(response.raw))
            if events is not None:
                self._read_from[span] = events

    def set_reason(self, span: _Span, reason: str | None) -> None:
        """Records the finish reason of a reply."""
        self._reasons[span] = reason

    def note_event(self, stream: object, part: object) -> None:
        """Records an event that was read from a stream of Bedrock."""
        with self._guard:
            events = self._streams.setdefault(id(stream), EventsOfStream(stream))
            events.parts.append(part)
            self._of_part[id(part)] = events
            events.reason = reason_in(part) or events.reason

    def reason_of(self, span: _Span) -> str | None:
        """Returns the finish reason of a reply, as its stream reported it; None if the stream reported
        none."""
        events = self._read_from.get(span)
        return self._reasons.get(span) or (None if events is None else events.reason)

    def forget(self, span: _Span) -> None:
        """Forgets a reply that has ended. All replies without a span have the same key, None, so the
        values of one reply must not stay for the next."""
        self._reasons.pop(span, None)
        self._refusing.discard(span)
        self._read_from.pop(span, None)

    def is_refusal(self, span: _Span) -> bool:
        """Returns True iff a chunk of the reply was a refusal."""
        return span in self._refusing
