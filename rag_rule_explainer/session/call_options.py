"""This module defines the options of one call beside its question, its sources and its baseline."""

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import TypedDict

from ..allowed import showing
from ..probing.replaying import Replay
from ..progress.report import Progress


class CallFields(TypedDict, total=False):
    """The CallFields are the fields of CallOptions as keywords."""

    replay: Replay | None
    pinned: Iterable[str]
    progress: Progress | bool | None


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The CallOptions apply to one call. ``replay``: replaces the explainer's own. ``pinned``: ids of
    sources that are always retained and in no rule. ``progress``: receives this call's progress beside
    the explainer's own."""

    replay: Replay | None = None
    pinned: Iterable[str] = ()
    progress: Progress | bool | None = None


showing_call_fields = showing(CallOptions, CallFields)
"""A decorator that shows these fields in the signature of a function that collects ``**fields``."""
