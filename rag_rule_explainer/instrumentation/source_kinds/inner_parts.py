"""This module defines the base class for results of tools that contain exactly one text or list. The
parts of such a result are the parts of this text or list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class InnerParts:
    """An ``InnerParts`` is a result that contains one text or list. The parts of the result are the parts
    of this text or list (``inner``)."""

    inner: Any

    @property
    def is_list(self) -> bool:
        """Returns True iff the parts are items of a list."""
        return self.inner.is_list

    @property
    def has_heading(self) -> bool:
        """Returns True iff the first part is a heading of the others."""
        return self.inner.has_heading

    @property
    def texts(self) -> Sequence[str]:
        """Returns the text of each part."""
        return self.inner.texts
