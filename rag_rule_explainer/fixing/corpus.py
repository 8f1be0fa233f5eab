"""This module rechecks a change of a corpus: it explains the answer from the changed corpus by an
``Explainer``, and says whether the bad outcome is gone. The caller passes the whole corpus."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace as replaced_fields
from typing import Any, TypeAlias

from typing_extensions import Unpack

from ..allowed import brief, checked_function, checked_list, checked_whole, showing, taken
from ..errors import InvalidInput
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..rules import RuleKind
from ..session.call_options import chosen_replay
from ..sources import Source, SourceLike, SourceSet
from ..sources.given import no_source
from ..verdicts import Answer, Case
from .badness import badness_of
from .change import CorpusChange, change_of, sources_in
from .change_options import ChangeFields, ChangeOptions
from .goods import judged_now, settled
from .recheck import AfterChange, AnswerToNothing, Recheck, rechecked, rechecking

Rank: TypeAlias = Callable[[str, Sequence[Source], int], Iterable[Any]]
"""A function that gets a question, the documents of a corpus, and a number. It returns at most this
number of documents: those that match the question best, the best one first."""
NOT_PINNED = "what was pinned before was not pinned in the rounds"


@showing(ChangeOptions, ChangeFields)
def recheck_corpus(
    explainer: Explainer,
    before: Explanation,
    corpus: Iterable[SourceLike],
    *,
    rank: Rank,
    top_k: int | None = None,
    **fields: Unpack[ChangeFields],
) -> Recheck:
    """Returns whether the bad outcome is gone after a change of the corpus. Blocks.

    Each round ranks the changed corpus, shows the application the first ``top_k`` documents, and explains
    the new answer. As long as the bad outcome is not gone, the next round also leaves out the first sure
    fix of the new answer: documents without which, by a rule that is proved or passed its votes or tests,
    the bad outcome does not come back. ``fields``: the change, such as ``exclude`` or ``replace``.

    ``before``: an explanation of this explainer, whose sources are documents of ``corpus``, under the
    same ids. ``top_k``: the maximum number of documents that the application shows its model; None for
    the number of sources of ``before``, which is too small if fewer documents than usual matched.
    Raises InvalidInput for an id that the corpus does not have, and if ``before`` has no sure fix.
    """
    _check_given(before, rank, top_k)
    options = taken(ChangeOptions, fields, Explainer, ("explainer", "before", "corpus", "rank", "top_k"))
    whole = SourceSet.of(corpus).sources
    asked = change_of(before, options.exclude, options.replace, options.add, whole)
    change = _named(asked, whole)
    changed = SourceSet.of([*whole, *options.add]).sources if options.add else whole
    asking = explainer_for_recheck(explainer)

    def explain(change: CorpusChange) -> AfterChange:
        kept = [new for each in changed if (new := _changed(change, each)) is not None]
        found = _ranked(rank, before.question, kept, top_k or len(before.sources))
        if not found:
            return _without_documents(asking, before)
        explanation = asking.explain(before.question, found, before.baseline)
        return with_verdict_of_all(asking, explanation)

    recheck = rechecked(rechecking(before, change, options.rounds, ids_last=True), explain)
    pinned = any(each.pinned for each in before.sources)
    return replaced_fields(recheck, notes=(NOT_PINNED,)) if pinned else recheck


def _check_given(before: Explanation, rank: Rank, top_k: int | None) -> None:
    checked_function("rank", rank, "a function of the question, the documents and their number", 3)
    if type(before) is not Explanation:
        raise InvalidInput(f"before is {brief(before)}; pass what explain() returned")
    if top_k is not None:
        checked_whole("top_k", top_k, 1)


def _ranked(rank: Rank, question: str, corpus: Sequence[Source], most: int) -> tuple[Any, ...]:
    """Returns the documents that ``rank`` returns, at most the first ``most``. Raises InvalidInput if one
    of them is not in the corpus, because a later change could not leave it out."""
    given = rank(question, corpus, most)
    found = checked_list("what rank returns", given, "documents of the corpus")[:most]
    known = {each.id for each in corpus}
    for name in SourceSet.of(found).ids if found else ():
        if name not in known:
            raise InvalidInput(f"rank returns {name!r}, which it was not given; return some of these")
    return found


def _named(change: CorpusChange, corpus: Sequence[Source]) -> CorpusChange:
    """Returns the change with the documents of the corpus in place of names and ids. Raises InvalidInput
    for an id that the corpus does not have."""
    by_id = {each.id: each for each in corpus}
    named = [each.id for each in (*change.excluded, *(old for old, _ in change.replaced))]
    for name in (*named, *change.names):
        if name not in by_id:
            raise InvalidInput(f"the corpus lacks {no_source([name], tuple(by_id))}")
    more = tuple(by_id[name] for name in change.names)
    return replaced_fields(change, excluded=(*change.excluded, *more), names=())


def explainer_for_recheck(explainer: Explainer) -> Explainer:
    """Returns a copy of the explainer with the settings for a recheck. The copy searches for rules of
    both kinds. It raises no error if the bad outcome does not occur, because the change was then
    successful."""
    asking = copy(explainer)
    asking.settings = replaced_fields(explainer.settings, rules="both", false_condition="warn")
    return asking


def _without_documents(explainer: Explainer, before: Explanation) -> AnswerToNothing:
    answer = settled(chosen_replay(None, explainer.replay)(before.question, ()))
    return answer_to_nothing(explainer, before, answer)


def answer_to_nothing(explainer: Explainer, before: Explanation, given: Answer | str) -> AnswerToNothing:
    """Returns the answer ``given``, which the application gave without any document, together with a
    verdict: HOLDS if this answer is the bad outcome, BREAKS if it is not.

    The condition of the explainer's omission rules says that the bad outcome is gone. So an answer that
    breaks this condition is the bad outcome. If the condition has the verdict UNKNOWN, the result has it
    too. ``before``: an explanation with the same question and baseline.
    """
    answer = Answer.of(given)
    case = Case(before.question, before.baseline, answer, ())
    judged = judged_now(explainer.predicates[RuleKind.OMISSION], case)
    return AnswerToNothing(answer.shown, ~judged.verdict)


def with_verdict_of_all(explainer: Explainer, explanation: Explanation) -> Explanation:
    """Returns the explanation, in which the answer from all sources has a verdict: whether it is the bad
    outcome. A search may have ended without this verdict. Blocks until the condition has judged the
    answer."""
    count = len(explanation.sources)
    is_sought = RuleKind.OMISSION in explanation.predicates
    for place, probe in enumerate(explanation.probes if is_sought else ()):
        if len(probe.kept) != count or not probe.answers or badness_of(explanation, probe) is not None:
            continue
        sources = tuple(sources_in(explanation))
        case = Case(explanation.question, explanation.baseline, probe.answers[0], sources, sources)
        judged = judged_now(explainer.predicates[RuleKind.OMISSION], case)
        seen = replaced_fields(probe, verdicts={**probe.verdicts, RuleKind.OMISSION: judged})
        probes = (*explanation.probes[:place], seen, *explanation.probes[place + 1 :])
        return explanation.model_copy(update={"probes": probes})
    return explanation


def _changed(change: CorpusChange, document: Source) -> Source | None:
    """Returns the document after the change, perhaps with a new text; None if it is left out."""
    if document.id in change.left_out:
        return None
    return next((new for old, new in change.replaced if old.id == document.id), document)
