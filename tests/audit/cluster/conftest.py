"""A private PostgreSQL, and the account of an audit in it."""

import itertools
from collections.abc import Iterator

import pytest

from rag_rule_explainer.storing.opened import close_all
from tests.postgres import Server, private_server

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with private_server() as server:
        yield server


@pytest.fixture
def database(server: Server) -> str:
    """The url of a new, empty database."""
    return server.fresh(f"audit{next(_numbers)}")


@pytest.fixture
def another(server: Server) -> str:
    """The url of one more empty database."""
    return server.fresh(f"audit{next(_numbers)}")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()
