"""This module rechecks a change of a corpus that the caller passes as a whole, by an ``Explainer``."""

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace as replaced_fields
from typing import Any, TypeAlias

from typing_extensions import Unpack

from ..allowed import checked_function, showing, taken
from ..errors import InvalidInput
from ..explainer import Explainer
from ..explanation.explanation import Explanation
from ..given import no_source
from ..rules import RuleKind
from ..session.call_options import chosen_replay
from ..sources import Source, SourceLike, SourceSet
from ..verdicts import Answer, Case
from .change import CorpusChange, change_of
from .change_options import ChangeFields, ChangeOptions
from .goods import judged_now, settled
from .recheck import AfterChange, AnswerToNothing, Recheck, rechecked, rechecking

Rank: TypeAlias = Callable[[str, Sequence[Source], int], Iterable[Any]]
"""A function that gets a question, the documents of a corpus, and a number. It returns at most this
number of documents: those that match the question best, the best one first."""


@showing(ChangeOptions, ChangeFields)
def recheck_corpus(
    explainer: Explainer,
    before: Explanation,
    corpus: Iterable[SourceLike],
    *,
    rank: Rank,
    **fields: Unpack[ChangeFields],
) -> Recheck:
    """Returns whether the bad outcome is gone after a change of the corpus. Blocks.

    Each round ranks the changed corpus again, including new texts and added documents, shows the
    application as many documents as ``before`` has sources, and explains the new answer. As long as the
    bad outcome is not gone, the next round also leaves out the next fix.

    ``before``: an explanation of this explainer, whose sources are documents of ``corpus``, under the
    same ids. ``rank``: a function of the question, the documents and a number that returns that many of
    them, the best first.

    Raises InvalidInput for an id that the corpus does not have, and if ``before`` has no sure fix.
    """
    checked_function("rank", rank, "a function of the question, the documents and their number", 3)
    options = taken(ChangeOptions, fields, Explainer, ("explainer", "before", "corpus", "rank"))
    whole = SourceSet.of(corpus).sources
    change = _named(change_of(before, options.exclude, options.replace, options.add), whole)
    changed = SourceSet.of([*whole, *options.add]).sources if options.add else whole
    asking = explainer_for_recheck(explainer)

    def explain(change: CorpusChange) -> AfterChange:
        kept = [new for each in changed if (new := _changed(change, each)) is not None]
        found = list(rank(before.question, kept, len(before.sources)))[: len(before.sources)]
        if not found:
            return _without_documents(asking, before)
        return asking.explain(before.question, found, before.baseline)

    return rechecked(rechecking(before, change, options.rounds), explain)


def _named(change: CorpusChange, corpus: Sequence[Source]) -> CorpusChange:
    """Returns the change with each name replaced by the document of this name. Raises InvalidInput for an
    id that the corpus does not have."""
    by_id = {each.id: each for each in corpus}
    named = [each.id for each in (*change.excluded, *(old for old, _ in change.replaced))]
    for name in (*named, *change.names):
        if name not in by_id:
            raise InvalidInput(f"the corpus lacks {no_source([name], tuple(by_id))}")
    more = tuple(by_id[name] for name in change.names)
    return replaced_fields(change, excluded=(*change.excluded, *more), names=())


def explainer_for_recheck(explainer: Explainer) -> Explainer:
    """Returns a copy of the explainer with the settings for a recheck: it searches for rules of both
    kinds, and raises no error if the condition does not hold, because the bad outcome is then gone."""
    asking = copy(explainer)
    asking.settings = replaced_fields(explainer.settings, rules="both", false_condition="warn")
    return asking


def _without_documents(explainer: Explainer, before: Explanation) -> AnswerToNothing:
    answer = settled(chosen_replay(None, explainer.replay)(before.question, ()))
    return answer_to_nothing(explainer, before, answer)


def answer_to_nothing(explainer: Explainer, before: Explanation, given: Answer | str) -> AnswerToNothing:
    """Returns an answer that was given without any document, with the verdict whether it is the bad
    outcome."""
    answer = Answer.of(given)
    case = Case(before.question, before.baseline, answer, ())
    judged = judged_now(explainer.predicates[RuleKind.RETENTION], case)
    return AnswerToNothing(answer.text, judged.verdict)


def _changed(change: CorpusChange, document: Source) -> Source | None:
    """Returns the document after the change, perhaps with a new text; None if it is left out."""
    if document.id in change.left_out:
        return None
    return next((new for old, new in change.replaced if old.id == document.id), document)
