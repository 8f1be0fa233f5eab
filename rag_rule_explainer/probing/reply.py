"""This module defines the outcome of one replay."""

from typing import NamedTuple

from ..verdicts import Answer
from .judging import error_text
from .replaying import UnusableReply
from .tracing.marks import TracedReplay


class Reply(NamedTuple):
    """A Reply is the answer to one arrangement (an ordered list of sources), or the error of its replay;
    ``answer`` is then None.

    ``latency``: the seconds of the run that made the answer, even if the answer is from the store; None
    if no run made it. ``cause``: the error; None if the replay did not fail. ``traced``: the data about
    the replay for tracers such as LangSmith; None if it is not traced.
    """

    answer: Answer | None
    latency: float | None = None
    cause: BaseException | None = None
    traced: TracedReplay | None = None

    @property
    def error(self) -> str:
        """Returns the text of the error; empty if the replay did not fail."""
        if isinstance(self.cause, UnusableReply):
            return self.cause.reason
        return "" if self.cause is None else error_text(self.cause)
