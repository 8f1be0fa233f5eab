"""What one call may be given beside the question, its sources and a baseline."""

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import TypedDict

from ..allowed import showing
from ..probing.replaying import Replay
from ..progress.report import Progress


class CallFields(TypedDict, total=False):
    """The fields of CallOptions as keywords."""

    replay: Replay | None
    pinned: Iterable[str]
    progress: Progress | bool | None


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Of every call. ``replay``: in place of the explainer's own. ``pinned``: ids of sources that are
    always retained and in no rule. ``progress``: told of this call, beside the explainer's own."""

    replay: Replay | None = None
    pinned: Iterable[str] = ()
    progress: Progress | bool | None = None


showing_call_fields = showing(CallOptions, CallFields)
"""Shows them in the signature of a function that collects ``**fields``."""
