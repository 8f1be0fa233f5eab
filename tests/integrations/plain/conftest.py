"""The models of applications without a framework."""

from collections.abc import Iterator

import pytest

from tests.integrations.plain.models import Models, served


@pytest.fixture(scope="session")
def models() -> Iterator[Models]:
    with served() as known:
        yield known
