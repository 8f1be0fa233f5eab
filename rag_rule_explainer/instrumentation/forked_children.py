"""This module tells the process of a replay that the replay was ended in a forked child.

A child has a copy of this process, in which the functions of tools are guarded as well. But what the
child notes in its copy, such as the reason why a tool did not run, does not reach its parent.
"""

import mmap
import os

_IN_A_CHILD = (
    "the replay was ended in a forked child, which called a tool whose result is not recorded (call the "
    "tool in this process or in a thread, or let it run by safe_tools=)"
)


class ForkedChildren:
    """A ``ForkedChildren`` notes in memory that a process shares with its forked children that a replay
    was ended in one of them."""

    __slots__ = ("_page", "_pid")

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._page: mmap.mmap | None = None

    def begin(self) -> None:
        """Makes the shared memory. Call it before a fork."""
        if self._page is None:
            self._page = mmap.mmap(-1, 1)

    def note_end(self) -> None:
        """Notes, in a child, that the replay was ended; does nothing in the process of the replay."""
        if self._page is not None and os.getpid() != self._pid:
            self._page[0] = 1

    @property
    def why_ended(self) -> str:
        """Returns the reason why the replay was ended; empty if no child has ended it so far."""
        return _IN_A_CHILD if self._page is not None and self._page[0] else ""
