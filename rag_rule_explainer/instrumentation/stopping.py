"""This module stops a run before its first model request after the retrieval."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ..errors import BaselineFailed
from .requests.source_recognition import Request


class Enough(Exception):
    """This error stops a run in place of a model request that an estimate does not need.

    It is an Exception, as the error of a model is: an application with worker threads may hang if
    another BaseException is raised in them.
    """

    def __init__(self) -> None:
        super().__init__("what would be asked is known, so that no model is")


class Stopping:
    """This class stops a run at its first model request after the retrieval.

    ``has_retrieved``: returns True iff the run has retrieved. ``request``: the request that was stopped;
    None before that.
    """

    def __init__(self, has_retrieved: Callable[[], bool]) -> None:
        self.request: Request | None = None
        self._has_retrieved = has_retrieved

    def before(self, request: Request) -> None:
        """Raises Enough for every request after the retrieval, including the application's retries."""
        if self._has_retrieved():
            self.request = self.request or request
            raise Enough

    @contextmanager
    def forgiving(self) -> Generator[None, None, None]:
        """Suppresses the error of the run inside the block if the run was stopped on purpose."""
        try:
            yield
        except (Enough, BaselineFailed):
            if self.request is None:
                raise
