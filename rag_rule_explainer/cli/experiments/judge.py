"""This module runs ``rag-rules experiment judge``.

It draws judgements at random, so that a person can label them. It then measures the judge by these
labels.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InvalidInput, MissingExtra
from ...experiments.judge_figures import Figure, draw_judge, judge_rows
from ...experiments.judging import (
    DRAWN,
    TO_LABEL,
    check,
    draw,
    drawn_in,
    judged_answers_in,
    write_draw,
)
from ...experiments.tables import write_csv
from ...printable import printable, shortened
from ..labels import half_labelled
from ..terminal import print_lines
from .shared_options import Out, Seed

JudgementFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--judgements",
        metavar="PATH",
        help="Draw from these: judgements.jsonl of an experiment with a judge, or its folder. May be "
        "given several times.",
    ),
]
DrawnCount = Annotated[int, typer.Option(min=1, help="Draw so many.")]
LabelFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help=f"Read the labels back: {TO_LABEL}, in which a person filled them in."
    ),
]


def judge(
    out: Out,
    judgements: JudgementFiles = None,
    count: DrawnCount = 100,
    seed: Seed = 0,
    labels: LabelFile = None,
) -> None:
    """Draw judgements to label by hand, then measure the judge.

    With --judgements: draws --count of the judgements on answers that near-exact match did not settle.
    Each reply of each model has the same chance, so an answer that was given often is drawn more often.
    Writes the answers to to_label.jsonl, without the judge's verdicts. Set each "label" there to true if
    the answer gives the same final answer as the truth, and to false if not.
    With --labels: reads the labels, prints precision, recall and false positive rate, and writes
    judge.csv and judge.png.

    Examples:
      rag-rules experiment judge --judgements a/judgements.jsonl --out b
      rag-rules experiment judge --judgements a/judgements.jsonl --count 20 --out b
      rag-rules experiment judge --labels b/to_label.jsonl --out b

    Exit codes:
      0    --count were drawn, or every one is labelled and has a verdict
      2    bad input
      3    there were fewer to draw, some have no label, or the judge was unsure of some
    """
    if bool(judgements) == (labels is not None):
        raise InvalidInput("give --judgements to draw from, or --labels to read back, and not both")
    raise typer.Exit(_draw(judgements or (), count, seed, out) if labels is None else _check(labels, out))


def _draw(paths: Sequence[Path], count: int, seed: int, out: Path) -> int:
    found = draw(judged_answers_in(paths), count, seed)
    write_draw(found, out)
    drawn, texts = found.judgements, len(found.answers)
    said_by = shortened(printable(found.answers[0].judge), 200)
    lines = [
        f"{drawn:,} of {found.of:,} judgements drawn, on {texts:,} different answers, said by {said_by}",
        f'label them in {out / TO_LABEL}: set "label" to true where the answer says what the truth does',
        f"then: rag-rules experiment judge --labels {out / TO_LABEL} --out {out}",
    ]
    if drawn < count:
        lines.insert(
            1, f"{count:,} were asked for: these are all that near-exact match did not settle, so far"
        )
    print_lines(lines)
    return 3 if drawn < count else 0


def _check(labels: Path, out: Path) -> int:
    drawn = drawn_in(out)
    labelled, unlabelled = half_labelled(labels, {"id": f"by which it is found in {DRAWN}"})
    if not labelled:
        raise InvalidInput(
            f'none of the {len(unlabelled):,} lines of {labels} has a label; set "label" to true or false'
        )
    checked = check(drawn, labelled)
    rows = list(judge_rows(checked))
    write_csv(out / "judge.csv", Figure, rows)
    # The numbers are also printed, so a missing package for drawing is no reason to fail.
    with suppress(MissingExtra):
        subject = f"{checked.cases:,} judgements, {shortened(printable(drawn[0].judge), 60)}"
        list(draw_judge(rows, subject, out))
    missing = len(drawn) - len(labelled)
    # Printing ends the program if the reader of the output has closed the pipe. That is suppressed, so
    # that the exit code is right even then.
    with suppress(SystemExit):
        if missing:
            print_lines(
                [f"{len(labelled):,} of {len(drawn):,} are labelled; the others are in no figure"]
            )
        print_lines(checked.lines())
    return 3 if missing or checked.unknown else 0
