"""Explanations of traced answers, without the applications that gave them, and a guard of the network."""

import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from rag_rule_explainer import Explainer, Explanation, Source, contains
from rag_rule_explainer.traces import Incident

Holds = Callable[[frozenset[str]], bool]


def explained(incident: Incident, holds: Holds, **settings: Any) -> Explanation:
    """The explanation of the logged answer, which is given where the condition holds for the ids of the
    documents that are shown."""

    def replay(question: str, shown: Sequence[Source]) -> str:
        return incident.answer if holds(frozenset(each.id for each in shown)) else "something else"

    options: dict[str, Any] = {"miner": "exhaustive", **settings}
    explainer = Explainer(replay, predicate=contains(incident.answer), **options)
    documents = list(incident.documents or ())
    return explainer.explain(incident.question or "why?", documents, incident.answer)


def by_first_two(incident: Incident) -> Explanation:
    """The explanation of an answer that needs the first two documents."""
    needed = frozenset(each.id for each in (incident.documents or ())[:2])
    return explained(incident, needed.issubset)


@contextmanager
def no_connection() -> Generator[list[Any]]:
    """Refuses each connection, also one to this machine, and keeps where it would have gone."""
    tried: list[Any] = []

    def refused(self: socket.socket, address: Any) -> None:
        tried.append(address)
        raise PermissionError(f"a connection to {address}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refused)
        patch.setattr(socket.socket, "connect_ex", refused)
        yield tried
