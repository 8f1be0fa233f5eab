"""This module re-exports the functions that show settings and shortened texts, for the integrations."""

from ..printable import shortened
from ..settings import showing_settings

__all__ = ["shortened", "showing_settings"]
