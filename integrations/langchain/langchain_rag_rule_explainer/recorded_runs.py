"""This module records ordinary runs of an application from the events of LangChain's callbacks."""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.copies.copying import copied
from rag_rule_explainer.instrumentation.copies.state import State
from rag_rule_explainer.instrumentation.engine import BASELINE_TAG, REPLAY_TAG
from rag_rule_explainer.instrumentation.recording.recorder import Recording
from rag_rule_explainer.instrumentation.run_context import inside_retrieval, participation

from .finding import Found, documents_found, identify
from .graphs import ended
from .interception import interception
from .remembering import configured_by, keep_chat, keep_state
from .retrievers import named_key
from .runnable import RuleExplainer
from .watching import Watch


@dataclass(slots=True, eq=False)
class RecordedRun:
    """A ``RecordedRun`` holds the record of one ordinary run of the application.

    ``given``: the input. ``state``: the state of the application before the run. ``unknown``: the error
    that was raised when this state was read; None if there was none. ``chat_known``: True after the first
    attempt to read the message history, which is read only once.
    """

    id: UUID
    given: Any
    recording: Recording[Found]
    watch: Watch
    config: RunnableConfig = field(default_factory=RunnableConfig)
    state: State = field(default_factory=lambda: State(live=True))
    unknown: Exception | None = None
    output: Any = None
    ended: bool = False
    chat_known: bool = False


class RecordedRuns:
    """This class records the runs of an explainer's application. It is thread-safe.

    A recorded run is a root run with all the runs in it. ``keep``: the number of ended runs that are
    kept.
    """

    def __init__(self, explainer: RuleExplainer[Any, Any], keep: int) -> None:
        self._explainer = explainer
        self._keep = keep
        self._lock = threading.Lock()
        self._runs: OrderedDict[UUID, RecordedRun] = OrderedDict()
        self._root_of: dict[UUID, UUID] = {}
        self._retrievals: dict[UUID, tuple[Hashable, str]] = {}

    @property
    def ended(self) -> list[RecordedRun]:
        """Returns the ended runs that are kept, the oldest first."""
        with self._lock:
            return [run for run in self._runs.values() if run.ended]

    def ended_run(self, run_id: UUID | None) -> RecordedRun:
        """Returns the ended run with this id; for None, the latest ended run.

        Raises InvalidInput if there is no such run, or if the state before the run could not be read.
        """
        found = [run for run in self.ended if run_id in (None, run.id)]
        if found and found[-1].unknown is not None:
            raise InvalidInput(
                "what the application remembered before this run could not be read, so no replay could "
                "start from there; explain the input itself, with the explainer's explain or aexplain: "
                f"{type(found[-1].unknown).__name__}: {found[-1].unknown}"
            )
        if not found:
            which = "has ended" if run_id is None else f"with the id {run_id} is remembered"
            raise InvalidInput(
                f'no run {which}; pass the handler to one: invoke(x, {{"callbacks": [handler]}})'
            )
        return found[-1]

    def of(self, run_id: UUID | None) -> RecordedRun | None:
        """Returns the recorded run that has the run with this id as its root, or inside it; None if this
        run is not recorded."""
        root = None if run_id is None else self._root_of.get(run_id)
        return None if root is None else self._runs.get(root)

    def started(self, run_id: UUID, given: Any, event: Mapping[str, Any]) -> RecordedRun | None:
        """Records that a run starts. Returns the recorded run that has this run as its root, or as a run
        inside it.

        Returns None for runs that an explanation makes, because they are not recorded.
        """
        if participation() is not None or {REPLAY_TAG, BASELINE_TAG} & set(event.get("tags") or ()):
            return None
        parent = event.get("parent_run_id")
        with self._lock:
            root = self._root_of.get(parent) if parent else None
            self._root_of[run_id] = root or run_id
        if root is None:
            return self._open(run_id, given, event.get("metadata") or {})
        run = self._runs.get(root)
        if run is not None and not run.chat_known:
            # When the first inner run starts, the history object exists but nothing has been written to
            # it. So the messages from before the run are read now.
            run.chat_known = True
            try:
                config = keep_chat(run.state, self._explainer.application)
                run.config = {**run.config, **config}
            except Exception as error:
                run.unknown = error
        return run

    def model_started(self, event: Mapping[str, Any]) -> RecordedRun | None:
        """Records a call of a model. Returns the recorded run that makes the call; None if no recorded
        run makes it."""
        run = self.of(event.get("parent_run_id"))
        if run is not None:
            self._root_of[event["run_id"]] = run.id
        return run

    def retrieval_started(self, run_id: UUID, query: str, event: Mapping[str, Any]) -> None:
        """Records that a retrieval starts. ``retrieval_ended`` records its documents.

        If a retriever calls a second retriever, only the outer retrieval is recorded.
        """
        if self.started(run_id, query, event) is None:
            return
        is_inner = event.get("parent_run_id") in self._retrievals or inside_retrieval.get()
        key = None if is_inner else named_key(str(event.get("name")), query)
        self._retrievals[run_id] = key, query

    def retrieval_ended(self, run_id: UUID, documents: Sequence[Document]) -> None:
        """Records the documents of a retrieval whose start ``retrieval_started`` recorded."""
        key, query = self._retrievals.pop(run_id, (None, ""))
        run = self.of(run_id)
        if run is not None and key is not None:
            run.recording.record((key,), documents_found(documents), None)
            run.recording.queries.append(query)

    def finished(self, run_id: UUID, outputs: Any, event: Mapping[str, Any]) -> RecordedRun | None:
        """Records that a run ends. If it is the root run of a recorded run, stores its output and returns
        the recorded run.

        Returns None if the run that ends is inside a root run.
        """
        run = self._runs.get(run_id)
        if run is None:
            return None
        # A streamed run gets its input in chunks. Only the event at its end has the whole input.
        run.given = copied(event["inputs"]) if "inputs" in event else run.given
        run.output = self._output(run, outputs)
        self._close(run)
        return run

    def failed(self, run_id: UUID) -> None:
        """Removes a recorded run if its root run failed. A failed run inside a root run is ignored."""
        run = self._runs.get(run_id)
        if run is not None:
            self._close(run)
            with self._lock:
                del self._runs[run_id]

    def _output(self, run: RecordedRun, outputs: Any) -> Any:
        """Returns the output of a run; a ``Paused`` if the run's graph has stopped before its end."""
        if run.unknown is not None or not run.config.get("configurable", {}).get("thread_id"):
            return outputs
        try:
            return ended(self._explainer.application, run.config, outputs)
        except Exception as error:
            run.unknown = error
            return outputs

    def _open(self, run_id: UUID, given: Any, metadata: Mapping[str, Any]) -> RecordedRun:
        recording: Recording[Found] = Recording(identify, only=self._explainer.retrievers)
        watch = Watch(accepts=self._explainer.accepts)
        run = RecordedRun(run_id, copied(given), recording, watch)
        try:
            run.config = configured_by(self._explainer.application, metadata)
            keep_state(run.state, self._explainer.application, run.config)
        except Exception as error:
            run.unknown = error
        with self._lock:
            self._runs[run_id] = run
        interception.start()
        return run

    def _close(self, run: RecordedRun) -> None:
        interception.stop()
        run.recording.closed = run.ended = True
        with self._lock:
            for each in [each for each, root in self._root_of.items() if root == run.id]:
                del self._root_of[each]
                self._retrievals.pop(each, None)
            ended = [each.id for each in self._runs.values() if each.ended]
            for each in ended[: max(0, len(ended) - self._keep)]:
                del self._runs[each]
