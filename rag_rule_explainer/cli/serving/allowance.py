"""This module limits how many replays the calls of a server's clients may make."""

from dataclasses import dataclass

from ...errors import InvalidInput


@dataclass(slots=True)
class ReplayAllowance:
    """A ``ReplayAllowance`` limits the replays that clients may cause. ``each``: the maximum number of
    replays of one call; None if the server sets no limit. ``together``: the maximum number of replays of
    all calls; None for no limit. ``used``: the replays so far."""

    each: int | None = None
    together: int | None = None
    used: int = 0

    def cap(self, asked: int | None) -> int:
        """Returns the maximum number of replays that a call may make. ``asked``: the client's own limit;
        None if it gives none.

        Raises InvalidInput if neither the server nor the client sets a limit, if the client's limit is
        above that of the server, and if all replays are used.
        """
        if asked is None and self.each is None and self.together is None:
            raise InvalidInput(
                "nothing limits what this call may cost: give max_replays, such as 100; estimate tells "
                "how many replays are needed"
            )
        if self.each is not None and asked is not None and asked > self.each:
            raise InvalidInput(
                f"max_replays is {asked}, and this server allows {self.each} a call; give at most that"
            )
        left = None if self.together is None else self.together - self.used
        if left is not None and left < 1:
            raise InvalidInput(
                f"all {self.together} replays of this server are used; only its owner can start it anew"
            )
        return min(each for each in (asked, self.each, left) if each is not None)
