"""This module describes a store by its place and namespace, without opening it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..allowed import called_as
from ..errors import InvalidInput
from .address import Address

if TYPE_CHECKING:
    from .opened import Opened

_LONGEST_LEASE = 86_400.0


@called_as("Store")
@dataclass(frozen=True, slots=True)
class Store:
    """A Store describes a store of paid answers and judgements: frozen, hashable, picklable, and not yet
    opened.

    ``url``: the path of a SQLite file, ``sqlite:///PATH`` or ``postgresql://USER:PASSWORD@HOST/DATABASE``
    (which means the driver pg8000). A relative path is relative to the current folder at the time of
    opening. ``namespace``: the application whose answers these are; use another one when the application
    has changed. None: the name of the application and a digest of its models' requests; a note of the
    explanation shows it. ``lease``: the seconds for which other processes wait for an answer in the
    making if they cannot see that its maker died; renewed while the maker lives.

    Raises InvalidInput for another kind of database, an empty namespace, or a lease that is not above 0
    and at most a day.
    """

    url: str
    namespace: str | None = None
    lease: float = 60.0

    def __post_init__(self) -> None:
        Address.of(self.url)
        given: object = self.namespace
        is_name = isinstance(given, str) and bool(given.strip())
        if given is not None and not is_name:
            raise InvalidInput(
                f"the namespace of a store is {self.namespace!r}; name the application and its version, "
                "e.g. 'support-bot-7', so that answers of a changed one are not taken for its own"
            )
        is_number = isinstance(self.lease, (int, float)) and not isinstance(self.lease, bool)  # pyright: ignore[reportUnnecessaryIsInstance] -- users pass more
        if not is_number or not 0 < self.lease <= _LONGEST_LEASE:
            raise InvalidInput(f"the lease is {self.lease!r}; give seconds above 0, at most a day")

    @classmethod
    def of(cls, given: "Store | str | None") -> "Store | None":
        """Returns a store unchanged, and the store at a path or url. Raises InvalidInput."""
        if given is None or isinstance(given, cls):
            return given
        if not isinstance(given, str):
            raise InvalidInput(
                f"store is {given!r}; give the path of a SQLite file, or Store(url, namespace)"
            )
        return cls(given)

    def open(self) -> "Opened":
        """Returns the open store, one per process and database, shared by all threads and event loops.
        Raises StoreFailed if the database cannot be used, MissingExtra if its driver is missing."""
        from .opened import opened_store  # late: a description loads no SQLAlchemy

        return opened_store(self)

    @property
    def named(self) -> str:
        """The namespace. Raises InvalidInput without one, since an open store needs it."""
        if self.namespace is None:
            raise InvalidInput(f"the store {self!r} has no namespace; give one, such as 'support-bot-7'")
        return self.namespace

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields for JSON, without a password."""
        return {"url": Address.of(self.url).shown, "namespace": self.namespace, "lease": self.lease}

    def __repr__(self) -> str:
        shown = Address.of(self.url).shown
        return f"Store({shown!r}, namespace={self.namespace!r}, lease={self.lease!r})"
