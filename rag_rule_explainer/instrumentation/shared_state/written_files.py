"""This module stores the content of files before runs write to them, and finds out which of these files
have changed."""

from dataclasses import dataclass, field
from hashlib import blake2b

from .file_contents import content_of

_MOST_WRITTEN = 5000
"""The largest number of files whose earlier content is stored. Further files count as unchanged."""
_NOTHING = blake2b(b"none" * 2, digest_size=16).digest()
"""The digest that ``content_of`` returns if there is no file or folder at a path."""


@dataclass(slots=True, eq=False)
class WrittenFiles:
    """A ``WrittenFiles`` stores what was in files and folders before runs wrote them."""

    _before: dict[str, bytes] = field(default_factory=dict[str, bytes])
    _linked: set[str] = field(default_factory=set[str])

    def note(self, path: str) -> None:
        """Stores the content of the file or folder at ``path``, unless it was stored before. Must be
        called before a run writes there."""
        if len(self._before) < _MOST_WRITTEN and path not in self._before:
            self._before[path] = content_of(path)

    def note_linked(self, path: str) -> None:
        """Records that a run is about to give the file at ``path`` a second name. This changes the number
        of its names, but not its content."""
        self._linked.add(path)

    def changed(self) -> dict[str, bool]:
        """Returns the paths of the files and folders that have changed. The value of a path is True if
        the file was made or removed or has got a second name, and False if only its content differs."""
        now = {path: content_of(path) for path in self._before}
        return dict.fromkeys(self._linked, True) | {
            path: _NOTHING in (was, now[path]) for path, was in self._before.items() if was != now[path]
        }
