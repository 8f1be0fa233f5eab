"""What miners cost (paper, *efficiency*): nodes, model calls, rules and seconds, over 1 to 10 sources.

Of each question, the necessary sources come first. All subsets of the most sources are asked about at
once where the exhaustive miner is wanted, which are those of fewer sources as well; else what the wanted
miners ask for, and nothing more. What each miner makes of it is counted by running it over the verdicts.
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
from .running import Check, ToldCount, one_by_one, silence_on_questions
from .subsets import Answered, SubsetAsking
from .walking import WalkedMiner, walk

MOST_SIZES = 12
"""The most sources: above that, an explanation does not keep all probes."""


@dataclass(frozen=True, slots=True)
class EfficiencyPlan:
    """``setting``: what the rows call it. ``sizes``: how many sources; ``miners``: which are compared.

    ``timed``: whether the seconds of calls mean something. ``distractors``: the seed that orders the
    distractors; None for the order in which they were published.

    Raises InvalidInput for none of either, and for sizes that are not from 1 to 12.
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
            told = ", ".join(map(str, self.sizes))
            raise InvalidInput(f"the sizes are {told}; give numbers from 1 to {MOST_SIZES}")

    @property
    def rules(self) -> Rules:
        """Returns the kinds of rule that any of the miners mines."""
        kinds = {kind for miner in self.miners for kind in miner.kinds}
        if len(kinds) > 1:
            return "both"
        return "retention" if RuleKind.RETENTION in kinds else "omission"


@dataclass(frozen=True, slots=True)
class EfficiencyRow:
    """One question at ``n`` sources, by one miner.

    ``nodes``: lattice nodes visited; ``calls``: of the model, which is not asked about no sources;
    ``repeated``: replays of what was replayed before. No baseline run is in them, and none is made.
    ``rules``: all valid ones. ``seconds``: of its calls, one after the other; None where they mean
    nothing.
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
        """Returns the share of one lattice of ``n`` sources; up to 2 where two are walked."""
        return self.nodes / (1 << self.n)


@dataclass(frozen=True, slots=True)
class Deviation:
    """Where the answers to one question at ``n`` sources are not what its labels imply.

    ``wrong_with``: of the subsets that retain all necessary sources (``with_all``), those that were not
    answered with the truth; ``right_without``: of the others (``without``), those that were. ``rises``:
    the miners that explored a larger share than at the size before, which had all necessary ones too.
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
    """This class holds what the efficiency experiment found: its rows, deviations and failures. The
    inherited ``done`` counts questions."""

    rows: list[EfficiencyRow] = written_to("efficiency.csv", EfficiencyRow)
    deviations: list[Deviation] = written_to("deviations.csv", Deviation)
    failures: list[Failure] = written_to(FAILURES, ("setting", "question_id", "reason"))


def measure_efficiency(
    examples: Sequence[Example], asking: SubsetAsking, plan: EfficiencyPlan, told: ToldCount | None = None
) -> EfficiencyOutcome:
    """Returns every row, question by question.

    A question with a subset that has no verdict is a failure, and the others go on. Raises BaselineFailed
    where nothing is answered about several questions in a row, and StoreFailed.
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

    one_by_one(examples, ask, outcome, told)
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
