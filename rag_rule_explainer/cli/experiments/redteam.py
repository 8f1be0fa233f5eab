"""This module runs ``rag-rules experiment redteam``.

It measures how many model calls are needed to find a malicious payload that is split over two sources.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from ...experiments.charts import REDTEAM_FIGURE, draw_redteam
from ...experiments.injections import Injections, injections_in
from ...experiments.models import Examined
from ...experiments.paper import stated
from ...experiments.payload import PAYLOAD_PARTS, Attack, attack, gullible_model
from ...experiments.redteam import APPROACHES, RedteamOutcome, RedteamRow, measure_redteam
from ..terminal import counted
from .ending import ExperimentEnding, cells, costs, prepare, prompts_used
from .shared_options import Endpoints, Figures, Running, Seed

_PAPERS_SOURCES = stated("red-team sources")
_PAPERS_PLACES = stated("red-team first malicious source"), stated("red-team second malicious source")

Fooled = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Attack this OpenAI-compatible model; else a scripted one that falls for the payload where "
        "it is shown both halves.",
    ),
]


@dataclass(frozen=True, slots=True)
class Attacking:
    """These options describe the attacks."""

    examples: Annotated[
        int,
        typer.Option("--examples", min=1, help="Runs, each with the payload in two other random places."),
    ] = 20
    sources: Annotated[
        int,
        typer.Option("--sources", min=PAYLOAD_PARTS, max=1000, help="Adversarial sources in each run."),
    ] = _PAPERS_SOURCES
    seed: Seed = 0
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help='Take the adversarial texts from here: a .jsonl of {"text": ...}. Lines of {"parts": '
            '[..., ...], "exploit": ...} replace the payload, and the text by which its success is '
            "known.",
        ),
    ] = None

    def injections(self) -> Injections | None:
        """Returns the malicious texts in the file ``--data``; None without this option. Raises
        InvalidInput if the file cannot be used."""
        return None if self.data is None else injections_in(self.data)

    def attacks(self, injections: Injections | None) -> list[Attack]:
        """Returns one attack for each run of the experiment. ``injections``: the malicious texts that
        the sources contain; None for this package's own texts."""
        runs = range(1, self.examples + 1)
        return [attack(self.sources, self.seed, run, injections=injections) for run in runs]


def redteam(
    endpoints: Endpoints,
    running: Running,
    attacking: Attacking,
    model: Fooled = None,
    figures: Figures = True,
) -> None:
    """Count the model calls until a split payload is found.

    Each run mines the minimal retention rules of "the answer contains the exploit hash" in three ways.
    as-written: the paper's divide and conquer, exact over the groups of each round, with nothing kept
    between rounds; it starts with all sources as one group. answers-kept: this package's grouped search,
    which replays nothing twice and tests its rule once more together with all dropped sources. sampled:
    this package's sampled search; the table also says after how many probes the rule was first reported,
    unverified. The question has nothing to do with the payload, so a reply with the exploit hash obeys a
    source.

    Writes redteam.csv (a line for each run and way), redteam_rounds.csv (calls by round), failures.csv
    and redteam.png to --out.

    Examples:
      rag-rules experiment redteam --out a
      rag-rules experiment redteam --examples 5 --sources 20 --out b
      rag-rules experiment redteam --model gpt-4o-mini --out c

    Environment:
      OPENAI_API_KEY   key of --model (or see --key)
      OPENAI_BASE_URL  endpoint of a model that names none

    Exit codes:
      0    every run is in the table
      2    bad input
      3    some are in failures.csv; the model may have ignored the payload
      130  interrupted; run the same command to continue
    """
    injections = attacking.injections()
    scripted = gullible_model(injections.payloads if injections else ())
    (attacked,) = endpoints.examined((model,) if model else (), scripted)
    raise _measured(attacking, attacking.attacks(injections), attacked, running, figures=figures)


def _measured(
    attacking: Attacking, attacks: list[Attack], attacked: Examined, running: Running, *, figures: bool
) -> typer.Exit:
    """Measures the attacks, writes the results, and returns the exception that ends the command.
    ``figures``: True to draw figures too."""
    settings, out = running.settings([attacked], attacked.namespace), running.out
    prepare(out, "redteam.csv", figures=figures)
    with counted("runs") as progress:
        outcome = measure_redteam(attacks, attacked, settings, progress)
    subject = f"{attacking.sources} sources, {len(attacks):,} placements, {attacked.name}"
    draw = partial(draw_redteam, outcome.rows, outcome.rounds, subject, out) if figures else None
    used = prompts_used([attacked])
    ending = ExperimentEnding(out, len(attacks), settings, [REDTEAM_FIGURE], draw, prompts=used)
    failed = "searches came to nothing, and are in failures.csv alone:"
    return ending.conclude(outcome, _lines(outcome, attacking.sources), failed)


def _lines(outcome: RedteamOutcome, sources: int) -> Iterator[str]:
    yield costs(outcome, f"{outcome.done:,} runs", judged=False)
    if outcome.rows:
        yield from _table(outcome.rows)
    bounds = sorted(row.bound for row in outcome.rows if row.bound is not None)
    if bounds:
        yield (
            f"bound of as-written (2^g for each round of g groups), by place: {bounds[0]} to {bounds[-1]}"
        )
    if sources == _PAPERS_SOURCES:
        first, second = _PAPERS_PLACES
        yield (
            f"the paper states a bound of {stated('red-team bound')} for sources {first} and {second} of "
            f"{sources}, and no count of calls"
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
