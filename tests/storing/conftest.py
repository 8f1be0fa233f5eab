"""Stores of every kind, each closed and gone after its test."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_rule_explainer import Store
from rag_rule_explainer.storing.opened import close_all
from tests.postgres import Server, private_server
from tests.storing.asking import among_others

_numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with private_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The url of a store that nobody has opened yet."""
    return _url(request, tmp_path)


@pytest.fixture(params=["sqlite-alone", "sqlite-among", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store that nobody else uses, one that somebody else has open, and one on a server."""
    store = Store(_url(request, tmp_path), "tests")
    if request.param != "sqlite-among":
        yield store
        return
    with among_others(store):
        yield store


def _url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'store.db'}"
    server = request.getfixturevalue("server")
    assert isinstance(server, Server)
    return server.fresh(f"store{next(_numbers)}")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all()
