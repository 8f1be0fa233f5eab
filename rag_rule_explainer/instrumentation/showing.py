"""This module re-exports how the core shows settings and texts, for the integrations."""

from ..printable import shortened
from ..settings import showing_settings

__all__ = ["shortened", "showing_settings"]
