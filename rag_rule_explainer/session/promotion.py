"""This module tests whether sources that the model did not see in the baseline reach the model when other
sources are omitted. This happens if an application shows only the best few of its retrieved sources, or
if a retriever returns only the best few of those it finds."""

from dataclasses import replace
from typing import Protocol

from ..errors import RagRuleError, SourceLeak
from ..explanation.wording import few_of
from ..lattice import Subset
from ..probing.limits import LimitReached
from ..probing.reply import Reply
from ..probing.sampler import Sampler
from ..settings import Settings
from ..sources import Arrangement, SourceSet
from .baseline import Established

_PROMOTED = (
    "leaving documents out brings others before the model, which these rules do not know: the "
    "application showed it {named} when what it saw in the baseline was left out, as an application does "
    "that shows only the best few of what it retrieves. No replay of the search is served {them}, so "
    'what the rules say may be untrue of the application as it is. Pass scope="retrieved", which '
    "takes {them} in"
)
_SAME_TEXT = (
    "leaving documents out brings others before the model, which these rules do not know: the text of "
    "one that was left out came back, as a duplicate of it took its place. No replay of the search is "
    "served it, so what the rules say may be untrue of the application as it is. Pass "
    'scope="retrieved", which takes in what was dropped'
)
_NOT_TRIED = (
    "it is not known whether documents that the model did not see reach it when others are left out, as "
    'the replay that tries it gave no answer ({error}). scope="retrieved" takes them in'
)


class Promoting(Protocol):
    """A ``Promoting`` is the part of a call of ``explain`` that this module uses. ``notes``: gets a text
    if the replay failed."""

    @property
    def sources(self) -> SourceSet:
        """The sources that the rules are about."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings of this call of ``explain``."""
        ...

    @property
    def notes(self) -> list[str]:
        """The notes for the user on this explanation."""
        ...


async def with_promoted(established: Established, call: Promoting, sampler: Sampler) -> Established:
    """Returns the baseline with ``promoted`` (a warning) set if the model is shown other sources when all
    sources of the rules are omitted.

    One replay decides this: it is served the sources that were held out (retrieved but not shown) or
    dropped (found by a search but not returned), and the pinned sources. There is no replay if there are
    no such sources, if the settings want no repeat check, or if a limit is reached.
    """
    baseline, replayer = established.baseline, sampler.replayer
    wanted = call.settings.check_repeatable or call.settings.noise.votes
    others = *baseline.held_out, *baseline.dropped
    if not (others and wanted) or replayer.stopper.reason:
        return established
    always = Arrangement.of(call.sources, Subset(0)).sources

    def count() -> None:
        replayer.charge()
        replayer.budget.repeat_check += 1

    async def make(arrangement: Arrangement) -> Reply:
        return await replayer.run(arrangement, count, "repeat check")

    try:
        reply = await sampler.cache.sample(Arrangement((*always, *others)), 0, make)
    except LimitReached:
        return established
    except SourceLeak:
        # The omitted text reached the model in another source, such as a duplicate of the omitted one.
        return established._replace(baseline=replace(baseline, promoted=_SAME_TEXT))
    except RagRuleError as error:
        reply = Reply(None, cause=error)
    if reply.answer is None:
        call.notes.append(_NOT_TRIED.format(error=reply.error))
        return established
    held_out, dropped = ({each.id for each in some} for some in (baseline.held_out, baseline.dropped))
    shown = [each for each in reply.answer.seen or () if each in held_out]
    # For a source that a search dropped in the baseline, ``delivered`` shows whether the search returns
    # it now.
    shown += [each for each in reply.answer.delivered or () if each in dropped]
    if not shown:
        return established
    warning = _PROMOTED.format(named=few_of(shown), them="it" if len(shown) == 1 else "them")
    return established._replace(baseline=replace(baseline, promoted=warning))
