"""Applications in the style of public ones: what is true of one, and where its refusal leads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from rag_rule_explainer import Explanation, RagRuleError
from tests.integrations.known import Rules, omission, retention, sets
from tests.integrations.stateful import Made

Build = Callable[[str], Made]
"""Makes an application that finds the documents of these names."""
FEW, ALL = "abd", "abcd"
"""What is found in fast tests and in slow ones: the two that matter are always there."""


@dataclass(frozen=True)
class Public:
    """A shape, and what is true of it: its rules, or the error that refuses it and the way out.

    ``says``: what stands in that error. ``way_out``: the same application after the advice of the error
    was followed, whose rules are the known ones. ``warns``: of which of its tools an explanation warns.
    ``is_function``: a function or a chain, which tells no events as it goes. ``is_costly``: explained in
    slow tests alone. ``async_since``: the Python from which on the framework itself can run it
    asynchronously.
    """

    name: str
    build: Build
    retention: Rules = field(default_factory=lambda: sets("bd"))
    omission: Rules = field(default_factory=lambda: sets("b", "d"))
    refusal: type[RagRuleError] | None = None
    says: str = ""
    way_out: Build | None = None
    warns: tuple[str, ...] = ()
    is_function: bool = False
    is_costly: bool = False
    async_since: tuple[int, int] = (3, 10)

    def check(self, explanation: Explanation) -> None:
        """Asserts that these are its rules, and all of them, and that nothing else is warned of."""
        assert (retention(explanation), omission(explanation)) == (self.retention, self.omission)
        assert explanation.complete
        assert len(explanation.warnings) == len(self.warns)
        told = zip(self.warns, explanation.warnings, strict=True)
        assert all(f"the tool {tool!r} retrieved nothing" in warning for tool, warning in told)


def in_every_way(shapes: tuple[Public, ...]) -> list[Any]:
    """Parameters of a test: each shape, what it finds, and whether it is awaited."""
    return [
        pytest.param(
            each,
            found,
            awaiting,
            id=f"{each.name}, {'awaited' if awaiting else 'sync'}",
            marks=[pytest.mark.slow] if awaiting or each.is_costly else [],
        )
        for each in shapes
        for found, awaiting in ((FEW, False), (ALL, True))
    ]
