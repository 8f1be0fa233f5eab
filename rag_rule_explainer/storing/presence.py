"""Whether others have the same database open: who is alone there needs no claims that they can see.

The protocol, which is the same for a file and for a server:

1. Whoever works on a database holds a lock on being there: an exclusive one (alone), or a shared one
   (among others). A newcomer tries the exclusive one once, then asks for a shared one until it is given.
2. Who is alone looks for newcomers a few times a second. Where there is one, it
   grants nothing any more that is not a claim in the database, commits a claim for everything it has
   granted so far, and only then gives up its lock; it comes back as a newcomer itself.

So nobody works beside answers in the making that have no claim. Locks die with their processes: of one
that is killed before its claims are committed, nothing is in the making either.
"""

from typing import Protocol

from sqlalchemy import Connection


class Presence(Protocol):
    """The lock of one process at one database. Belongs to the writer's thread."""

    def try_alone(self, connection: Connection) -> bool:
        """Holds the exclusive lock, if nobody holds any."""
        ...

    def try_among(self, connection: Connection) -> bool:
        """Holds a shared lock, unless somebody is alone; then says to that one that it is asked for."""
        ...

    def is_asked_for(self, connection: Connection) -> bool:
        """True iff somebody may be waiting for this one not to be alone any more."""
        ...

    def leave(self, connection: Connection) -> None:
        """Gives the lock back."""
        ...

    def lost(self) -> bool:
        """The connection is gone; True iff the lock is gone with it."""
        ...

    def forked(self) -> None:
        """In a child: lets go of what belongs to the parent, which keeps it."""
        ...


def presence_at(dialect: str, target: str) -> Presence:
    """The presence at the database of an address."""
    if dialect == "sqlite":
        from .presence_file import FilePresence

        return FilePresence(target + ".users")
    from .presence_server import ServerPresence

    return ServerPresence()
