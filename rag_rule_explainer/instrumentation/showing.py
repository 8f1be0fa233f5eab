"""This module re-exports, for the integrations, the functions that show settings and shorten texts."""

from ..printable import shortened
from ..settings import showing_settings

__all__ = ["shortened", "showing_settings"]
