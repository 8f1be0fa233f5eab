"""This module says how a call reports its progress to the user's framework."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from ..progress.report import Progress


class Events(Protocol):
    """An ``Events`` object reports the progress of a call in the form that the framework uses for its
    events."""

    @property
    def sync(self) -> Progress | None:
        """Returns the object that is told the progress of a blocking explanation; None if there is
        none."""
        ...

    def told(self) -> AbstractAsyncContextManager[Progress | None]:
        """Yields the object that is told the progress of an explanation on the running event loop; None
        if there is none."""
        ...
