"""This module knows whether an application gives its answers without asking a model."""

from collections.abc import Sized
from dataclasses import dataclass

from .rewinding.rewinding import Rewinding


@dataclass(slots=True, eq=False)
class SilentRuns:
    """A ``SilentRuns`` records whether any run sent a request to a model.

    ``is_stored``: True if a store may answer in place of replays. Without requests, nothing shows that
    the application is still the one that gave the stored answers.
    """

    rewinding: Rewinding
    is_stored: bool = False
    _have_asked: bool = False

    def take(self, exchanges: Sized) -> None:
        """Records the requests of one run."""
        self._have_asked = self._have_asked or bool(len(exchanges))

    @property
    def compute_alone(self) -> bool:
        """Returns True iff no run sent a request, and the application can ask no model. Equal answers
        then show that runs are equal."""
        return not (self._have_asked or self.is_stored) and self.rewinding.asks_no_model
