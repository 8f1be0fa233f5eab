"""How many examples a test draws that says so itself."""

from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

drawn = pytest.mark.drawn
"""Stands on what draws its examples without Hypothesis: it runs with the slow tests as well."""


Case = TypeVar("Case")


def few(cases: Sequence[Case]) -> list[Case]:
    """All of them where slow tests run, as many as is said there, and one in five in a fast run."""
    return list(cases[:: 100 // settings().max_examples])


def examples(most: int) -> int:
    """All of them where slow tests run, and as small a share of them as of others in a fast run, and in
    one of slow tests that asks one in so many cases (``--one-in``)."""
    return max(1, most * settings().max_examples // 100)
