"""This module defines the options of one call of ``explain``, other than its question, its sources and
its baseline."""

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import TypedDict

from ..allowed import showing
from ..probing.replaying import Replay
from ..progress.report import Progress


class CallFields(TypedDict, total=False):
    """The CallFields are the fields of CallOptions, as types of keyword arguments."""

    replay: Replay | None
    pinned: Iterable[str]
    progress: Progress | bool | None


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The CallOptions apply to one call only. ``replay``: the replay to use; None for that of the
    explainer. ``pinned``: ids of sources that are retained in every replay and appear in no rule.
    ``progress``: receives the progress of this call, in addition to the explainer's own listener."""

    replay: Replay | None = None
    pinned: Iterable[str] = ()
    progress: Progress | bool | None = None


showing_call_fields = showing(CallOptions, CallFields)
"""A decorator for functions that take these options as ``**fields``. It makes their signature list the
options one by one."""
