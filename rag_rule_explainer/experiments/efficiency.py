"""What miners cost (paper, *efficiency*): nodes, model calls, rules and seconds, over 1 to 10 sources.

Of each question, the necessary sources come first. All subsets of the most sources are asked about at
once where the exhaustive miner is wanted, which are those of fewer sources as well; else what the wanted
miners ask for, and nothing more. What each miner makes of it is counted by running it over the verdicts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors import BaselineFailed, InvalidInput
from ..lattice import Lattice
from ..rules import RuleKind
from ..settings import Rules
from ..verdicts import Verdict
from .examples import Example
from .interrupting import interruptions
from .judging import JudgedAnswer, judged_answers
from .subsets import Answered, Asking
from .walking import MinerName, Walk, walk

Told: TypeAlias = Callable[[int, int], object]
"""Is told how many questions are done, and of how many."""

MOST_SOURCES = 12
"""Above that, an explanation does not keep all probes."""
_SILENT = 3
"""Questions in a row about which nothing is answered before a model is taken to be down."""


@dataclass(frozen=True, slots=True)
class Plan:
    """``setting``: what the rows call it. ``sizes``: how many sources; ``miners``: which are compared.

    ``timed``: whether the seconds of calls mean something. ``distractors``: the seed that orders the
    distractors; None for the order in which they were published.

    Raises InvalidInput for none of either, and for sizes that are not from 1 to 12.
    """

    setting: str
    sizes: tuple[int, ...] = tuple(range(1, 11))
    miners: tuple[MinerName, ...] = tuple(MinerName)
    timed: bool = True
    distractors: int | None = None

    def __post_init__(self) -> None:
        if not self.sizes or not self.miners:
            raise InvalidInput("there is nothing to compare; give at least one size and one miner")
        if not all(1 <= size <= MOST_SOURCES for size in self.sizes):
            told = ", ".join(map(str, self.sizes))
            raise InvalidInput(f"the sizes are {told}; give numbers from 1 to {MOST_SOURCES}")

    @property
    def rules(self) -> Rules:
        """The kinds of rule that any of the miners mines."""
        kinds = {kind for miner in self.miners for kind in miner.kinds}
        if len(kinds) > 1:
            return "both"
        return "retention" if RuleKind.RETENTION in kinds else "omission"


@dataclass(frozen=True, slots=True)
class Row:
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
        """The share of one lattice of ``n`` sources; up to 2 where two are walked."""
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


@dataclass(frozen=True, slots=True)
class Failure:
    """A question that is in no row, because some subset has no verdict."""

    setting: str
    question_id: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """``questions``: how many were looked at. ``judged``: what near-exact match left to a judge.
    ``calls``: of the model in this run; ``stored``: answers that the store had. ``interrupted``: by
    Ctrl-C, so that there is more to do."""

    rows: list[Row] = field(default_factory=list[Row])
    deviations: list[Deviation] = field(default_factory=list[Deviation])
    failures: list[Failure] = field(default_factory=list[Failure])
    judged: list[JudgedAnswer] = field(default_factory=list[JudgedAnswer])
    questions: int = 0
    calls: int = 0
    stored: int = 0
    judge_requests: int = 0
    interrupted: bool = False


def measure(examples: Sequence[Example], asking: Asking, plan: Plan, told: Told | None = None) -> Outcome:
    """Every row, question by question.

    A question with a subset that has no verdict is a failure, and the others go on. Raises BaselineFailed
    where nothing is answered about several questions in a row, and StoreFailed.
    """
    outcome, silent = Outcome(), 0
    with interruptions() as interrupted:
        try:
            for example in examples:
                answered = _answered(example, asking, plan)
                if interrupted():
                    outcome.interrupted = True
                    break
                _take(outcome, example, answered, plan)
                if asking.judge is not None:
                    said = answered.judged()
                    outcome.judged += judged_answers(asking.judge, asking.model, example, said)
                silent = 0 if answered.is_answered else silent + 1
                if silent == _SILENT:
                    raise BaselineFailed(
                        f"{asking.model.name} answered nothing about {silent} questions in a row; check "
                        f"that its endpoint is up, its name and its key: {answered.incomplete}"
                    )
                if told is not None:
                    told(outcome.questions, len(examples))
        except KeyboardInterrupt:
            outcome.interrupted = True
    return outcome


def _answered(example: Example, asking: Asking, plan: Plan) -> Answered:
    sources = example.first(max(plan.sizes), plan.distractors)
    if MinerName.EXHAUSTIVE in plan.miners:
        return asking.everything(example, sources)
    return asking.needed(example, sources, plan.sizes, plan.rules)


def _take(outcome: Outcome, example: Example, answered: Answered, plan: Plan) -> None:
    outcome.questions += 1
    outcome.calls += answered.calls
    outcome.stored += answered.stored
    outcome.judge_requests += answered.judge_requests
    if answered.incomplete:
        outcome.failures.append(Failure(plan.setting, example.id, answered.incomplete))
        return
    before: Mapping[MinerName, float] = {}
    for size in sorted(set(plan.sizes)):
        verdicts = answered.verdicts(size)
        walks = {miner: walk(miner, verdicts) for miner in plan.miners}
        outcome.rows += [
            _row(example, plan, size, miner, walks[miner], answered) for miner in plan.miners
        ]
        explored = {miner: each.nodes / (1 << size) for miner, each in walks.items()}
        rises = [miner.value for miner in before if explored[miner] > before[miner]]
        deviation = _deviation(example, plan, size, verdicts.retention, rises)
        if deviation.wrong_with or deviation.right_without or rises:
            outcome.deviations.append(deviation)
        before = explored if size >= example.hops else {}


def _row(
    example: Example, plan: Plan, size: int, miner: MinerName, walked: Walk, answered: Answered
) -> Row:
    return Row(
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


def _deviation(
    example: Example,
    plan: Plan,
    size: int,
    verdicts: Sequence[Verdict | None],
    rises: Sequence[str],
) -> Deviation:
    necessary = Lattice(size).mask(range(example.hops)) if example.hops <= size else -1
    known = [
        (mask & necessary == necessary, verdict is Verdict.HOLDS)
        for mask, verdict in enumerate(verdicts)
        if verdict is not None
    ]
    return Deviation(
        plan.setting,
        example.id,
        size,
        wrong_with=known.count((True, False)),
        with_all=sum(has_all for has_all, _ in known),
        right_without=known.count((False, True)),
        without=sum(not has_all for has_all, _ in known),
        rises="; ".join(rises),
    )
