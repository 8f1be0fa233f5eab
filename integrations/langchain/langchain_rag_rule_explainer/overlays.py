"""This module contains the common base of overlays. An overlay takes the place of a store or a cache
in one run."""

from typing import Any

from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import untouched


class MethodsOverlay:
    """This class is the base of an overlay whose methods are used in one run in place of the methods of
    a real object."""

    def __init__(self, real: Any, state: State) -> None:
        self._real = real
        self._live = state.live
        self._replaced: dict[str, Any] = {}

    def attribute(self, name: str) -> Any:
        """Returns the method that the run uses under this name. It is the overlay's own method, unless
        the run has replaced it."""
        return self._replaced[name] if name in self._replaced else getattr(self, name)

    def set_attribute(self, name: str, value: Any) -> None:
        """Replaces a method: in a replay for this replay only, and in the user's own run on the real
        object, as without this package."""
        if self._live:
            with untouched():
                setattr(self._real, name, value)
        else:
            self._replaced[name] = value
