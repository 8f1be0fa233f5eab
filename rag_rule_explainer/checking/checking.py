"""This module provides ``check_judge``, which compares a predicate's verdicts with labels."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..allowed import called_as, checked_function, checked_list
from ..errors import InvalidInput, RagRuleError
from ..predicates import Predicate, PredicateLike, as_predicate
from ..printable import encodable
from ..probing.budget import summed
from ..settings import Settings
from ..verdicts import Answer, Judgement, Verdict
from .figures import share
from .labelled import LabelledCase
from .result import CaseOutcome, JudgeCheck

if TYPE_CHECKING:
    from .trial import CheckProgress, JudgeTrial, TrialItem

PredicateOf: TypeAlias = Callable[[LabelledCase], PredicateLike]
"""A function that returns the predicate for one case, such as ``lambda case:
consistent_with(case.truth)``."""


@called_as("check_judge")
def check_judge(
    cases: Iterable[LabelledCase],
    predicate: PredicateLike | None = None,
    *,
    predicate_of: PredicateOf | None = None,
    settings: Settings | None = None,
    progress: "CheckProgress | None" = None,
) -> JudgeCheck:
    """Returns how well the verdicts of a predicate agree with labels (paper, *LLM-as-a-judge*). Blocks
    until all cases are judged.

    ``predicate``: the condition that the labels are about, with or without a judge. ``predicate_of``:
    returns the predicate for each case, if each case has a truth or a reference of its own.
    ``settings``: ``concurrency``, ``timeout`` and ``retries`` apply to requests to a judge, and
    ``limits`` to its spending. ``prices``, and the ``store`` in which judgements are kept, are used too.
    All other settings are ignored. ``progress``: called with the number of judged cases and of all.

    If several cases are identical, only one of them is judged, but all are counted. By default, each
    request to the judge has one case. If the predicate's ``batch`` is above 1, cases with the same
    question (and truth, and reference) share a request, and the result has a warning. A case without a
    verdict is UNKNOWN: it counts neither as right nor as wrong. After a limit or Ctrl-C, the remaining
    cases are UNKNOWN.

    Raises InvalidInput for no cases, for two cases with the same id, and unless exactly one of
    ``predicate`` and ``predicate_of`` is given.
    """
    from ..probing.loop import run_blocking  # imported late, because it loads asyncio
    from .trial import JudgeTrial

    listed = checked_list("cases", cases, "LabelledCase(question, answer, label)")
    _check_cases(listed)
    predicates = _predicates(listed, predicate, predicate_of)
    if not isinstance(settings, (Settings, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
        raise InvalidInput(f"settings is {settings!r}; give Settings(...)")
    if progress is not None:
        checked_function("progress", progress, "a function that is told how many of how many are judged")
    trial = JudgeTrial(settings or Settings(), progress)
    pairs = [(each, case.case) for each, case in zip(predicates, listed, strict=True)]
    items = run_blocking(lambda: trial.judged(pairs), trial.interrupt)
    return _result(listed, predicates, items, trial)


def _check_cases(cases: Sequence[LabelledCase]) -> None:
    if not cases:
        raise InvalidInput("there are no labelled cases; give at least one")
    for number, case in enumerate(cases, start=1):
        if not isinstance(case, LabelledCase):  # pyright: ignore[reportUnnecessaryIsInstance] -- users may pass values of other types
            raise InvalidInput(f"case {number} is {type(case).__name__}; give a LabelledCase")
    counts = Counter(_names(cases))
    doubled = next((name for name, count in counts.items() if count > 1), None)
    if doubled is not None:
        raise InvalidInput(f"the id {doubled!r} stands for two cases; give each its own, or none")


def _names(cases: Sequence[LabelledCase]) -> list[str]:
    return [case.id or f"case {number}" for number, case in enumerate(cases, start=1)]


def _predicates(
    cases: Sequence[LabelledCase], predicate: PredicateLike | None, predicate_of: PredicateOf | None
) -> list[Predicate]:
    if (predicate is None) == (predicate_of is None):
        raise InvalidInput("give predicate=, or predicate_of= where each case has its own, and not both")
    if predicate_of is not None:
        checked_function("predicate_of", predicate_of, "a function from a LabelledCase to a predicate")
    if predicate is not None:
        return [as_predicate(predicate)] * len(cases)
    made: list[Predicate] = []
    for name, case in zip(_names(cases), cases, strict=True):
        try:
            made.append(as_predicate(predicate_of(case)))  # pyright: ignore[reportOptionalCall] -- it is given if ``predicate`` is not
        except RagRuleError as error:
            raise InvalidInput(f"predicate_of, on {name}: {error}") from error
    return made


def _result(
    cases: Sequence[LabelledCase],
    predicates: Sequence[Predicate],
    items: "Sequence[TrialItem]",
    trial: "JudgeTrial",
) -> JudgeCheck:
    judgements = {place: item.judgement for item in items for place in item.places}
    outcomes = [
        _outcome(name, case, judgements[place])
        for place, (name, case) in enumerate(zip(_names(cases), cases, strict=True))
    ]
    counts = Counter((outcome.label, outcome.verdict) for outcome in outcomes)
    tp, fn = counts[True, Verdict.HOLDS], counts[True, Verdict.BREAKS]
    fp, tn = counts[False, Verdict.HOLDS], counts[False, Verdict.BREAKS]
    undecided = tuple(each for each in outcomes if each.verdict is Verdict.UNKNOWN)
    return JudgeCheck(
        condition=encodable(_condition(predicates)),
        cases=len(cases),
        distinct=len(items),
        tp=tp,
        fp=fp,
        tn=tn,
        fn=fn,
        unknown=len(undecided),
        precision=share(tp, tp + fp, "no case was judged true"),
        recall=share(tp, tp + fn, "no case that has a verdict is labelled true"),
        false_positive_rate=share(fp, fp + tn, "no case that has a verdict is labelled false"),
        disagreements=tuple(
            each
            for each in outcomes
            if each.verdict is not Verdict.UNKNOWN and each.verdict is not Verdict.of(each.label)
        ),
        undecided=undecided,
        judge_requests=trial.budget.judge_requests,
        tokens=summed(trial.budget.judge_spent),
        cost=trial.budget.cost if trial.budget.prices else None,
        stop_reason=encodable(trial.stop_reason),
        warnings=tuple(_warnings(cases, items)),
    )


def _outcome(name: str, case: LabelledCase, judgement: Judgement) -> CaseOutcome:
    texts = (encodable(each) for each in (judgement.reason, case.question, Answer.of(case.answer).text))
    return CaseOutcome(encodable(name), case.label, judgement.verdict, *texts)


def _condition(predicates: Sequence[Predicate]) -> str:
    different = dict.fromkeys(map(str, predicates))
    first = next(iter(different))
    if len(different) == 1:
        return first
    return f"{first}; of each case its own, {len(different):,} in all"


def _warnings(cases: Sequence[LabelledCase], items: "Sequence[TrialItem]") -> Iterator[str]:
    names = _names(cases)
    loose = [item.judging for item in items if item.judging.rests_on_batches]
    if any(judging.is_unmarked for judging in loose):
        yield (
            "the judge's prompt does not mark answers as data, and an answer can have told it what to "
            "say, so these figures may not be its own"
        )
    elif loose:
        yield (
            "the judge saw several answers at once (batch), and one of them can have told it what to say "
            "of the others, so these figures may not be its own; leave batch out, and it is asked about "
            "one answer a request"
        )
    contradicted = [item for item in items if len({cases[place].label for place in item.places}) > 1]
    if contradicted:
        places = contradicted[0].places
        other = next(place for place in places if cases[place].label is not cases[places[0]].label)
        yield (
            f"answers that are labelled both true and false: {len(contradicted):,}, such as that of "
            f"{names[places[0]]} and {names[other]}; no judge can agree with both"
        )
    if len(items) < len(cases):
        yield (
            f"{len(cases) - len(items):,} of the {len(cases):,} cases repeat others; the intervals take "
            "all of them for independent, and are too narrow"
        )
