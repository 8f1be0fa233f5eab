"""This module makes a context of OpenTelemetry the current one. It is used only in processes that have
loaded OpenTelemetry."""

from typing import Any


class Attached:
    """This class makes a context of OpenTelemetry the current one during its block."""

    # Each replay enters this block. A generator with @contextmanager would take three times as long.
    __slots__ = ("_inside", "_token")

    def __init__(self, inside: Any) -> None:
        self._inside = inside

    def __enter__(self) -> None:
        self._token = contexts().attach(self._inside)

    def __exit__(self, *_: object) -> None:
        contexts().detach(self._token)


def contexts() -> Any:
    """Returns OpenTelemetry's module ``context``. It must be called only if ``spans.in_use`` has found
    that OpenTelemetry is loaded."""
    from opentelemetry import context

    return context
