"""Stores that goldens opened are closed again."""

from collections.abc import Iterator

import pytest

from rag_rule_explainer.storing.opened import close_all


@pytest.fixture(autouse=True, scope="module")
def closed() -> Iterator[None]:
    yield
    close_all()
