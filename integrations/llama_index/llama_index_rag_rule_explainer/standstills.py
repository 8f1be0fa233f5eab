"""Runs of workflows that wait for what nobody sends: a human's answer, or events that never come."""

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, cast

from llama_index.core.workflow.events import Event, InputRequiredEvent
from typing_extensions import override
from workflows import events
from workflows.context.serializers import BaseSerializer

from rag_rule_explainer import BaselineFailed
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation, unusable

_WAY_OUT = (
    "Pass a function that answers it: async def answered(question): handler = "
    "workflow.run(query=question), then for each InputRequiredEvent of handler.stream_events(): "
    "handler.ctx.send_event(HumanResponseEvent(response='...')), and return await handler"
)
_ASKS_A_HUMAN = (
    "the workflow {workflow} asks a human ({asked}) and waits for an answer, so it cannot be replayed as "
    "it is. {way_out}"
)
_STANDS_STILL = (
    "a workflow stands still without an answer: no step runs, and no event has come that would start "
    "one, as where it sends an event for each node and there are none. Let it end then as well; if it is "
    "the case without any nodes, answer_without_sources='N/A' answers that"
)
_IDLE: type[Event] | None = getattr(events, "WorkflowIdleEvent", None)
"""What newer releases tell of a run in which nothing goes on."""


@dataclass(slots=True, eq=False)
class Standstills:
    """Whether the first run of an application went on after it had stood still, as where something
    outside of its steps sends it events: then its replays may as well. ``asking``: the ids of runs that
    have asked a human; ``answered``: why a first run that a human has answered cannot be replayed."""

    seen: bool = False
    asking: set[str] = field(default_factory=set[str])
    answered: str = ""


class _Blind(BaseSerializer):
    """Leaves out what an application keeps in a context, which need not be serializable."""

    @override
    def serialize(self, value: Any) -> str:
        return "null"

    @override
    def deserialize(self, value: str) -> Any:
        return None


_run: ContextVar[tuple[Standstills, bool] | None] = ContextVar("_run", default=None)


@contextmanager
def running(standstills: Standstills, *, is_replay: bool) -> Generator[None, None, None]:
    """Inside, workflows that run belong to a replay, or to the run that it is compared with."""
    token = _run.set((standstills, is_replay))
    try:
        yield
    finally:
        _run.reset(token)


def note_answered(reason: Exception) -> None:
    """Notes that a human answers the first run of an application, and so none of its replays."""
    now = _run.get()
    if now is not None:
        now[0].answered = str(reason)


def asking(workflow: str, handler: Any, event: Event) -> Exception | None:
    """Returns that a run which tells this event asks a human; None where it does not."""
    if isinstance(event, InputRequiredEvent):
        return _asking(workflow, type(event).__name__)
    if _IDLE is None or not isinstance(event, _IDLE):
        return None
    awaited = next(_awaited_in(handler.ctx.to_dict(serializer=_Blind())), None)
    return None if awaited is None else _asking(workflow, f"waiting for a {awaited.rpartition('.')[2]}")


def _asking(workflow: str, asked: str) -> Exception:
    told = _ASKS_A_HUMAN.format(workflow=workflow, asked=asked, way_out=_WAY_OUT)
    run, now = participation(), _run.get()
    is_replay = run is not None and now is not None and now[1]
    return unusable(told, run.watch, passing=False) if run and is_replay else BaselineFailed(told)


def _telling(_name: str, method: Any) -> Any:
    """Of whatever runs workflows, also where a function or a step of another one calls them."""

    @wraps(method)
    async def tell(adapter: Any, event: Event) -> None:
        await method(adapter, event)
        now = _run.get()
        if now is None:
            return
        if isinstance(event, InputRequiredEvent):
            now[0].asking.add(adapter.run_id)
        elif _IDLE is not None and isinstance(event, _IDLE) and adapter.run_id not in now[0].asking:
            _stand_still(*now)

    return tell


def _stand_still(standstills: Standstills, is_replay: bool) -> None:
    run = participation()
    if not is_replay:
        standstills.seen = True
    elif run is not None and not standstills.seen:
        raise unusable(_STANDS_STILL, run.watch, passing=False)


def _awaited_in(state: object) -> Iterator[str]:
    """Yields the names of the events that steps wait for in the middle."""
    if isinstance(state, Mapping):
        for key, value in cast("Mapping[str, Any]", state).items():
            if key == "waiting_for_event":
                yield str(value)
            else:
                yield from _awaited_in(value)
    elif isinstance(state, list):
        for each in cast("list[Any]", state):
            yield from _awaited_in(each)


RUNNER = ("workflows.runtime.types.plugin", "InternalRunAdapter")
INTERCEPTIONS = (Interception(*RUNNER, re.compile("write_to_event_stream"), _telling),)
