"""This module describes a store by its URL and its namespace, without opening it."""

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..allowed import brief, called_as
from ..errors import InvalidInput
from .address import Address, as_written

if TYPE_CHECKING:
    from .opened import Opened

_LONGEST_LEASE = 86_400.0


@called_as("Store")
@dataclass(frozen=True, slots=True)
class Store:
    """A ``Store`` says where answers and judgements are stored, so that they are paid for only once. It
    is frozen, hashable and picklable, and does not open the database.

    ``url``: the path of a SQLite file (a str or a ``Path``), ``sqlite:///PATH`` or
    ``postgresql://USER:PASSWORD@HOST/DATABASE`` (which uses the driver pg8000). A relative path is
    relative to the current folder at the time of opening.

    ``namespace``: a name for the application that gave the answers. Change this name when the application
    changes; otherwise, stored answers of the old version would be used. If it is None, a name is made
    from the name of the application and a digest of the requests to its models; a note of the explanation
    shows it.

    ``lease``: how many seconds other processes wait for an answer if the process that was making the
    answer has died, and they cannot see that it has died. As long as that process lives, they wait for
    its answer.

    Raises InvalidInput for another kind of database, an empty namespace, or a lease that is not above 0
    and at most a day.
    """

    url: str
    namespace: str | None = None
    lease: float = 60.0

    if TYPE_CHECKING:  # for type checkers: a Path may be given, but the field is always a str

        def __init__(
            self, url: str | PathLike[str], namespace: str | None = None, lease: float = 60.0
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", as_written(self.url))
        Address.of(self.url)
        given: object = self.namespace
        is_name = isinstance(given, str) and bool(given.strip())
        if given is not None and not is_name:
            raise InvalidInput(
                f"the namespace of a store is {brief(self.namespace)}; name the application and its "
                "version, e.g. 'support-bot-7', so that answers of a changed one are not taken for its "
                "own"
            )
        is_number = isinstance(self.lease, (int, float)) and not isinstance(self.lease, bool)  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
        if not is_number or not 0 < self.lease <= _LONGEST_LEASE:
            raise InvalidInput(f"the lease is {brief(self.lease)}; give seconds above 0, at most a day")

    @classmethod
    def of(cls, given: "Store | str | PathLike[str] | None") -> "Store | None":
        """Returns the store that a user gave. A path or URL is turned into a ``Store``; a ``Store`` or
        None is returned unchanged. Raises InvalidInput for anything else."""
        if given is None or isinstance(given, cls):
            return given
        if not isinstance(given, (str, PathLike)):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(
                f"store is {brief(given)}; give the path of a SQLite file, or Store(url, namespace)"
            )
        return cls(as_written(given))

    def open(self) -> "Opened":
        """Opens the store and returns it. A process has one writer thread for each database, which all
        its threads and event loops share. Raises StoreFailed if the database cannot be used, and
        MissingExtra if its driver is not installed."""
        # imported late, so that a store can be described without SQLAlchemy
        from .opened import opened_store

        return opened_store(Address.of(self.url), self.named, self.lease)

    @property
    def named(self) -> str:
        """Returns the namespace. Raises InvalidInput if it is None, because a store cannot be used
        without a namespace."""
        if self.namespace is None:
            raise InvalidInput(f"the store {self!r} has no namespace; give one, such as 'support-bot-7'")
        return self.namespace

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields as a dict for JSON. The password in the URL is masked."""
        return {"url": Address.of(self.url).shown, "namespace": self.namespace, "lease": self.lease}

    def __repr__(self) -> str:
        shown = Address.of(self.url).shown
        return f"Store({shown!r}, namespace={self.namespace!r}, lease={self.lease!r})"
