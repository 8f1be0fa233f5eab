"""This module runs ``rag-rules experiment redteam``.

It measures how many model calls are needed to find a malicious payload that is split over two sources.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import Annotated

import typer

from ...experiments.charts import (
    PAPERS_BOUND,
    PAPERS_SOURCES,
    PAPERS_WORST,
    REDTEAM_FIGURE,
    draw_redteam,
)
from ...experiments.payload import PAYLOAD_PARTS, attack, gullible_model
from ...experiments.redteam import APPROACHES, RedteamOutcome, RedteamRow, measure_redteam
from ..terminal import counted
from .ending import ExperimentEnding, cells, costs, prepare
from .shared_options import Endpoints, Figures, Running, Seed

Runs = Annotated[
    int,
    typer.Option("--examples", min=1, help="Runs, each with the payload in two other random places."),
]
AttackSize = Annotated[
    int, typer.Option("--sources", min=PAYLOAD_PARTS, max=1000, help="Adversarial sources in each run.")
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
    sources: AttackSize = PAPERS_SOURCES,
    seed: Seed = 0,
    model: Fooled = None,
    figures: Figures = True,
) -> None:
    """Count the model calls that are needed to find a payload split over two sources.

    Each run mines the minimal retention rules of "the answer contains the exploit hash" in three ways.
    as-written: the paper's divide and conquer, exact over the groups of each round, with nothing kept
    between rounds. answers-kept: this package's grouped search, which replays nothing twice and tests
    its rule once more together with all dropped sources. sampled: this package's sampled search; the
    table also says after how many probes the rule was first reported, unverified.

    Writes redteam.csv (a line for each run and way), redteam_rounds.csv (calls by round), failures.csv
    and redteam.png to --out.

    Exit code 0: every run is in the table; 2: bad input; 3: some are in failures.csv instead, for
    example if the model ignored the payload; 130: interrupted; run the same command to continue.
    """
    (attacked,) = endpoints.examined((model,) if model else (), gullible_model())
    attacks = [attack(sources, seed, run) for run in range(1, examples + 1)]
    settings, out = running.settings([attacked], attacked.namespace), running.out
    prepare(out, "redteam.csv", figures=figures)
    with counted("runs") as progress:
        outcome = measure_redteam(attacks, attacked, settings, progress)
    subject = f"{sources} sources, {examples:,} placements, {attacked.name}"
    draw = partial(draw_redteam, outcome.rows, outcome.rounds, subject, out) if figures else None
    ending = ExperimentEnding(out, len(attacks), settings, [REDTEAM_FIGURE], draw)
    failed = "searches came to nothing, and are in failures.csv alone:"
    raise ending.conclude(outcome, _lines(outcome, sources), failed)


def _lines(outcome: RedteamOutcome, sources: int) -> Iterator[str]:
    yield costs(outcome, f"{outcome.done:,} runs", judged=False)
    if outcome.rows:
        yield from _table(outcome.rows)
    if sources == PAPERS_SOURCES:
        yield (
            f"the paper, of {sources} sources: {PAPERS_WORST} calls as it counts them, "
            f"and a bound of {PAPERS_BOUND}"
        )


def _table(rows: Sequence[RedteamRow]) -> Iterator[str]:
    heads = ("mean calls", "worst", "found", "first told: mean", "worst")
    yield cells("", 14, heads, 18)
    for approach in APPROACHES:
        own = [row for row in rows if row.approach == approach]
        if not own:
            continue
        counts = [row.first_told for row in own if row.first_told is not None]
        told_cells = (
            f"{fmean(row.calls for row in own):.1f}",
            f"{max(row.calls for row in own)}",
            f"{sum(row.found for row in own)} of {len(own)}",
            *((f"{fmean(counts):.1f}", f"{max(counts)}") if counts else ("-", "-")),
        )
        yield cells(approach, 14, told_cells, 18)
