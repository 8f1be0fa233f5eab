"""This module turns a recorded first run into the ``Baseline`` that the search of rules starts from."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..probing.replaying import Baseline
from ..probing.tracing.marks import TracedExplanation
from ..verdicts import Answer, logged_answer
from .bounds import seconds_for
from .copies.copying import described
from .doubts import REORDERED
from .recording.remarks import ASKED_ANEW, SEVERAL_RESULTS
from .replays import Replays
from .requests.marks import texts_of

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class RecordedBaseline(Generic[Item]):
    """A ``RecordedBaseline`` describes a first run for the search of rules.

    ``replays``: runs the replays of this baseline. ``trace``: what tracing services are told about the
    explanation. ``seconds``: the duration of the run; None if unknown.
    """

    replays: Replays[Item]
    trace: TracedExplanation
    seconds: float | None = None

    def given_anyway(self) -> Iterator[str]:
        """Yields all texts that a run may send to its models, whichever sources are retained: input,
        configuration, memory, queries, and sources that are never served."""
        run = self.replays
        yield from run.application.texts_in(run.case.given)
        yield from map(described, (run.case.config, run.manner.stub_tools))
        yield from map(described, run.first.state.before.values())
        yield from run.first.gate.queries
        for source in run.exposure.held_out:
            yield from texts_of(source)

    def baseline(self, current: Answer, count: int) -> Baseline:
        """Returns the baseline.

        ``current``: the answer of the first run. ``count``: the number of runs that this call made for
        the baseline; 0 if a run that the user made earlier is explained.
        """
        run = self.replays
        case, exposure, root = run.case, run.exposure, run.application.root
        logged = None if case.baseline is None else self._logged(case.baseline)
        return Baseline(
            current if logged is None else logged,
            None if exposure.held_out else current,
            logged=logged is not None,
            replays=count,
            usage=(current.usage or {}) if count else {},
            models=current.models if count else None,
            state=self._state(),
            input=run.application.plain(case.given),
            scope=exposure.scope,
            held_out=exposure.held_out,
            unseen_needed=lambda seen: exposure.unseen_needed(run.captured.that_found, seen),
            warnings=tuple(self._warnings()),
            fidelity=run.fidelity,
            application=getattr(root, "__name__", "") or type(root).__name__,
            longest=self._longest(),
            late_warnings=lambda: list(self._late_warnings()),
            late_notes=lambda: list(self._late_notes()),
            notes=(
                *exposure.notes,
                *run.fidelity.notes,
                *run.application.notes(run.captured),
                *(() if self._acting() else run.manner.idle_stubs(run.first.tools)),
            ),
            versions=run.application.versions(),
            trace=self.trace,
        )

    def _late_warnings(self) -> Iterator[str]:
        """Yields the warnings that are known only after all replays."""
        if self.replays.captured.several:
            yield SEVERAL_RESULTS
        if self.replays.captured.asked_anew:
            yield ASKED_ANEW

    def _late_notes(self) -> Iterator[str]:
        state, fidelity = self.replays.state, self.replays.fidelity
        if fidelity.reordered:
            yield REORDERED
        if state.alone.written:
            yield f"replays were made one at a time, as {state.alone.written}, which they share"
        remains = state.told_of_what_remains(fidelity.unchecked)
        if remains:
            yield remains

    def _state(self) -> str:
        """Returns a digest of everything that the answer depends on, except the question and the sources:
        the rest of the input, and the application's memory. Empty if there is nothing else."""
        run = self.replays
        given = run.application.plain(run.case.given)
        remembered = sorted(map(described, run.first.state.before.values()))
        keywords = [described(dict(run.case.keywords))] if run.case.keywords else []
        if given == run.case.question and not remembered and not keywords:
            return ""
        text = "\n".join([described(given), *remembered, *keywords])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _logged(self, given: Any) -> Answer:
        read = given if isinstance(given, (str, Answer)) else self.replays.manner.answer_of(given)
        return logged_answer(read)

    def _warnings(self) -> Iterator[str]:
        acting, run = self._acting(), self.replays
        for tool in sorted(acting):
            yield (
                f"the tool {tool!r} retrieved nothing in the baseline and runs again in every replay; if "
                f"it changes anything, pass stub_tools={{{tool!r}: its result}}"
            )
        if acting:
            yield from run.manner.idle_stubs(run.first.tools)

    def _acting(self) -> set[str]:
        """Returns the names of the tools that the first run called and that retrieved nothing, except
        tools with a stub. They run again in every replay."""
        first = self.replays.first
        return first.tools - first.retrieving_tools - set(self.replays.manner.stub_tools)

    def _longest(self) -> float | None:
        factor, seconds = self.replays.manner.replay_bound, self.seconds
        return None if factor is None or seconds is None else seconds_for(seconds, factor)
