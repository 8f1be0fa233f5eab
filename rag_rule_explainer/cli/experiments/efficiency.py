"""This module runs ``rag-rules experiment efficiency``, which measures the cost of the miners for
different numbers of sources."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Annotated, Literal

import typer

from ...errors import InvalidInput
from ...experiments import synthetic
from ...experiments.charts import EFFICIENCY_FIGURES, draw_efficiency
from ...experiments.efficiency import (
    MOST_SIZES,
    EfficiencyOutcome,
    EfficiencyPlan,
    EfficiencyRow,
    measure_efficiency,
)
from ...experiments.examples import Example
from ...experiments.subsets import SubsetAsking
from ...experiments.walking import WalkedMiner
from ...probing.limiter import Limiter
from ...settings import Settings
from ..terminal import counted, say
from .ending import ExperimentEnding, cells, costs, parsed_range, prepare, prompts_used
from .shared_options import (
    USUAL_CONCURRENCY,
    AskedModel,
    Data,
    Drawing,
    Endpoints,
    Figures,
    JudgingOptions,
    Necessary,
    Running,
    Seed,
    Shuffle,
)

_KNOWN = tuple(miner.value for miner in WalkedMiner)

SettingOption = Annotated[
    Literal["synthetic", "hotpotqa"],
    typer.Option(
        "--setting",
        help="synthetic: mock sources, a model and a judge that never err. hotpotqa: real questions "
        "from --data.",
    ),
]
Sizes = Annotated[str, typer.Option(metavar="N-N", help="How many sources, such as 1-10 or 2,5,10.")]
Miners = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help=f"Which to compare, of {', '.join(_KNOWN)}; all if not given. Without exhaustive, only "
        "what the others ask for is paid.",
    ),
]
SomeExamples = Annotated[
    int | None,
    typer.Option(
        "--examples",
        min=1,
        help="Draw so many at random; 1,000 synthetic ones or 50 real ones if not given.",
    ),
]


@dataclass(frozen=True, slots=True)
class EfficiencyRequest:
    """An ``EfficiencyRequest`` holds the options of the experiment.

    Raises InvalidInput for options that exclude each other.
    """

    endpoints: Endpoints
    judging: JudgingOptions
    running: Running
    setting: SettingOption = "synthetic"
    examples: SomeExamples = None
    seed: Seed = 0
    data: Data = None
    sizes: Sizes = "1-10"
    miners: Miners = None
    necessary: Necessary = 2
    shuffle_distractors: Shuffle = False
    model: AskedModel = None

    def __post_init__(self) -> None:
        if self.setting == "hotpotqa":
            if self.data is None:
                raise InvalidInput("--setting hotpotqa reads real questions; give their file as --data")
            return
        given = {
            "--data": self.data,
            "--model": self.model,
            "--base-url": self.endpoints.base_url,
            "--store": self.running.store,
            "--judge-model": self.judging.judge_model,
        }
        for option, value in given.items():
            if value:
                raise InvalidInput(
                    f"{option} goes with --setting hotpotqa only: the synthetic one asks no model; "
                    "leave it out"
                )

    def plan(self) -> EfficiencyPlan:
        """Returns the numbers of sources and the miners to compare.

        Raises InvalidInput for an option that cannot be read.
        """
        return EfficiencyPlan(
            self.setting,
            parsed_sizes(self.sizes),
            parsed_miners(self.miners),
            timed=self.data is not None,
            distractors=self.seed if self.shuffle_distractors else None,
        )

    def drawn(self, sources: int) -> Sequence[Example]:
        """Returns the questions, each with at least ``sources`` sources.

        Without ``--data`` they are synthetic. Raises InvalidInput if the file has no such questions.
        """
        if self.data is None:
            count = self.examples or 1000
            return tuple(
                synthetic.examples(count, self.seed, self.necessary, max(sources, self.necessary))
            )
        drawing = Drawing(self.data, self.examples or 50, self.seed)
        return drawing.drawn(self.necessary, self.necessary, sources)

    def asking(self) -> SubsetAsking:
        """Returns the object that asks the model about subsets, and the judge about answers.

        Without ``--data``, the model and the judge are synthetic and cost nothing. Raises InvalidInput
        for wrong options, and MissingExtra if a package is not installed.
        """
        if self.data is None:
            settings = Settings(retries=self.running.retries, timeout=self.running.timeout)
            judge = synthetic.PerfectJudge()
            return SubsetAsking(synthetic.perfect_model(), settings, Limiter(USUAL_CONCURRENCY), judge)
        (model,) = self.endpoints.examined(() if self.model is None else (self.model,))
        judge = self.judging.judge(self.endpoints)
        settings = self.running.settings([model], model.namespace)
        return SubsetAsking(model, settings, Limiter(settings.concurrency), judge)


def efficiency(request: EfficiencyRequest, figures: Figures = True) -> None:
    """Measure what miners cost: nodes, model calls, rules and seconds, over the number of sources.

    The necessary sources come first, then distractors. Writes efficiency.csv, the figures, deviations.csv
    (the questions whose answers contradict the labels), failures.csv and, with a judge, judgements.jsonl
    to --out.

    Examples:
      rag-rules experiment efficiency --setting synthetic --examples 3 --out a
      rag-rules experiment efficiency --setting hotpotqa --data b.json --out b
      rag-rules experiment efficiency --examples 3 --sizes 2-8 --miners dual --out c

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  endpoint of a model that names none

    Exit codes:
      0    every question is in the table
      2    bad input
      3    some are in failures.csv instead
      130  interrupted; run the same command to continue
    """
    plan, out = request.plan(), request.running.out
    found = request.drawn(max(plan.sizes))
    prepare(out, "efficiency.csv", figures=figures)
    asking = request.asking()
    if request.model is not None:
        most = len(found) * ((1 << max(plan.sizes)) - 1)
        say(f"at most {most:,} calls of the model, and {request.running.retries} more of each that fails")
    with counted("questions") as progress:
        outcome = measure_efficiency(found, asking, plan, progress)
    whole = outcome.done - len(outcome.failures)
    subject = f"{request.setting}, {asking.model.name}, {whole:,} questions"
    draw = partial(draw_efficiency, outcome.rows, subject, out) if figures else None
    judged = request.judging.judge_model is not None
    used = prompts_used([asking.model], asking.judge)
    ending = ExperimentEnding(out, len(found), asking.settings, EFFICIENCY_FIGURES, draw, judged, used)
    failed = "questions failed, and are in failures.csv alone:"
    raise ending.conclude(outcome, _lines(outcome), failed)


def parsed_sizes(written: str) -> tuple[int, ...]:
    """Returns the numbers of sources in a text such as 1-10, 2,5,10 or 1-3,5, in ascending order.

    Raises InvalidInput if the text has another form, or a number is too large.
    """
    found = set[int]()
    for part in written.split(","):
        complaint = f"--sizes {written!r} are no sizes; write 1-10, or 2,5,10"
        least, most = parsed_range(part, complaint)
        if not 1 <= least <= most <= MOST_SIZES:
            raise InvalidInput(
                f"--sizes {written!r}: give numbers from 1 to {MOST_SIZES}, from few to many"
            )
        found.update(range(least, most + 1))
    return tuple(sorted(found))


def parsed_miners(written: str | None) -> tuple[WalkedMiner, ...]:
    """Returns the miners in a comma-separated list of names. If ``written`` is None, returns all miners.

    Raises InvalidInput for an unknown name.
    """
    if written is None:
        return tuple(WalkedMiner)
    named = [each.strip() for each in written.split(",") if each.strip()]
    unknown = [each for each in named if each not in _KNOWN]
    if unknown:
        raise InvalidInput(f"--miners names {unknown[0]!r}; known are {', '.join(_KNOWN)}")
    return tuple(miner for miner in WalkedMiner if miner.value in named)


def _lines(outcome: EfficiencyOutcome) -> Iterator[str]:
    yield costs(outcome, f"{outcome.done:,} questions")
    if outcome.rows:
        yield from _table(outcome.rows, max(row.n for row in outcome.rows))
    deviating = len({each.question_id for each in outcome.deviations})
    yield f"{deviating:,} questions with answers that are not what their labels imply: deviations.csv"


def _table(rows: Sequence[EfficiencyRow], size: int) -> Iterator[str]:
    yield f"mean of a question at |s| = {size}:"
    yield cells("", 20, ("explored", "calls", "repeated", "rules", "minimal", "seconds"), 10)
    for miner in WalkedMiner:
        own = [
            row for row in rows if row.n == size and (row.miner, row.kind) == (miner.family, miner.kind)
        ]
        if own:
            seconds = [row.seconds for row in own if row.seconds is not None]
            names = ("calls", "repeated", "rules", "minimal_rules")
            means = [f"{fmean(getattr(row, name) for row in own):,.1f}" for name in names]
            explored = f"{fmean(row.explored for row in own):.1%}"
            columns = [explored, *means, f"{fmean(seconds):.3f}" if seconds else "-"]
            yield cells(miner.value, 20, columns, 10)
