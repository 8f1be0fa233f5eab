"""This module holds what the overlays have in common: the views that runs have of stores and caches."""

from typing import Any

from rag_rule_explainer.instrumentation.isolation.redirecting import untouched


class MethodsOverlay:
    """This class is an ``Overlay`` whose methods replace the methods of a real object in one run."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def attribute(self, name: str) -> Any:
        """Returns the method of the overlay that replaces the real method of this name."""
        return getattr(self, name)

    def set_attribute(self, name: str, value: Any) -> None:
        """Sets the attribute on the real object, which all runs share."""
        with untouched():
            setattr(self._real, name, value)
