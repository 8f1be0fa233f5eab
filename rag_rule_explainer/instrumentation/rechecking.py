"""This module rechecks the answers of an application after a change of the corpus. It runs the
application again, with searches that find what they would find in the changed corpus."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from typing_extensions import TypedDict

from ..allowed import brief, called_as, checked_list, checked_whole, did_you_mean, showing
from ..errors import InvalidInput
from ..explanation.explanation import Explanation
from ..fixing.change import CorpusChange, Excluded, change_of
from ..fixing.corpus import ROUNDS, explainer_for_recheck
from ..fixing.recheck import Recheck, arechecked, rechecked, rechecking
from ..verdicts import Answer
from .call import Call
from .recording.refetching import ADDED_LAST, Refetch

__all__ = [
    "Recheck",
    "RecheckFields",
    "RecheckOptions",
    "RecheckRun",
    "arecheck_by",
    "recheck_by",
    "recheck_options_from",
    "showing_recheck_fields",
]

Rechecking = TypeVar("Rechecking", bound=Callable[..., Any])


class RecheckFields(TypedDict, total=False):
    """A ``RecheckFields`` is a TypedDict with the fields of ``RecheckOptions``, for ``**fields``."""

    before: Explanation | None
    exclude: Excluded | None
    replace: Mapping[str, str] | None
    add: Sequence[Any]
    rounds: int


@dataclass(frozen=True, slots=True)
class RecheckOptions:
    """A ``RecheckOptions`` says which change of the corpus is rechecked.

    ``before``: the explanation of the bad answer; without it, the answer is explained first.
    ``exclude``: a fix, a rule, or ids of sources that are left out; without it, ``replace`` and ``add``,
    the first sure fix of ``before``. ``replace``: new texts by id. ``add``: documents that are added.
    ``rounds``: the most rounds; each further round also leaves out the next fix.
    """

    before: Explanation | None = None
    exclude: Excluded | None = None
    replace: Mapping[str, str] | None = None
    add: Sequence[Any] = ()
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        checked_whole("rounds", self.rounds, 1)
        checked_list("add", self.add, "documents")
        before: object = self.before
        if not (before is None or isinstance(before, Explanation)):
            raise InvalidInput(f"before is {brief(before)}; pass what explain() returned")


_NAMES = tuple(each.name for each in fields(RecheckOptions))


def showing_recheck_fields(method: Rechecking) -> Rechecking:
    """Decorates a method that takes these options as ``**fields``, so that its signature lists them."""
    return called_as(method.__name__)(showing(RecheckOptions, RecheckFields)(method))


def recheck_options_from(keywords: dict[str, Any]) -> RecheckOptions:
    """Removes the options of a recheck from ``keywords``, and returns them."""
    return RecheckOptions(**{name: keywords.pop(name) for name in _NAMES if name in keywords})


@dataclass(frozen=True, slots=True)
class RecheckRun:
    """A ``RecheckRun`` is one explanation that a recheck needs. ``added``: documents that are added to
    what is retrieved. ``baseline``: the bad answer, with which the new one is compared; None for the
    first explanation. ``refetch``: the change of the corpus. ``question``: the question of the bad
    answer."""

    added: Sequence[Any] = ()
    baseline: Answer | None = None
    refetch: Refetch | None = None
    question: str | None = None

    def explained(self, call: Call[Any]) -> Explanation:
        """Returns the explanation of this call after the change. Blocks."""
        return self._changed(call).explained().explanation

    async def aexplained(self, call: Call[Any]) -> Explanation:
        """Returns the same as ``explained``, but runs on the caller's event loop."""
        return (await self._changed(call).aexplained()).explanation

    def _changed(self, call: Call[Any]) -> Call[Any]:
        asked = call.run.case.question
        if self.question is not None and asked != self.question:
            raise InvalidInput(
                f"before is about another question, {brief(self.question)}; pass the explanation of the "
                f"answer to {brief(asked)}, or leave it out"
            )
        if self.refetch is not None:
            call.run = call.run.anew(self.refetch)
            call.explainer = explainer_for_recheck(call.explainer)
        return call


def recheck_by(options: RecheckOptions, explain: Callable[[RecheckRun], Explanation]) -> Recheck:
    """Returns whether the bad answer is gone after the change. Blocks. ``explain``: runs the application,
    and explains its answer."""
    before = explain(RecheckRun()) if options.before is None else options.before
    rounds = _Rounds.of(options, before)
    course = rechecking(before, rounds.change, options.rounds)
    return rounds.noted(rechecked(course, lambda change: explain(rounds.run(change))))


async def arecheck_by(
    options: RecheckOptions, explain: Callable[[RecheckRun], Awaitable[Explanation]]
) -> Recheck:
    """Returns the same as ``recheck_by``, but runs on the caller's event loop."""
    before = await explain(RecheckRun()) if options.before is None else options.before
    rounds = _Rounds.of(options, before)
    course = rechecking(before, rounds.change, options.rounds)
    return rounds.noted(await arechecked(course, lambda change: explain(rounds.run(change))))


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
        return RecheckRun(change.added, self.before.baseline, self.made[-1], self.before.question)

    def noted(self, recheck: Recheck) -> Recheck:
        return replace(recheck, notes=tuple(dict.fromkeys((*recheck.notes, *self._notes()))))

    def _notes(self) -> Iterator[str]:
        if self.change.added:
            yield ADDED_LAST
        for refetch in self.made:
            yield from refetch.remarks
        pinned = [source.id for source in self.before.sources if source.pinned]
        if pinned:
            yield "what was pinned before was not pinned in the rounds"
        seen = set[str]().union(*(refetch.seen for refetch in self.made))
        found = sorted({source.id for source in self.before.sources})
        for name in (*self.change.left_out, *(old.id for old, _ in self.change.replaced)):
            if name not in seen:
                near = did_you_mean(name, found) if name not in found else ""
                yield f"no search found {name!r}, so nothing was changed by that name. {near}".strip()
