"""This module defines a source: one retrieved text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..errors import InvalidInput
from ..printable import brief
from .given import FrameworkDocument, fingerprint_of

MOST_SOURCES = 10_000
"""The maximum number of sources that are read from a file. Each source is a bit of a mask, so more
sources could exhaust the memory."""


@dataclass(frozen=True, slots=True)
class Source:
    """A ``Source`` is one retrieved text under an id that is unique within its set.

    Two sources are equal iff their ids and texts are equal; ``metadata`` is not compared. Comparing a
    source with a str raises TypeError. ``fingerprint``: a hash of the id, the text and the metadata
    without scores. A store finds an answer only for sources with the same fingerprints.
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)
    fingerprint: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("text", self.text)):
            if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
                raise InvalidInput(f"the {name} of a source is {brief(value)}; give a str")
        if not isinstance(self.metadata, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass other types
            raise InvalidInput(
                f"the metadata of source {self.id!r} is {brief(self.metadata)}; give a dict, or nothing"
            )
        if not self.id.strip():
            raise InvalidInput(
                f"a source has an empty id (its text begins {self.text[:40]!r}); give it one, as 'D1'"
            )
        if any(0xD800 <= ord(character) <= 0xDFFF for character in self.id):
            raise InvalidInput(f"the id {self.id!r} has a lone surrogate; give an id that is text")
        object.__setattr__(self, "fingerprint", fingerprint_of(self.id, self.text, self.metadata))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            # Without this error, ``"D1" in case.kept`` would silently always be False.
            raise TypeError("a source is neither its id nor its text; compare source.id or source.text")
        if not isinstance(other, Source):
            return NotImplemented
        return self.id == other.id and self.text == other.text

    def __hash__(self) -> int:
        # A source has the hash of its id on purpose. ``"D1" in {source}`` then calls ``__eq__``, which
        # raises TypeError. With another hash, the result would silently be False.
        return hash(self.id)

    @property
    def passage(self) -> str:
        """Returns the text as it is shown to a reader: below its title, if ``metadata`` has one."""
        title = self.metadata.get("title")
        return f"{title}\n{self.text}" if isinstance(title, str) and title.strip() else self.text


SourceLike: TypeAlias = Source | str | Mapping[str, Any] | FrameworkDocument
"""The types that callers may give as a source."""
