"""This module stops a run before its first model request after the retrieval, for estimates of the
cost."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ..errors import BaselineFailed
from .requests.source_recognition import Request


class Enough(Exception):
    """This error stops a run whose next model request is not needed for an estimate. It is raised instead
    of sending the request.

    It derives from Exception, as the errors of models do. An error that derives only from BaseException
    could make an application hang if it were raised in a worker thread.
    """

    def __init__(self) -> None:
        super().__init__("what would be asked is known, so that no model is")


class Stopping:
    """A ``Stopping`` stops a run at its first model request after the retrieval.

    ``has_retrieved``: returns True iff the run has retrieved. ``request``: the request at which the run
    was stopped; None before.
    """

    def __init__(self, has_retrieved: Callable[[], bool]) -> None:
        self.request: Request | None = None
        self._has_retrieved = has_retrieved

    def before(self, request: Request) -> None:
        """Raises Enough if the run has retrieved. Called before every model request, so retries of the
        application are stopped too."""
        if self._has_retrieved():
            self.request = self.request or request
            raise Enough

    @contextmanager
    def forgiving(self) -> Generator[None, None, None]:
        """Suppresses the error that ends the run in the block, if ``before`` has stopped this run."""
        try:
            yield
        except (Enough, BaselineFailed):
            if self.request is None:
                raise
