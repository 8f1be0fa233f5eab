"""This module holds the methods that the overlays of stores and caches have in common."""

from typing import Any

from rag_rule_explainer.instrumentation.isolation.redirecting import untouched


class MethodsOverlay:
    """This class is an ``Overlay`` whose own methods take the place of the real object's methods."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def attribute(self, name: str) -> Any:
        """Returns the overlay's own method."""
        return getattr(self, name)

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets the attribute of the real object."""
        with untouched():
            setattr(self._real, name, value)
