"""This module makes the gate of a first run: it records the run's searches, or answers them with the
documents that the caller passed."""

from typing import TypeVar

from ..application import Application
from ..options import CallInput, Manner
from .captured import Captured
from .recorder import Recording
from .refetching import Refetching
from .serving import Serving

Item = TypeVar("Item")


def first_gate(
    application: Application[Item], manner: Manner, case: CallInput
) -> tuple[Recording[Item] | Serving[Item], Captured[Item] | None]:
    """Returns the gate of a first run: the object that records the searches of this run, or answers them
    with the documents that the caller passed. Also returns the run's sources if the caller passed
    documents; None if the run has to search for its sources."""
    only, identify = manner.recorded_retrievers, application.identify
    if case.documents is not None:
        captured = Captured[Item].brought(application.brought(case.documents), identify, only)
        return Serving(captured, captured.sources), captured
    added = application.brought(case.add_documents) if case.add_documents else []
    gate: Recording[Item] = Recording(identify, added, only, takes_all=manner.scope == "retrieved")
    if case.refetch is not None:
        gate.refetching = Refetching(case.refetch, identify, application.brought)
    return gate, None
