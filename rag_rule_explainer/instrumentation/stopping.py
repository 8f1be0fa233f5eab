"""A run that ends where it would first show a model what was retrieved."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from ..errors import BaselineFailed
from .requests.source_recognition import Request


class Enough(Exception):
    """Raised where a model is about to be asked and need not be.

    Fails as a model does, since every application comes to an end when its model fails; one that runs in
    workers of its own may not when something else than an Exception is raised there.
    """

    def __init__(self) -> None:
        super().__init__("what would be asked is known, so that no model is")


class Stopping:
    """``has_retrieved``: whether the run has retrieved by now. ``request``: the first that a model would
    then have been sent, or None."""

    def __init__(self, has_retrieved: Callable[[], bool]) -> None:
        self.request: Request | None = None
        self._has_retrieved = has_retrieved

    def before(self, request: Request) -> None:
        """Raises Enough for every request after the retrieval, also where the application tries again."""
        if self._has_retrieved():
            self.request = self.request or request
            raise Enough

    @contextmanager
    def forgiving(self) -> Generator[None, None, None]:
        """Around the run: however the application takes the end of it, it has not failed."""
        try:
            yield
        except (Enough, BaselineFailed):
            if self.request is None:
                raise
