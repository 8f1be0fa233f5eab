"""This module defines the base class for results whose parts are those of one text or list inside the
result."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class InnerParts:
    """An ``InnerParts`` is a result whose parts are those of one text or list inside it. ``inner``: the
    parts of this text or list."""

    inner: Any

    @property
    def is_list(self) -> bool:
        """Returns True iff the parts are items of a list."""
        return self.inner.is_list

    @property
    def has_heading(self) -> bool:
        """Returns True iff the first part is the heading of the others."""
        return self.inner.has_heading

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each part."""
        return self.inner.texts
