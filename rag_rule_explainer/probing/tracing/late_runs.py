"""This module joins the runs of an explanation into one trace if only the application turns LangSmith on.
A *run* is LangSmith's record of one call.

An application may turn LangSmith on in its own code, while it is off in the code that calls ``explain``.
Each call of the application would then be a separate trace. Instead, this module begins a run for the
explanation when the first of these traces begins, and a run for each replay. All traces of the
application are sent as parts of these runs. The module changes only the sent data, not the application's
own objects.
"""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from .late import first_marks, is_first_run
from .marks import (
    BASELINE_TAG,
    EXPLANATION,
    REPLAY,
    Outcome,
    TracedExplanation,
    TracedReplay,
    being_traced,
    current_replay,
)


class LateRuns:
    """This class holds the late runs of one explanation: LangSmith's runs of the explanation and of its
    replays that begin only when the application begins its first trace. Thread-safe."""

    def __init__(self, explanation: TracedExplanation) -> None:
        self.explanation = explanation
        self._guard = threading.Lock()
        self._root: Any = None
        self._replays: dict[TracedReplay, Any] = {}
        self._parents: dict[str, Any] = {}

    def joined(self, client: Any, sent: Mapping[str, Any], replay: TracedReplay | None) -> dict[str, Any]:
        """Returns the fields that are sent to LangSmith for one run (a record of one call) of the
        application.

        If the run's trace began in this explanation, the ids among the fields are changed, so that the
        run becomes a part of the explanation's trace. Otherwise the fields are those of ``sent``.

        ``sent``: the fields that the application's client would send. ``replay``: the current replay;
        None for the explained run.
        """
        trace = str(sent.get("trace_id"))
        with self._guard:
            begins = sent.get("trace_id") and trace == str(sent.get("id"))
            if begins and not sent.get("parent_run_id") and trace not in self._parents:
                self._parents[trace] = self._around(client, sent, replay)
            parent = self._parents.get(trace)
        if parent is None or not sent.get("dotted_order"):
            return dict(sent)
        return {
            **sent,
            "trace_id": parent.trace_id,
            "parent_run_id": sent.get("parent_run_id") or parent.id,
            "dotted_order": f"{parent.dotted_order}.{sent['dotted_order']}",
        }

    def _around(self, client: Any, sent: Mapping[str, Any], replay: TracedReplay | None) -> Any:
        """Returns LangSmith's run that becomes the parent of a trace, and begins this run if needed. It
        is the run of ``replay``, or the run of the explanation if ``replay`` is None, has ended, or is a
        baseline. ``client``: sends the run. ``sent``: the fields of the trace's first run."""
        if self._root is None:
            from langsmith.run_trees import RunTree

            made: Any = RunTree
            self._root = made(
                name=EXPLANATION,
                run_type="chain",
                inputs={},
                client=client,
                project_name=str(sent.get("session_name") or "default"),
                extra={"metadata": dict(self.explanation.marks)},
                replicas=[],
            )
            _send(self._root.post)
        if replay is None or replay.ended or replay.is_baseline:
            return self._root
        if replay not in self._replays:
            run: Any = self._root.create_child(
                name=REPLAY,
                run_type="chain",
                inputs={"kept": replay.marks.get("rag_rule_kept", "")},
                extra={"metadata": dict(replay.marks)},
                tags=[replay.tag],
            )
            _send(run.post)
            self._replays[replay] = run
            replay.at_end(partial(self._end_replay, replay))
        return self._replays[replay]

    def _end_replay(self, replay: TracedReplay, outcome: Outcome) -> None:
        with self._guard:
            run = self._replays.pop(replay)
        run.add_metadata(dict(outcome.marks))
        error = None if outcome.error is None else repr(outcome.error)
        run.end(outputs={"answer": outcome.answer, **outcome.marks}, error=error)
        _send(run.patch)

    def end(self) -> None:
        """Ends the run of the explanation, if it was begun."""
        if self._root is not None:
            self._root.add_metadata(dict(self.explanation.marks))
            self._root.end(outputs={})
            _send(self._root.patch)


def _send(sending: Any) -> None:
    """Sends a run that this module has made.

    While the run is sent, the context variables that ``as_sent`` reads are None, so that ``as_sent`` does
    not change this run. The function ``as_sent`` must change only the application's own runs.
    """
    token = _explained.set(None)
    try:
        with being_traced(None):
            sending()
    finally:
        _explained.reset(token)


_explained: ContextVar[LateRuns | None] = ContextVar("rag_rule_late_runs", default=None)


def as_sent(client: Any, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the fields to send for a run of the application, made a part of the explanation's trace.
    The marks (metadata) and the tag of its replay, or of the explained run, are added. For a run outside
    of replays and of the explained run, returns the fields unchanged."""
    late, replay = _explained.get(), current_replay()
    if late is None or "_replica_auths" in sent or sent.get("api_url"):
        return sent
    if replay is not None:
        marks, tag = replay.marks, replay.tag
    elif is_first_run():
        marks, tag = first_marks(late.explanation), BASELINE_TAG
    else:
        return sent
    if "id" in sent or sent.get("extra"):  # else ``sent`` is an update without tags and metadata
        extra: Mapping[str, Any] = sent.get("extra") or {}
        tags: list[str] = [each for each in sent.get("tags") or () if each != tag]
        own: Mapping[str, Any] = extra.get("metadata") or {}
        metadata = {**marks, **own}
        sent = {**sent, "tags": [*tags, tag], "extra": {**extra, "metadata": metadata}}
    return late.joined(client, sent, replay)


@contextmanager
def taking_late_runs(explanation: TracedExplanation) -> Generator[None, None, None]:
    """Lets ``as_sent`` begin LangSmith's runs of this explanation and of its replays during the block,
    once the application begins a trace. At the end of the block, ends the run of the explanation."""
    known = _explained.get()
    if known is not None and known.explanation is explanation:
        yield
        return
    late = LateRuns(explanation)
    token = _explained.set(late)
    try:
        yield
    finally:
        with suppress(ValueError):  # the garbage collector may end a stream in another context
            _explained.reset(token)
        late.end()
