"""This module runs ``rag-rules experiment benchmark-models``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from ...errors import InvalidInput
from ...experiments.benchmark import MOST_BENCHMARKED, BenchmarkOutcome, BenchmarkPlan, measure_models
from ...experiments.benchmark_rows import ALL, BenchmarkRow
from ...experiments.charts import BENCHMARK_FIGURE, draw_benchmark
from ...experiments.measures import GROUPS, LIMITS, MEANINGS, NAMES
from ...printable import printable, shortened
from ..terminal import counted, unstyled
from .ending import ExperimentEnding, costs, parsed_range, prepare, prompts_used
from .shared_options import (
    Drawing,
    Endpoints,
    Figures,
    JudgingOptions,
    Models,
    Running,
)

_MOST_NECESSARY = 4

BenchmarkSources = Annotated[
    int,
    typer.Option(
        "--sources",
        min=1,
        max=MOST_BENCHMARKED,
        help="Sources of each question: |s|, necessary ones first.",
    ),
]
NecessaryRange = Annotated[
    str | None,
    typer.Option(
        metavar="K-K",
        help="Draw questions with so many necessary sources, such as 2 or 2-4; 2 to 4, as far as they go "
        "into --sources, if not given.",
    ),
]
Subsets = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Ask about so many subsets of each question alone, half of them drawn from those with all "
        "necessary sources, half from the others. An expected rule then holds where no subset that was "
        "asked about breaks it, so more seem to. All subsets if not given.",
    ),
]
AsksNothing = Annotated[
    bool, typer.Option("--ask-without-sources", help="Ask the model without any source as well.")
]
Besides = Annotated[
    int,
    typer.Option(
        min=1, help="Words beside the truth's, articles aside, from which on an answer is more than it."
    ),
]


@dataclass(frozen=True, slots=True)
class Benchmarked:
    """These options choose the sources and the subsets with which each question is asked, and how answers
    are compared."""

    sources: BenchmarkSources = 5
    necessary: NecessaryRange = None
    subsets: Subsets = None
    ask_without_sources: AsksNothing = False
    besides: Besides = 2


def benchmark_models(
    endpoints: Endpoints,
    judging: JudgingOptions,
    running: Running,
    drawing: Drawing,
    benchmarked: Benchmarked,
    model: Models = None,
    figures: Figures = True,
) -> None:
    """Runs the experiment, and exits. The text of the command's help page is ``HELP``."""
    data, sources, subsets = drawing.file, benchmarked.sources, benchmarked.subsets
    asks_nothing, besides = benchmarked.ask_without_sources, benchmarked.besides
    plan = BenchmarkPlan(sources, subsets, asks_nothing, besides, drawing.seed, drawing.distractors)
    fewest, most = parsed_necessary(benchmarked.necessary, sources)
    models, judge = endpoints.examined(model or ()), judging.judge(endpoints)
    found = drawing.drawn(fewest, most, sources)
    settings, out = running.settings(models, models[0].namespace), running.out
    prepare(out, "benchmark.csv", figures=figures)
    with counted("questions") as progress:
        outcome = measure_models(found, models, plan, settings, judge, progress)
    asked = "all subsets" if subsets is None else f"{subsets} subsets each"
    subject = f"{data.name}, {len(found):,} questions, |s| = {sources}, {asked}"
    draw = partial(draw_benchmark, outcome.rows, subject, out) if figures else None
    used = prompts_used(models, judge)
    ending = ExperimentEnding(
        out, len(found) * len(models), settings, [BENCHMARK_FIGURE], draw, prompts=used
    )
    failed = "times a question was not answered: failures.csv"
    raise ending.conclude(outcome, _lines(outcome, subject), failed)


def parsed_necessary(written: str | None, sources: int) -> tuple[int, int]:
    """Returns the smallest and the largest number of necessary sources in a text such as "2" or "2-4".

    ``written``: the text; None for 2 to 4. ``sources``: the number of sources of each question. Raises
    InvalidInput if the text is no such range, or if it asks for more necessary sources than ``sources``.
    """
    if written is None:
        return min(2, sources), min(_MOST_NECESSARY, sources)
    complaint = f"--necessary {written!r} is no number; write 2, or 2-4"
    fewest, most = parsed_range(written, complaint)
    if not 1 <= fewest <= most:
        raise InvalidInput(f"--necessary {written!r} is not 1 or more, from few to many; write 2-4")
    if most > sources:
        raise InvalidInput(f"--sources {sources} cannot hold {most} necessary ones; give {most} or more")
    return fewest, most


def _lines(outcome: BenchmarkOutcome, subject: str) -> Iterator[str]:
    yield costs(outcome, printable(subject))
    named = dict.fromkeys((row.model, row.temperature) for row in outcome.rows)
    for model, temperature in named:
        heat = "" if temperature is None else f" at temperature {temperature:g}"
        yield f"{shortened(printable(model), 60)}{heat}"
        own = [row for row in outcome.rows if (row.model, row.temperature) == (model, temperature)]
        yield from _table([row for row in own if row.necessary == ALL])


def _table(rows: Sequence[BenchmarkRow]) -> Iterator[str]:
    for group in GROUPS:
        own = [row for row in rows if row.group == group and row.rate is not None]
        if own:
            yield f"  {group}"
        for row in own:
            interval = f"{row.rate:6.1%}  [{row.low:6.1%}, {row.high:6.1%}]"
            among, means = MEANINGS[row.measure]
            yield f"    {row.measure:22}{interval}  {row.count:,} of {row.of:,} {among} {means}"


def _help() -> str:
    """Returns the text of the help page. It describes the measures in the same words as the tables do."""
    groups = [
        f"{group}: " + ". ".join(f"{name}, {among} that {means}" for name, (among, means) in found)
        for group in GROUPS
        if (found := [(name, MEANINGS[name]) for name in NAMES if NAMES[name] == group])
    ]
    parts = (_MEASURED, _ASKED, *groups, _INTERVALS, f"What this cannot tell: {LIMITS}", _FILES)
    return unstyled("\n\n".join([*(" ".join(part.split()) for part in parts), _BLOCKS.rstrip()]))


_MEASURED = "Measure how far models do what labels imply, and as they are told."
_ASKED = """\
Models are told to infer the answer from the sources, to return N/A where it cannot be inferred, and to
return the final answer only. Of each question,
--sources sources with the necessary ones first, and every subset of them (or --subsets), each asked about
once. Without sources the answer counts as N/A and no model is asked, but with --ask-without-sources. An
answer is right where it is consistent with the truth by near-exact match, else where the judge says so.
It is N/A where it is that, opens with it, or says in other words that it does not know. It is neither
right nor wrong where the judge is unsure, or where there is no judge and the truth's words are in it. It
is more than the answer where these are in it and --besides other words or more. What is counted, for each
model:
"""
_INTERVALS = """\
Intervals are 95 % ones over the questions drawn, and not over replies, which are alike within a question:
Wilson's where a question counts once, else Wilson's for so many independent cases as would vary as much.
"""
_FILES = """\
Writes benchmark.csv (in all, and by the number of necessary sources), benchmark_questions.csv,
benchmark_replies.csv, deviations.jsonl (with texts), failures.csv and benchmark.png to --out.
"""
_BLOCKS = """\
Examples:
  rag-rules experiment benchmark-models --data a.jsonl --out a
  rag-rules experiment benchmark-models --data a.jsonl --model NAME --out b
  rag-rules experiment benchmark-models --data a.jsonl --subsets 8 --out c

Environment:
  OPENAI_API_KEY   key of --model and --judge-model (or see --key)
  OPENAI_BASE_URL  endpoint of a model that names none

Exit codes:
  0    every question is in every figure
  2    bad input
  3    some are in failures.csv
  130  interrupted; run the same command to continue
"""
HELP = _help()
