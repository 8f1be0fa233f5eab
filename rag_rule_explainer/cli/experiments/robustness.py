"""``rag-rules experiment robustness``: rules against labels, over samples and models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ...experiments.examples import Criteria
from ...experiments.figures import new_figure
from ...experiments.judging import JUDGEMENTS
from ...experiments.robustness import JUDGING, MOST_SAMPLES, MOST_SOURCES, Outcome, Plan, check, measure
from ...experiments.robustness_figures import FIGURES, draw_robustness
from ...experiments.robustness_rows import Failure, QuestionRow, Row
from ...experiments.tables import write_csv, write_jsonl
from ...printable import printable, shortened
from ..terminal import counted, print_lines, say
from .asked import Drawing, Endpoints, Judging, Running, interrupted
from .folders import discard, prepare
from .options import (
    Figures,
    Models,
    Necessary,
)

_SHOWN = 5

Samples = Annotated[
    int, typer.Option(min=1, max=MOST_SAMPLES, help="Answers to each subset, one a round.")
]
SourceCount = Annotated[
    int,
    typer.Option(
        "--sources",
        min=1,
        max=MOST_SOURCES,
        help="How many sources: the necessary ones first, then distractors.",
    ),
]


def robustness(  # noqa: PLR0913, PLR0917 -- one parameter an option
    endpoints: Endpoints,
    judging: Judging,
    running: Running,
    drawing: Drawing,
    samples: Samples = 10,
    sources: SourceCount = 5,
    necessary: Necessary = 2,
    model: Models = None,
    figures: Figures = True,
) -> None:
    """Measure how far rules are those that labels lead one to expect, over samples and models.

    Every subset is asked about --samples times. The first 1, 2, ... of them vote, and the Dual Rule Miner
    is run on the votes. Give --model several times to compare models, each with its own url, key,
    temperature and effort, such as --model NAME --model NAME,temperature=0; where only the effort
    differs, as=LABEL tells them apart.

    Writes robustness.csv (all questions), robustness_questions.csv, the figures, unexpected.jsonl (each
    rule that is unexpected or missing, with the answers that decided so), failures.csv and, with a judge,
    judgements.jsonl to --out.

    Exit code 0: every question is in every figure; 2: bad input; 3: some are in failures.csv;
    130: interrupted, and the same command goes on.
    """
    data, plan = drawing.file, Plan(sources, samples, drawing.distractors)
    if figures:
        new_figure("", "")  # before anything is paid for, whether they can be drawn
    models, judge = endpoints.examined(model or ()), judging.judge()
    criteria = Criteria(
        fewest_necessary=necessary, most_necessary=necessary, fewest_sources=max(sources, necessary)
    )
    found = drawing.drawn(criteria)
    check(found, models, plan)
    settings, out = running.settings(models, JUDGING), running.out
    prepare(out, "robustness.csv")
    if model:
        most = len(models) * len(found) * ((1 << sources) - 1) * samples
        say(f"at most {most:,} calls of the models, and {running.retries} more of each that fails")
    with counted("answers") as progress:
        outcome = measure(found, models, plan, settings, judge, progress)
    if outcome.interrupted:
        raise interrupted(outcome.answers, outcome.of, settings.store)
    subject = f"{data.name}, {len(found):,} questions, |s| = {sources}"
    _write(outcome, out, judged=judge is not None)
    discard(out, [*FIGURES.values(), *([] if judge else [JUDGEMENTS])])
    files = list(draw_robustness(outcome.rows, subject, out)) if figures else []
    told = f"written to {out}: robustness.csv, unexpected.jsonl and {len(files)} figures"
    print_lines([*_lines(outcome, len(found)), told])
    raise typer.Exit(3 if outcome.failures else 0)


def _write(outcome: Outcome, out: Path, *, judged: bool) -> None:
    write_csv(out / "robustness.csv", Row, outcome.rows)
    write_csv(out / "robustness_questions.csv", QuestionRow, outcome.questions)
    write_csv(out / "failures.csv", Failure, outcome.failures)
    write_jsonl(out / "unexpected.jsonl", outcome.unexpected)
    if judged:
        write_jsonl(out / JUDGEMENTS, (each.model_dump(mode="json") for each in outcome.judged))


def _lines(outcome: Outcome, questions: int) -> Iterator[str]:
    yield (
        f"{questions:,} questions; {outcome.calls:,} model calls, {outcome.stored:,} answers out of the "
        f"store, {outcome.judge_requests:,} requests to the judge"
    )
    if outcome.failed_calls:
        yield f"{outcome.failed_calls:,} calls failed for good"
    last = max(row.samples for row in outcome.rows)
    yield f"{'micro':>74}{'macro':>22}"
    heads = ("samples", "expected", "found", "precision", "recall", "precision", "recall")
    yield f"  {'model':22}{'rules':10}" + "".join(f"{head:>11}" for head in heads)
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
    if outcome.failures:
        yield f"{len(outcome.failures):,} times a question has not the verdicts it needs: failures.csv"
        for each in outcome.failures[:_SHOWN]:
            told = f"  {each.question_id}, {each.model}, {each.samples} samples: {each.reason}"
            yield shortened(printable(told), 200)


def _line(row: Row) -> str:
    name = shortened(printable(row.model), 14)
    name = name if row.temperature is None else f"{name} at {row.temperature:g}"
    rates = (row.micro_precision, row.micro_recall, row.macro_precision, row.macro_recall)
    cells = [f"{row.samples:,}", f"{row.expected:,}", f"{row.found:,}"]
    cells += ["undefined" if rate is None else f"{rate:.3f}" for rate in rates]
    return f"  {name:22}{row.kind.value:10}" + "".join(f"{cell:>11}" for cell in cells)
