"""This module detects workflows that would wait for ever: for the answer of a human, or for an event."""

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, cast

from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.workflow.events import Event, HumanResponseEvent, InputRequiredEvent
from typing_extensions import override
from workflows import events
from workflows.context.serializers import BaseSerializer

from rag_rule_explainer import BaselineFailed
from rag_rule_explainer.instrumentation.checks import with_article
from rag_rule_explainer.instrumentation.copies.patching import Interception
from rag_rule_explainer.instrumentation.run_context import participation
from rag_rule_explainer.instrumentation.run_failures import unusable

_WAY_OUT = (
    "Pass a function that answers it: async def answered(question): handler = "
    "workflow.run(query=question), then for each InputRequiredEvent of handler.stream_events(): "
    "handler.ctx.send_event(HumanResponseEvent(response='...')), and return await handler"
)
_ASKS_A_HUMAN = (
    "the workflow {workflow} asks a human ({asked}) and waits for an answer, so it cannot be replayed as "
    "it is. {way_out}"
)
_WAITS_FOR_AN_EVENT = (
    "the workflow {workflow} waits for the event {event} from outside and does not go on without it, so "
    "it cannot be replayed as it is. Pass a function that sends it: async def sent(question): handler = "
    "workflow.run(query=question); handler.ctx.send_event({event}(...)); return await handler"
)
_STANDS_STILL = (
    "a workflow stands still without an answer: no step runs, and no event has come that would start "
    "one, as where it sends an event for each node and there are none. Let it end then as well; if it is "
    "the case without any nodes, answer_without_sources='N/A' answers that"
)
_IDLE: type[Event] | None = getattr(events, "WorkflowIdleEvent", None)
"""The event by which LlamaIndex reports that no step runs; None if the installed release has no such
event."""


@dataclass(slots=True, eq=False)
class Standstills:
    """A ``Standstills`` records whether workflows of one application wait for an event.

    ``seen``: True if, at some moment of the first run, no step was running and an event from outside the
    workflow made it continue. Replays may then wait in the same way. ``asking``: the ids of runs that
    have asked a human. ``answered``: the reason why a first run that a human answered cannot be replayed;
    empty if no human answered.
    """

    seen: bool = False
    asking: set[str] = field(default_factory=set[str])
    answered: str = ""


class _Blind(BaseSerializer):
    """This serializer replaces the application's values in a context by null.

    The values are not needed. Other serializers would raise an error for values that cannot be
    serialized.
    """

    @override
    def serialize(self, value: Any) -> str:
        return "null"

    @override
    def deserialize(self, value: str) -> Any:
        return None


_run: ContextVar[tuple[Standstills, bool] | None] = ContextVar("_run", default=None)


@contextmanager
def running(standstills: Standstills, *, is_replay: bool) -> Generator[None, None, None]:
    """Marks all workflows in the block as workflows of a replay, or of the first run.

    ``standstills``: receives the observations about these workflows.
    """
    token = _run.set((standstills, is_replay))
    try:
        yield
    finally:
        _run.reset(token)


def note_answered(reason: Exception) -> None:
    """Records that a human answers the first run. The run can therefore not be replayed.

    ``reason``: the error that is raised when the run has ended.
    """
    now = _run.get()
    if now is not None:
        now[0].answered = str(reason)


def is_explained_so_far() -> bool:
    """Returns True iff the current run is a first run of which only the next action, one reply of a
    model, is explained. The run need not continue after this reply."""
    run, now = participation(), _run.get()
    return run is not None and run.conversation is not None and (now is None or not now[1])


def asking(workflow: str, handler: Any, event: Event) -> Exception | None:
    """Returns an error if this event shows that the run waits for a human; else None.

    ``workflow``: the name of the workflow's class, for the error message.
    """
    if isinstance(event, InputRequiredEvent):
        return _asking(workflow, type(event).__name__)
    if _IDLE is None or not isinstance(event, _IDLE):
        return None
    awaited = next(_awaited_in(handler.ctx.to_dict(serializer=_Blind())), None)
    if awaited is None:
        return None
    name = awaited.rpartition(".")[2]
    if name in _names_of(HumanResponseEvent):
        return _asking(workflow, f"waiting for {with_article(name)}")
    return _refusal(_WAITS_FOR_AN_EVENT.format(workflow=workflow, event=name))


def _asking(workflow: str, asked: str) -> Exception:
    return _refusal(_ASKS_A_HUMAN.format(workflow=workflow, asked=asked, way_out=_WAY_OUT))


def _names_of(kind: type) -> set[str]:
    """Returns the names of a class and of all classes that are derived from it."""
    return {kind.__name__}.union(*map(_names_of, kind.__subclasses__()))


def _refusal(reason: str) -> Exception:
    run, now = participation(), _run.get()
    if run is None or now is None or not now[1]:
        return BaselineFailed(reason)
    run.waits = reason
    return unusable(reason, run.watch, passing=False)


def _noting_rest(_name: str, method: Any) -> Any:
    """Returns the replacement of the method by which every workflow writes its events.

    The replacement also checks that the workflow does not wait for ever, and records if it asks a human.
    So these checks also cover a workflow that a function or a step of a workflow runs.
    """

    @wraps(method)
    async def write(adapter: Any, event: Event) -> None:
        await method(adapter, event)
        now, run = _run.get(), participation()
        if run is not None and isinstance(event, ToolCallResult):
            watch: Any = run.watch
            watch.calls.note_result(event)
        if now is None:
            return
        if isinstance(event, InputRequiredEvent):
            now[0].asking.add(adapter.run_id)
        elif _IDLE is not None and isinstance(event, _IDLE) and adapter.run_id not in now[0].asking:
            _stand_still(*now)

    return write


def _stand_still(standstills: Standstills, is_replay: bool) -> None:
    run = participation()
    if not is_replay:
        standstills.seen = True
    elif run is not None and not standstills.seen:
        raise unusable(_STANDS_STILL, run.watch, passing=False)


def _awaited_in(state: object) -> Iterator[str]:
    """Yields the names of the events for which running steps wait.

    ``state``: a workflow's context as nested dicts and lists.
    """
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
INTERCEPTIONS = (Interception(*RUNNER, re.compile("write_to_event_stream"), _noting_rest),)
