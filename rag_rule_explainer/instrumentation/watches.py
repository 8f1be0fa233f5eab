"""This module defines the objects that record what a run does: its requests to models, and its use of
files and services."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..probing.prices import TokensByModel
from ..probing.wholeness import Said
from .requests.exchanges import Exchanges
from .requests.source_recognition import Request


class ModelWatch(Protocol):
    """A ``ModelWatch`` records the requests and replies of a run's models.

    ``before_step``: functions that are called before each step of a graph, with the step's number. These
    functions may raise an error to end the run.
    """

    @property
    def exchanges(self) -> Exchanges:
        """Returns the requests with their replies, in order."""
        ...

    @property
    def requests(self) -> list[Request]:
        """Returns the requests to models, in order."""
        ...

    before_step: list[Callable[[int], None]]

    @property
    def steps(self) -> int:
        """Returns the largest number of steps that one graph of the run made; 0 if the framework does not
        report steps."""
        ...

    @property
    def said(self) -> Sequence[Said]:
        """Returns the replies, in order."""
        ...

    @property
    def fault(self) -> str:
        """Returns the fault of a reply in words, such as that it was cut off; empty if all replies are
        complete."""
        ...

    @property
    def failed(self) -> bool:
        """Returns True iff a call of a model raised an error, even if the application caught it."""
        ...

    @property
    def models(self) -> TokensByModel:
        """Returns the tokens spent, by the name of the model and by kind."""
        ...


class Audited(Protocol):
    """An ``Audited`` object receives Python's audit events of one run about files and environment
    variables. It also receives the data that the run sends to services."""

    def take(self, event: str, given: tuple[Any, ...]) -> None:
        """Handles one audit event of Python. ``event``: its name; ``given``: its arguments."""
        ...

    def sent(self, connection: Any, call: Any, data: bytes) -> None:
        """Handles bytes that are sent over a connection. ``call``: an object for a new call of a service.
        The object is used only if the bytes begin a new call, not if they continue an earlier call."""
        ...
