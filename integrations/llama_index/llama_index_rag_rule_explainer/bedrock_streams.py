"""This module records the events of Bedrock's streams, one of which reports the finish reason.

LlamaIndex drops that event. Bedrock's sync and async clients read every event of a stream by the method
that is replaced here.
"""

import inspect
import re
from collections.abc import Awaitable
from functools import wraps
from typing import Any, cast

from rag_rule_explainer.instrumentation.copies.patching import Interception

from .streamed_ends import StreamedEnds
from .watching import current_watch


def _noting(_: str, method: Any) -> Any:
    """Returns the replacement of ``EventStream._parse_event``, which records the event that it
    returns."""

    @wraps(method)
    def parse(self: object, *args: Any, **kwargs: Any) -> Any:
        watch, part = current_watch(), method(self, *args, **kwargs)
        if watch is None:
            return part
        if inspect.isawaitable(part):
            return _noted_later(watch.ends, self, cast("Awaitable[object]", part))
        watch.ends.note_event(self, part)
        return part

    return parse


async def _noted_later(ends: StreamedEnds, stream: object, part: Awaitable[object]) -> object:
    found = await part
    ends.note_event(stream, found)
    return found


INTERCEPTIONS = (
    Interception("botocore.eventstream", "EventStream", re.compile("_parse_event"), _noting),
)
