"""``rag-rules experiment redteam``: what finding a payload costs that is split over two sources."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Annotated

import typer

from ...experiments.figures import new_figure
from ...experiments.payload import PARTS, attack, gullible_model
from ...experiments.redteam import APPROACHES, Failure, Outcome, Round, Row, measure
from ...experiments.redteam_figures import PAPERS_BOUND, PAPERS_SOURCES, PAPERS_WORST, draw_redteam
from ...experiments.tables import write_csv
from ...printable import printable, shortened
from ..terminal import counted, print_lines
from .asked import Endpoints, Running, interrupted
from .folders import discard, prepare
from .options import (
    Figures,
    Seed,
)

_SHOWN = 5

Runs = Annotated[
    int,
    typer.Option("--examples", min=1, help="Runs, each with the payload in two other random places."),
]
SourceCount = Annotated[
    int, typer.Option("--sources", min=PARTS, max=1000, help="Adversarial sources in each run.")
]
Fooled = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Attack this OpenAI-compatible model; else a scripted one that falls for the payload where "
        "it is shown both halves.",
    ),
]


def redteam(
    endpoints: Endpoints,
    running: Running,
    examples: Runs = 20,
    sources: SourceCount = PAPERS_SOURCES,
    seed: Seed = 0,
    model: Fooled = None,
    figures: Figures = True,
) -> None:
    """Count the model calls that it takes to find a payload that is split over two sources.

    Each run mines the minimal retention rules of "the answer contains the exploit hash" in three ways:
    as-written, the paper's divide and conquer, exact over the groups of each round, with nothing kept
    from round to round; answers-kept, this package's grouped search, which replays nothing twice and
    tries its rule once more beside all that was dropped; sampled, this package's sampled search, of which
    is also said when the rule was first told, unverified.

    Writes redteam.csv (a line for each run and way), redteam_rounds.csv (calls by round), failures.csv
    and redteam.png to --out.

    Exit code 0: every run is in the table; 2: bad input; 3: some are in failures.csv instead, such as
    those of a model that did not fall for the payload; 130: interrupted, and the same command goes on.
    """
    (attacked,) = endpoints.examined((model,) if model else (), gullible_model())
    if figures:
        new_figure("", "")  # before anything is paid for, whether it can be drawn
    attacks = [attack(sources, seed, run) for run in range(1, examples + 1)]
    settings, out = running.settings([attacked], attacked.namespace), running.out
    prepare(out, "redteam.csv")
    with counted("runs") as progress:
        outcome = measure(attacks, attacked, settings, progress)
    if outcome.interrupted:
        raise interrupted(outcome.runs, len(attacks), settings.store)
    write_csv(out / "redteam.csv", Row, outcome.rows)
    write_csv(out / "redteam_rounds.csv", Round, outcome.rounds)
    write_csv(out / "failures.csv", Failure, outcome.failures)
    subject = f"{sources} sources, {examples:,} placements, {attacked.name}"
    discard(out, ["redteam.png"])
    drawn = figures and draw_redteam(outcome.rows, outcome.rounds, subject, out / "redteam.png")
    files = "redteam.csv, redteam_rounds.csv" + (", redteam.png" if drawn else "")
    print_lines([*_lines(outcome, sources), f"written to {out}: {files}"])
    raise typer.Exit(3 if outcome.failures else 0)


def _lines(outcome: Outcome, sources: int) -> Iterator[str]:
    yield (
        f"{outcome.runs:,} runs; {outcome.calls:,} model calls, {outcome.stored:,} answers out of the "
        "store"
    )
    if outcome.rows:
        yield from _table(outcome.rows)
    if sources == PAPERS_SOURCES:
        yield (
            f"the paper, of {sources} sources: {PAPERS_WORST} calls as it counts them, "
            f"and a bound of {PAPERS_BOUND}"
        )
    if outcome.failures:
        yield f"{len(outcome.failures):,} searches came to nothing, and are in failures.csv alone:"
        for failure in outcome.failures[:_SHOWN]:
            yield shortened(printable(f"  run {failure.run}, {failure.approach}: {failure.reason}"), 200)


def _table(rows: Sequence[Row]) -> Iterator[str]:
    heads = ("mean calls", "worst", "found", "first told: mean", "worst")
    yield f"  {'':14}{''.join(f'{head:>18}' for head in heads)}"
    for approach in APPROACHES:
        own = [row for row in rows if row.approach == approach]
        if not own:
            continue
        told = [row.first_told for row in own if row.first_told is not None]
        cells = (
            f"{fmean(row.calls for row in own):.1f}",
            f"{max(row.calls for row in own)}",
            f"{sum(row.found for row in own)} of {len(own)}",
            *((f"{fmean(told):.1f}", f"{max(told)}") if told else ("-", "-")),
        )
        yield f"  {approach:14}{''.join(f'{cell:>18}' for cell in cells)}"
