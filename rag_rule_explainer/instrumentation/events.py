"""This module defines how a call reports its progress to the user's framework."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from ..progress.report import Progress


class Events(Protocol):
    """An ``Events`` object reports the progress of a call in the form that the framework uses for its
    events."""

    @property
    def sync(self) -> Progress | None:
        """Returns the object to which a blocking explanation reports its progress; None if no progress is
        reported."""
        ...

    def on_loop(self) -> AbstractAsyncContextManager[Progress | None]:
        """Returns a context manager. Its value is the object to which an explanation on the running event
        loop reports its progress; None if no progress is reported."""
        ...
