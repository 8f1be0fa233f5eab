"""This module rechecks the answers of an application after a change of the corpus. It runs the
application again, with searches that return the documents that they would find in the changed corpus."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import anyio.to_thread

from ..allowed import brief, called_as, did_you_mean, showing
from ..errors import InvalidInput, NoSourcesCaptured
from ..explanation.explanation import Explanation
from ..fixing.change import CorpusChange, change_of
from ..fixing.change_options import ChangeFields, ChangeOptions
from ..fixing.corpus import (
    NOT_PINNED,
    answer_to_nothing,
    explainer_for_recheck,
    with_verdict_of_all,
)
from ..fixing.recheck import AfterChange, AnswerToNothing, Recheck, arechecked, rechecked, rechecking
from ..verdicts import Answer
from .call import Call
from .recording.refetching import ADDED_LAST, Refetch

__all__ = [
    "AfterChange",
    "AnswerToNothing",
    "Recheck",
    "RecheckFields",
    "RecheckOptions",
    "RecheckRun",
    "arecheck_by",
    "recheck_by",
    "recheck_options_from",
    "showing_recheck_fields",
]

RecheckMethod = TypeVar("RecheckMethod", bound=Callable[..., Any])


class RecheckFields(ChangeFields, total=False):
    """A ``RecheckFields`` is a TypedDict with the fields of ``RecheckOptions``, for ``**fields``."""

    before: Explanation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckOptions(ChangeOptions):
    """A ``RecheckOptions`` says which answer is rechecked after which change of the corpus.

    ``before``: the explanation of the bad answer; without it, the answer is explained first. The other
    fields describe the change: see ``ChangeOptions``.
    """

    before: Explanation | None = None

    def __post_init__(self) -> None:
        ChangeOptions.__post_init__(self)
        if self.before is not None and type(self.before) is not Explanation:
            raise InvalidInput(f"before is {brief(self.before)}; pass what explain() returned")


_NAMES = tuple(each.name for each in fields(RecheckOptions))


def showing_recheck_fields(method: RecheckMethod) -> RecheckMethod:
    """Decorates a method that takes the fields of ``RecheckOptions`` as ``**fields``, so that its
    signature lists them."""
    return called_as(method.__name__)(showing(RecheckOptions, RecheckFields)(method))


def recheck_options_from(keywords: dict[str, Any]) -> RecheckOptions:
    """Removes the options of a recheck from ``keywords``, and returns them."""
    return RecheckOptions(**{name: keywords.pop(name) for name in _NAMES if name in keywords})


@dataclass(frozen=True, slots=True)
class RecheckRun:
    """A ``RecheckRun`` is one explanation that a recheck makes. ``added``: documents that are added to
    the results of searches. The other fields are None if the bad answer itself is explained; otherwise
    ``baseline`` is the bad answer, with which the new answer is compared, ``refetch`` is the change of
    the corpus, and ``before`` is the explanation of the bad answer."""

    added: Sequence[Any] = ()
    baseline: Answer | None = None
    refetch: Refetch | None = None
    before: Explanation | None = None

    def explained(self, call: Call[Any]) -> AfterChange:
        """Returns the explanation of this call after the change, or its answer if nothing is retrieved
        any more. Blocks."""
        changed = self._changed(call)
        try:
            found = changed.explained().explanation
            return with_verdict_of_all(changed.explainer, found)
        except NoSourcesCaptured as nothing:
            return self._of_nothing(changed, nothing)

    async def aexplained(self, call: Call[Any]) -> AfterChange:
        """Returns the explanation of this call after the change, or its answer if nothing is retrieved
        any more. Runs on the caller's event loop."""
        changed = self._changed(call)
        # The condition may be a judge, which waits for a model. It is called in a worker thread, because
        # in this thread it would block the event loop.
        try:
            found = (await changed.aexplained()).explanation
            return await anyio.to_thread.run_sync(with_verdict_of_all, changed.explainer, found)
        except NoSourcesCaptured as nothing:
            return await anyio.to_thread.run_sync(self._of_nothing, changed, nothing)

    def _of_nothing(self, call: Call[Any], nothing: NoSourcesCaptured) -> AnswerToNothing:
        """Returns the answer that the application gives if nothing is retrieved any more. Raises the
        error ``nothing`` if it gives none, or if this is the first explanation, which needs sources."""
        if self.before is None or not call.outputs:
            raise nothing
        return answer_to_nothing(call.explainer, self.before, call.run.answer_in(call.outputs[-1]))

    def _changed(self, call: Call[Any]) -> Call[Any]:
        asked = call.run.case.question
        if self.before is not None and asked != self.before.question:
            raise InvalidInput(
                f"before is about another question, {brief(self.before.question)}; pass the explanation "
                f"of the answer to {brief(asked)}, or leave it out"
            )
        if self.refetch is not None:
            call.run = call.run.anew(self.refetch)
            call.explainer = explainer_for_recheck(call.explainer)
        return call


def recheck_by(options: RecheckOptions, explain: Callable[[RecheckRun], AfterChange]) -> Recheck:
    """Returns whether the bad answer is gone after the change. Blocks. ``explain``: runs the application,
    and explains its answer."""
    before = _explained(explain(RecheckRun())) if options.before is None else options.before
    rounds = _Rounds.of(options, before)
    course = rechecking(before, rounds.change, options.rounds)
    return rounds.noted(rechecked(course, lambda change: explain(rounds.run(change))))


async def arecheck_by(
    options: RecheckOptions, explain: Callable[[RecheckRun], Awaitable[AfterChange]]
) -> Recheck:
    """Returns whether the bad answer is gone after the change, on the caller's event loop. ``explain``:
    runs the application, and explains its answer."""
    before = _explained(await explain(RecheckRun())) if options.before is None else options.before
    rounds = _Rounds.of(options, before)
    course = rechecking(before, rounds.change, options.rounds)
    return rounds.noted(await arechecked(course, lambda change: explain(rounds.run(change))))


def _explained(seen: AfterChange) -> Explanation:
    """Returns ``seen``, the result of the first explanation. Raises NoSourcesCaptured if nothing was
    retrieved: only after a change of the corpus may an answer rest on no documents."""
    if isinstance(seen, AnswerToNothing):
        raise NoSourcesCaptured("nothing was retrieved, so there is nothing to leave out")
    return seen


@dataclass(slots=True)
class _Rounds:
    before: Explanation
    change: CorpusChange
    made: list[Refetch] = field(default_factory=list[Refetch])

    @classmethod
    def of(cls, options: RecheckOptions, before: Explanation) -> "_Rounds":
        return cls(before, change_of(before, options.exclude, options.replace, options.add))

    def run(self, change: CorpusChange) -> RecheckRun:
        self.made.append(Refetch(change))
        return RecheckRun(change.added, self.before.baseline, self.made[-1], self.before)

    def noted(self, recheck: Recheck) -> Recheck:
        return replace(recheck, notes=tuple(dict.fromkeys((*recheck.notes, *self._notes()))))

    def _notes(self) -> Iterator[str]:
        if self.change.added:
            yield ADDED_LAST
        for refetch in self.made:
            yield from refetch.remarks
        if any(source.pinned for source in self.before.sources):
            yield NOT_PINNED
        seen = set[str]().union(*(refetch.seen for refetch in self.made))
        found = sorted({source.id for source in self.before.sources})
        for name in (*self.change.left_out, *(old.id for old, _ in self.change.replaced)):
            if name not in seen:
                near = did_you_mean(name, found) if name not in found else ""
                yield f"no search found {name!r}, so nothing was changed by that name. {near}".strip()
