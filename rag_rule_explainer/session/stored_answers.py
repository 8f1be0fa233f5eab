"""This module lets a judge decide on all stored answers before the searches begin. The judge gets several
answers in one request, so few requests are needed."""

from collections.abc import Hashable, Sequence
from functools import partial

from ..duplicates import Tied
from ..probing import threads
from ..probing.judge_barrier import together
from ..probing.judge_batcher import JudgeBatcher
from ..probing.judging import Judging
from ..probing.prober import Prober
from ..sources import Arrangement, SourceSet
from ..verdicts import Case


async def rejudged(
    prober: Prober, batcher: JudgeBatcher, judgings: Sequence[Judging], sources: SourceSet, question: str
) -> None:
    """Judges the stored answers on these sources, and the baseline's answer, by predicates whose judge
    takes several answers in one request.

    The searches find the judgements in memory. Other judges are not asked here. ``question``: the name
    under which the answers are stored. Raises LimitReached, and RagRuleError if a judge fails.
    """
    judged = [judging for judging in judgings if judging.may_batch]
    if not judged or batcher.store is None:
        return
    by_id, tied = {source.id: source for source in sources}, Tied(sources.ties)
    places = {source.id: place for place, source in enumerate(sources)}

    def arrangement_of(ids: tuple[str, ...]) -> Arrangement | None:
        known = sources.pinned.issubset(ids) and by_id.keys() >= set(ids)
        # This search always retains or omits tied sources together. Another search may have stored
        # answers for only some sources of a tie. This search never needs such answers.
        known = known and not tied.splits(ids)
        in_order = known and [places[each] for each in ids] == sorted({places[each] for each in ids})
        return Arrangement(tuple([by_id[each] for each in ids])) if in_order else None

    def key_of(ids: tuple[str, ...]) -> Hashable | None:
        arrangement = arrangement_of(ids)
        return None if arrangement is None else arrangement.key

    stored = await threads.shared().run(batcher.store.stored_answers, question, key_of)
    full = Arrangement.of(sources, sources.full)
    if not stored:
        return
    known = ((arrangement_of(ids), answer) for ids, answer in stored)
    cases = [
        prober.case(full, prober.baseline),
        *(prober.case(each, answer) for each, answer in known if each is not None),
    ]
    await together(
        (partial(judging.prepare, case) for judging in judged for case in _distinct(judging, cases)),
        needed=False,
    )


def _distinct(judging: Judging, cases: Sequence[Case]) -> list[Case]:
    """Returns one case for each memo key of the condition. Cases with the same memo key get the same
    judgement. A case without a memo key is left out, because the search must judge such a case itself."""
    keyed: dict[Hashable, Case] = {}
    for case in cases:
        try:
            key = judging.base.memo_key(case)
        except Exception:  # noqa: S112 -- the search reports the error
            continue
        if key is not None:
            keyed.setdefault(key, case)
    return list(keyed.values())
