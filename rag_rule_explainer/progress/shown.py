"""What a progress bar asks of whatever shows its rows."""

from typing import Protocol

from .wording import Row


class Shown(Protocol):
    """Shows rows from when it is started until it is closed. One thread at a time calls it."""

    def start(self) -> None:
        """Starts displaying the progress that has been reported; called once."""
        ...

    def tell(self, row: Row) -> None:
        """Takes in the newest row of a call under way; in microseconds, but for now and then."""
        ...

    def finish(self, row: Row) -> None:
        """Takes in the last row of a call."""
        ...

    def close(self) -> None:
        """Leaves the place as it was, with what is to stay."""
        ...
