"""This module holds what the overlays have in common: the views that runs have of stores and caches."""

from typing import Any

from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.isolation.redirecting import untouched


class MethodsOverlay:
    """This class is an ``Overlay`` whose methods replace the methods of a real object in one run."""

    def __init__(self, real: Any, state: State) -> None:
        self._real = real
        self._live = state.live
        self._replaced: dict[str, Any] = {}

    def attribute(self, name: str) -> Any:
        """Returns what the run has put in place of the method of this name; at first the method of the
        overlay that replaces the real one."""
        return self._replaced[name] if name in self._replaced else getattr(self, name)

    def set_attribute(self, name: str, value: Any) -> None:
        """Replaces the method for this run only; in a run of the user, on the real object."""
        if self._live:
            with untouched():
                setattr(self._real, name, value)
        else:
            self._replaced[name] = value
