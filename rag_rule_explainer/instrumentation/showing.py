"""What the integrations show of settings and of texts, as the core does."""

from ..printable import shortened
from ..settings import showing_settings

__all__ = ["shortened", "showing_settings"]
