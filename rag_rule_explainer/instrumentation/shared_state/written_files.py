"""This module finds out whether files have another content than before a run wrote them."""

from dataclasses import dataclass, field
from hashlib import blake2b

from .file_contents import content_of

_MOST_WRITTEN = 5000
"""The most files that are compared with what they were before runs wrote them."""
_NOTHING = blake2b(b"none" * 2, digest_size=16).digest()
"""This digest is what ``content_of`` returns for a path where there is nothing."""


@dataclass(slots=True, eq=False)
class WrittenFiles:
    """A ``WrittenFiles`` stores what was in files and folders before runs wrote them."""

    _before: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def note(self, path: str) -> None:
        """Stores what is there, unless it was noted before. A run is about to write it."""
        if len(self._before) < _MOST_WRITTEN and path not in self._before:
            self._before[path] = content_of(path)

    def changed(self) -> dict[str, bool]:
        """Returns the files and folders that have changed. The values are True for those that were made
        or removed."""
        now = {path: content_of(path) for path in self._before}
        return {
            path: _NOTHING in (was, now[path]) for path, was in self._before.items() if was != now[path]
        }
