"""This module finds the OpenTelemetry exporters whose endpoint does not answer, and stops spans of
explanations from being sent to them. The other exporters of the same provider still receive these spans.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Receivers:
    """A ``Receivers`` object holds the span processors of one tracer. The processors in ``dead`` export
    to an endpoint that does not answer; all other processors are in ``live``. ``why``: a note for the
    user about the first endpoint that does not answer; empty if all answer."""

    live: tuple[Any, ...]
    dead: tuple[Any, ...]
    why: str

    @classmethod
    def of(cls, tracer: Any, why_not: Callable[[str], str]) -> "Receivers":
        """Returns the receivers of a tracer. ``why_not``: returns a note that an endpoint does not
        answer, or an empty text if it answers; it may block."""
        processors = tuple(getattr(getattr(tracer, "span_processor", None), "_span_processors", ()))
        whys = {each: why for each in processors if (why := why_not(_endpoint_of(each)))}
        live = tuple(each for each in processors if each not in whys)
        return cls(live, tuple(whys), next(iter(whys.values()), ""))

    @property
    def has_live_exporter(self) -> bool:
        """Returns True if at least one of the processors in ``live`` exports spans."""
        return any(hasattr(each, "span_exporter") for each in self.live)

    def limiting(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that begins a span as ``begin`` does. At its end, the span is not sent to
        the processors in ``dead``."""
        return (lambda *args, **kwargs: self.limit(begin(*args, **kwargs))) if self.dead else begin

    def limit(self, span: Any) -> Any:
        """Makes sure that a span which has just begun is not sent to the processors in ``dead``, and
        returns the span."""
        if self.dead and hasattr(span, "_span_processor"):
            span._span_processor = _Live(self.live)
        return span


class _Live:
    """This class replaces the span processor of one span, so that only the processors ``live`` receive
    the span at its end. The span has already begun, so only the methods for the end of a span are
    called."""

    def __init__(self, live: tuple[Any, ...]) -> None:
        self._live = live

    def on_end(self, span: Any) -> None:
        for each in self._live:
            each.on_end(span)

    def _on_ending(self, span: Any) -> None:
        for each in self._live:
            if hasattr(each, "_on_ending"):
                each._on_ending(span)


def _endpoint_of(processor: Any) -> str:
    """Returns the address to which a span processor exports; empty if its exporter does not say it."""
    endpoint = getattr(getattr(processor, "span_exporter", None), "_endpoint", None)
    return endpoint if isinstance(endpoint, str) else ""
