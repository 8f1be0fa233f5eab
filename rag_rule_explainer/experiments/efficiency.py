"""This module measures what miners cost for 1 to 10 sources (paper, *efficiency*).

It counts nodes of the lattice, model calls, rules and seconds. The sources of a question are used in an
order that begins with the necessary ones. If the exhaustive miner is among the compared ones, the model
first answers from all subsets of the largest set of sources. These include the subsets of each smaller
set. Otherwise the model answers only from the subsets that the miners need. Each miner is then run on the
verdicts on these answers, without further model calls.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..errors import InvalidInput
from ..lattice import Lattice
from ..rules import RuleKind
from ..settings import Rules
from ..verdicts import Verdict
from .examples import Example
from .judging import judged_answers
from .outcome import FAILURES, ExperimentOutcome, Failure, written_to
from .running import Check, ProgressCallback, one_by_one, silence_on_questions
from .subsets import Answered, SubsetAsking
from .walking import WalkedMiner, walk

MOST_SIZES = 12
"""The maximum number of sources. This experiment needs all probes of an explanation, and an explanation
of more sources does not keep all its probes."""


@dataclass(frozen=True, slots=True)
class EfficiencyPlan:
    """An ``EfficiencyPlan`` holds the options of the experiment.

    ``setting``: a name that all rows contain. ``sizes``: the numbers of sources for which miners are
    compared. ``miners``: the compared miners. ``timed``: False if the duration of calls has no meaning,
    as for the offline reader. ``distractors``: the seed for the order of the distractors (the sources
    that are not necessary); None for the published order. Raises InvalidInput without sizes or miners,
    and for sizes that are not from 1 to 12.
    """

    setting: str
    sizes: tuple[int, ...] = tuple(range(1, 11))
    miners: tuple[WalkedMiner, ...] = tuple(WalkedMiner)
    timed: bool = True
    distractors: int | None = None

    def __post_init__(self) -> None:
        if not self.sizes or not self.miners:
            raise InvalidInput("there is nothing to compare; give at least one size and one miner")
        if not all(1 <= size <= MOST_SIZES for size in self.sizes):
            sizes = ", ".join(map(str, self.sizes))
            raise InvalidInput(f"the sizes are {sizes}; give numbers from 1 to {MOST_SIZES}")

    @property
    def rules(self) -> Rules:
        """Returns which kinds of rule the compared miners mine: "retention", "omission" or "both"."""
        kinds = {kind for miner in self.miners for kind in miner.kinds}
        if len(kinds) > 1:
            return "both"
        return "retention" if RuleKind.RETENTION in kinds else "omission"


@dataclass(frozen=True, slots=True)
class EfficiencyRow:
    """An ``EfficiencyRow`` holds the cost of one miner on one question with ``n`` sources.

    ``nodes``: the number of visited nodes (subsets of the sources) of the lattice. ``calls``: the number
    of model calls; there is none for the subset without sources, and no baseline run. ``repeated``: the
    number of replays of subsets that the miner had replayed before. ``rules``: the number of all valid
    rules, minimal or not. ``seconds``: the seconds of all calls together; None if the duration of calls
    has no meaning.
    """

    setting: str
    question_id: str
    n: int
    miner: str
    kind: str
    nodes: int
    calls: int
    repeated: int
    rules: int
    minimal_rules: int
    seconds: float | None

    @property
    def explored(self) -> float:
        """Returns the number of visited nodes divided by the number of nodes of one lattice. The result
        can be up to 2, because some miners walk two lattices."""
        return self.nodes / (1 << self.n)


@dataclass(frozen=True, slots=True)
class Deviation:
    """A ``Deviation`` counts the answers to one question, from subsets of ``n`` sources, that contradict
    the question's labels.

    ``with_all``: the number of subsets with all necessary sources. ``wrong_with``: how many of these
    give a wrong answer. ``without``: the number of other subsets. ``right_without``: how many of these
    give the right answer. ``rises``: the miners that visited a larger share of the lattice with these
    ``n`` sources than with the next smaller number; empty if not all necessary sources are among the
    ``n``.
    """

    setting: str
    question_id: str
    n: int
    wrong_with: int
    with_all: int
    right_without: int
    without: int
    rises: str


@dataclass(slots=True)
class EfficiencyOutcome(ExperimentOutcome):
    """An ``EfficiencyOutcome`` holds the results of the experiment. ``done``: the number of questions
    done."""

    rows: list[EfficiencyRow] = written_to("efficiency.csv", EfficiencyRow)
    deviations: list[Deviation] = written_to("deviations.csv", Deviation)
    failures: list[Failure] = written_to(FAILURES, ("setting", "question_id", "reason"))


def measure_efficiency(
    examples: Sequence[Example],
    asking: SubsetAsking,
    plan: EfficiencyPlan,
    progress: ProgressCallback | None = None,
) -> EfficiencyOutcome:
    """Returns the results of every question. ``asking``: replays the subsets. ``progress``: called after
    each question.

    If a subset of a question has no verdict, the question is a failure, and the experiment continues with
    the next one. Raises BaselineFailed if nothing is answered for several questions in a row, and
    StoreFailed.
    """
    outcome, silence = EfficiencyOutcome(), silence_on_questions(asking.model)

    def ask(example: Example, check: Check) -> None:
        answered = _answered(example, asking, plan)
        check()
        outcome.charge(answered.calls, answered.stored, answered.judge_requests)
        if answered.incomplete:
            outcome.failures.append(Failure(answered.incomplete, example.id, plan.setting))
        else:
            _take(outcome, example, answered, plan)
        if asking.judge is not None:
            said = answered.judged()
            outcome.judged += judged_answers(asking.judge, asking.model, example, said)
        silence.note(answered.incomplete, is_answered=answered.is_answered)

    one_by_one(examples, ask, outcome, progress)
    return outcome


def _answered(example: Example, asking: SubsetAsking, plan: EfficiencyPlan) -> Answered:
    sources = example.first(max(plan.sizes), plan.distractors)
    if WalkedMiner.EXHAUSTIVE in plan.miners:
        return asking.everything(example, sources)
    return asking.needed(example, sources, plan.sizes, plan.rules)


def _take(outcome: EfficiencyOutcome, example: Example, answered: Answered, plan: EfficiencyPlan) -> None:
    before: Mapping[WalkedMiner, float] = {}
    for size in sorted(set(plan.sizes)):
        rows = dict(zip(plan.miners, _rows(example, answered, plan, size), strict=True))
        outcome.rows += rows.values()
        explored = {miner: row.explored for miner, row in rows.items()}
        rises = [miner.value for miner in before if explored[miner] > before[miner]]
        deviation = _deviation(example, answered, plan.setting, size, "; ".join(rises))
        if deviation.wrong_with or deviation.right_without or rises:
            outcome.deviations.append(deviation)
        before = explored if size >= example.hops else {}


def _rows(
    example: Example, answered: Answered, plan: EfficiencyPlan, size: int
) -> Iterator[EfficiencyRow]:
    verdicts = answered.verdicts(size)
    for miner in plan.miners:
        walked = walk(miner, verdicts)
        yield EfficiencyRow(
            plan.setting,
            example.id,
            size,
            miner.family,
            miner.kind,
            walked.nodes,
            walked.calls,
            walked.repeated,
            walked.rules,
            walked.minimal_rules,
            answered.seconds(walked.replayed, size) if plan.timed else None,
        )


def _deviation(example: Example, answered: Answered, setting: str, size: int, rises: str) -> Deviation:
    necessary = Lattice(size).mask(range(example.hops)) if example.hops <= size else -1
    known = [
        (mask & necessary == necessary, verdict is Verdict.HOLDS)
        for mask, verdict in enumerate(answered.verdicts(size).retention)
        if verdict is not None
    ]
    with_all = sum(has_all for has_all, _ in known)
    wrong, right = known.count((True, False)), known.count((False, True))
    return Deviation(setting, example.id, size, wrong, with_all, right, len(known) - with_all, rises)
