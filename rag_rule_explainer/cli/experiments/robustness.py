"""This module runs ``rag-rules experiment robustness``.

It compares the rules that are found with the rules that follow from the labels of the documents. It does
so for several models, and for several numbers of samples of a probe.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from ...experiments.charts import ROBUSTNESS_FIGURES, draw_robustness
from ...experiments.models import Examined
from ...experiments.robustness import (
    JUDGING,
    MOST_ROBUSTNESS_SAMPLES,
    MOST_SAMPLED,
    RobustnessOutcome,
    RobustnessPlan,
    check_robustness,
    measure_robustness,
)
from ...experiments.robustness_rows import RobustnessRow
from ...predicates import Judge
from ...printable import printable, shortened
from ..terminal import counted, say
from .ending import ExperimentEnding, cells, costs, prepare, prompts_used
from .shared_options import (
    Drawing,
    Endpoints,
    Figures,
    JudgingOptions,
    Models,
    Necessary,
    Running,
)

Samples = Annotated[
    int, typer.Option(min=1, max=MOST_ROBUSTNESS_SAMPLES, help="Answers to each subset, one a round.")
]
SampledSources = Annotated[
    int,
    typer.Option(
        "--sources",
        min=1,
        max=MOST_SAMPLED,
        help="How many sources: the necessary ones first, then distractors.",
    ),
]


@dataclass(frozen=True, slots=True)
class RobustnessSampling:
    """These options choose the number of samples, and the sources with which each question is asked."""

    samples: Samples = 10
    sources: SampledSources = 5
    necessary: Necessary = 2


def robustness(
    endpoints: Endpoints,
    judging: JudgingOptions,
    running: Running,
    drawing: Drawing,
    sampling: RobustnessSampling,
    model: Models = None,
    figures: Figures = True,
) -> None:
    """Compare the rules found with the rules that labels imply, over samples and models.

    Every subset is replayed --samples times. The first 1, 2, ... samples vote, and the Dual Rule Miner
    is run on the votes. Give --model several times to compare models, each with its own url, key,
    temperature and effort, such as --model NAME --model NAME,temperature=0. If only the effort differs,
    name each with as=LABEL.

    Writes robustness.csv (all questions), robustness_questions.csv, the figures and failures.csv to
    --out; also unexpected.jsonl (each unexpected or missing rule, with the answers behind it) and, with
    a judge, judgements.jsonl.

    Examples:
      rag-rules experiment robustness --data a.jsonl --out a
      rag-rules experiment robustness --data a.jsonl --model A --samples 5 --out b
      rag-rules experiment robustness --data a.jsonl --model A --model B --out c

    Environment:
      OPENAI_API_KEY   key of --model and --judge-model (or see --key)
      OPENAI_BASE_URL  endpoint of a model that names none

    Exit codes:
      0    every question is in every figure
      2    bad input
      3    some are in failures.csv
      130  interrupted; run the same command to continue
    """
    models, judge = endpoints.examined(model or ()), judging.judge(endpoints)
    raise _measured(models, judge, running, drawing, sampling, is_paid=bool(model), figures=figures)


def _measured(
    models: Sequence[Examined],
    judge: Judge | None,
    running: Running,
    drawing: Drawing,
    sampling: RobustnessSampling,
    *,
    is_paid: bool,
    figures: bool,
) -> typer.Exit:
    """Measures the models, writes the results, and returns the exception that ends the command.
    ``judge``: None if there is none. ``is_paid``: True to print the largest number of model calls first.
    ``figures``: True to draw figures too."""
    data, sources, samples = drawing.file, sampling.sources, sampling.samples
    plan = RobustnessPlan(sources, samples, drawing.distractors)
    necessary = sampling.necessary
    found = drawing.drawn(necessary, necessary, max(sources, necessary))
    check_robustness(found, models, plan)
    settings, out = running.settings(models, JUDGING), running.out
    prepare(out, "robustness.csv", figures=figures)
    if is_paid:
        most = len(models) * len(found) * ((1 << sources) - 1) * samples
        say(f"at most {most:,} calls of the models, and {running.retries} more of each that fails")
    with counted("answers") as progress:
        outcome = measure_robustness(found, models, plan, settings, judge, progress)
    used = prompts_used(models, judge)
    subject = f"{data.name}, {len(found):,} questions, |s| = {sources}"
    subject = ", ".join(filter(None, [subject, used]))
    draw = partial(draw_robustness, outcome.rows, subject, out) if figures else None
    judged = judge is not None
    ending = ExperimentEnding(out, outcome.of, settings, ROBUSTNESS_FIGURES, draw, judged, used)
    failed = "times a question has not the verdicts it needs: failures.csv"
    return ending.conclude(outcome, _lines(outcome, len(found)), failed)


def _lines(outcome: RobustnessOutcome, questions: int) -> Iterator[str]:
    yield costs(outcome, f"{questions:,} questions")
    if outcome.failed_calls:
        yield f"{outcome.failed_calls:,} calls failed for good"
    last = max(row.samples for row in outcome.rows)
    yield f"{'micro':>74}{'macro':>22}"
    heads = ("samples", "expected", "found", "precision", "recall", "precision", "recall")
    yield cells(f"{'model':22}{'rules':10}", 32, heads, 11)
    for row in outcome.rows:
        if row.samples in {1, last}:
            yield _line(row)
    undefined = sum(row.precision_undefined for row in outcome.rows if row.samples == last)
    if undefined:
        yield (
            f"precision is undefined {undefined:,} times at {last} samples, for questions without a rule "
            "of the kind: they are in no macro precision"
        )
    yield f"{len(outcome.unexpected):,} rules are unexpected or missing at times: unexpected.jsonl"


def _line(row: RobustnessRow) -> str:
    name = shortened(printable(row.model), 14)
    name = name if row.temperature is None else f"{name} at {row.temperature:g}"
    rates = (row.micro_precision, row.micro_recall, row.macro_precision, row.macro_recall)
    columns = [f"{row.samples:,}", f"{row.expected:,}", f"{row.found:,}"]
    columns += ["undefined" if rate is None else f"{rate:.3f}" for rate in rates]
    return cells(f"{name:22}{row.kind.value:10}", 32, columns, 11)
