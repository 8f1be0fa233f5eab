"""This module tests whether sources that the model did not see in the baseline reach the model when other
sources are omitted. This happens if an application shows only the best few of its retrieved sources, or
if a retriever returns only the best few of the sources that it finds."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Protocol

import anyio

from ..errors import RagRuleError, SourceLeak, SourcesReordered
from ..explanation.wording import few_of
from ..lattice import ArrangementKey
from ..probing.limits import LimitReached
from ..probing.replaying import Baseline
from ..probing.reply import Reply
from ..probing.sampler import Sampler
from ..settings import Settings
from ..sources import Arrangement, SourceSet
from .plan import MOST_PROMOTING
from .tracked_search import TrackedSearch

_PROMOTED = (
    "if sources are left out, the model is shown others, which these rules do not know: the application "
    "showed it {named} when the sources that it saw in the baseline were left out, as an application "
    "does that shows only the best few of what it retrieves. The replays of the search did not get "
    '{them}, so the rules may be untrue of the real application. Pass scope="retrieved", which includes '
    "{them}"
)
_SAME_TEXT = (
    "if sources are left out, the model is shown others, which these rules do not know: the text of one "
    "that was left out came back, because a duplicate took its place. The replays of the search did not "
    "get the duplicate, so the rules may be untrue of the real application. Pass "
    'scope="retrieved", which includes what was dropped'
)
_NOT_TRIED = (
    "it is not known whether documents that the model did not see reach it when others are left out"
)
_FAILED = (
    _NOT_TRIED + ", so the rules may be untrue of the real application: the replay that tries it gave no "
    'answer ({why}). Pass scope="retrieved", which takes them in'
)


class Promoting(Protocol):
    """A ``Promoting`` is the part of a call of ``explain`` that this module uses. ``notes``: the list to
    which a text is added if a replay failed."""

    @property
    def sources(self) -> SourceSet:
        """Returns the sources that the rules are about."""
        ...

    @property
    def settings(self) -> Settings:
        """Returns the settings of this call of ``explain``."""
        ...

    @property
    def notes(self) -> list[str]:
        """Returns the notes for the user on this explanation."""
        ...


async def try_promoting(baseline: Baseline, call: Promoting, sampler: Sampler) -> None:
    """Checks whether the application shows its model other sources instead when all sources that the
    rules can name are omitted. If the application does this, ``baseline.promoted`` gets a warning.

    One replay decides this. In it, the application gets the sources that were held out (retrieved but
    not shown) or dropped (found by a search but not returned), and the pinned sources. There is no
    replay if there are no such sources, if the settings want no repeat check (one more replay on all
    sources), or if a limit is reached. ``sampler``: makes the replay.
    """
    if _is_wanted(baseline, call) and not sampler.replayer.stopper.reason:
        baseline.promoted.warning = await _warning(call.sources.none, baseline, call, sampler)


async def try_promoting_beside(
    searches: Sequence[TrackedSearch], baseline: Baseline, call: Promoting, sampler: Sampler
) -> None:
    """Sets a warning if sources that were held out or dropped reach the model when only some other
    sources are omitted. An application may show a document only beside another one, or only if there is
    room for it.

    A few replays after the searches test this. In each, the application gets the sources of one subset,
    and those that were held out (retrieved but not shown) or dropped (found by a search but not
    returned). There are no replays if there is already a reason to distrust replays, because no rule is
    then called proved anyway. ``sampler``: makes the replays.
    """
    if not _is_wanted(baseline, call) or baseline.doubt():
        return
    if sampler.replayer.stopper.reason:
        _note(call, sampler.replayer.stopper.reason)
        return
    subsets = tuple(islice(_subsets(searches, call.sources), MOST_PROMOTING))
    warnings = dict.fromkeys(subsets, "")

    async def look(subset: ArrangementKey) -> None:
        warnings[subset] = await _warning(subset, baseline, call, sampler)

    async with anyio.create_task_group() as together:
        for subset in subsets:
            together.start_soon(look, subset)
    baseline.promoted.warning = next(filter(None, warnings.values()), "")


def _subsets(searches: Sequence[TrackedSearch], sources: SourceSet) -> Iterator[ArrangementKey]:
    """Yields subsets of three kinds by turns: subsets on which rules depend, subsets that lack only one
    unit (a source, or tied sources), and subsets that have only one unit. Each subset is yielded once.
    The full set and the empty set are left out."""
    of_rules = chain.from_iterable(tracked.search.decisive() for tracked in searches)
    lattice = sources.lattice
    by_turns = zip_longest(of_rules, lattice.one_fewer(sources.full), lattice.one_more(sources.none))
    chosen = dict.fromkeys(chain.from_iterable(by_turns))
    yield from (each for each in chosen if each not in {None, sources.none, sources.full})


def _is_wanted(baseline: Baseline, call: Promoting) -> bool:
    wanted = call.settings.check_repeatable or call.settings.noise.votes
    return bool(wanted and (baseline.held_out or baseline.dropped))


def _note(call: Promoting, why: str) -> None:
    if not any(note.startswith(_NOT_TRIED) for note in call.notes):
        call.notes.append(f'{_NOT_TRIED}: {why}. scope="retrieved" takes them in')


async def _warning(subset: ArrangementKey, baseline: Baseline, call: Promoting, sampler: Sampler) -> str:
    """Returns the warning if, in one replay on this subset, a model is shown sources that were held out
    or dropped, or if this replay fails, so that this is not known; else an empty text. Only a note says
    that the replay was not made because of a limit, or got its sources in another order."""
    replayer = sampler.replayer
    kept = Arrangement.of(call.sources, subset).sources

    def count() -> None:
        replayer.charge()
        replayer.budget.repeat_check += 1

    async def make(arrangement: Arrangement) -> Reply:
        return await replayer.run(arrangement, count, "repeat check")

    try:
        served = Arrangement((*kept, *baseline.held_out, *baseline.dropped))
        reply = await sampler.cache.sample(served, 0, make)
    except LimitReached as limit:
        reply = Reply(None, cause=limit)
    except SourceLeak:
        # The omitted text reached the model in another source, such as a duplicate of the omitted one.
        return _SAME_TEXT
    except RagRuleError as error:
        reply = Reply(None, cause=error)
    # Where sources cannot be served in the order that was asked for, the replay shows nothing.
    if reply.answer is None and isinstance(reply.cause, (LimitReached, SourcesReordered)):
        _note(call, f"the replay that tries it gave no answer ({reply.error})")
        return ""
    if reply.answer is None:
        # What was promoted may be the reason, such as one that makes an agent call another tool.
        return _FAILED.format(why=reply.error)
    held_out, dropped = ({each.id for each in some} for some in (baseline.held_out, baseline.dropped))
    shown = [each for each in reply.answer.seen or () if each in held_out]
    # For a source that a search dropped in the baseline, ``delivered`` shows whether the search returns
    # it now.
    shown += [each for each in reply.answer.delivered or () if each in dropped]
    if not shown:
        return ""
    return _PROMOTED.format(named=few_of(shown), them="it" if len(shown) == 1 else "them")
