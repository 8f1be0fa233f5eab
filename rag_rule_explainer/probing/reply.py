"""What comes of one replay."""

from typing import NamedTuple

from ..verdicts import Answer
from .judging import described
from .replaying import UnusableReply
from .tracing.marks import TracedReplay


class Reply(NamedTuple):
    """What one arrangement was answered, or the error it ended in.

    ``latency``: seconds of the run that it comes from, which an answer out of the store keeps; None
    where the application did not run for it. ``traced``: the replay that it comes from, where traces are
    told of it.
    """

    answer: Answer | None
    latency: float | None = None
    cause: BaseException | None = None
    traced: TracedReplay | None = None

    @property
    def error(self) -> str:
        """Returns the error in one line; empty where there is an answer."""
        if isinstance(self.cause, UnusableReply):
            return self.cause.reason
        return "" if self.cause is None else described(self.cause)
