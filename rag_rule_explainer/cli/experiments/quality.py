"""This module runs ``rag-rules experiment quality``, which measures how often a model's answers are
right."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InvalidInput
from ...experiments.examples import Criteria, Example, drawn
from ...experiments.models import Examined
from ...experiments.published import examples_in
from ...experiments.quality import GivenReply, QualityRow, measure_quality, quality_rows
from ...experiments.tables import write_csv, write_jsonl
from ...printable import printable
from ...settings import Settings
from ..terminal import counted, print_lines
from .ending import interrupted, prepare, prompts_used
from .shared_options import AskedModel, Endpoints, Running, Seed

_ANYTHING = Criteria(longest_answer=10_000, fewest_necessary=1, most_necessary=None, fewest_sources=1)

AnswerFiles = Annotated[
    list[Path],
    typer.Option("--data", metavar="FILE", help="As for the others. May be given several times."),
]
EachExamples = Annotated[
    int | None, typer.Option("--examples", min=1, help="Draw so many of each file; all if not given.")
]


def quality(
    data: AnswerFiles,
    endpoints: Endpoints,
    running: Running,
    examples: EachExamples = None,
    seed: Seed = 0,
    model: AskedModel = None,
) -> None:
    """Measure how often a model's answer is right: with all, only the necessary, and only other sources.

    Answers are compared by near-exact match; shares have 95 % intervals. Writes quality.csv,
    and every answer to answers.jsonl, to --out.

    Examples:
      rag-rules experiment quality --data a.jsonl --out a
      rag-rules experiment quality --data a.jsonl --examples 50 --model M --out b
      rag-rules experiment quality --data a.jsonl --data b.jsonl --model M --out c

    Environment:
      OPENAI_API_KEY   key of --model (or see --key)
      OPENAI_BASE_URL  endpoint of a model that names none

    Exit codes:
      0    every question was answered
      2    bad input
      3    some failed
      130  interrupted; run the same command to continue
    """
    (examined,) = endpoints.examined(() if model is None else (model,))
    found = {path: _examples(path, examples, seed) for path in data}
    if len({path.stem for path in found}) < len(found):
        raise InvalidInput("two files of --data have one name, and rows go by it; rename one of them")
    settings, out = running.settings([examined], examined.namespace), running.out
    prepare(out, "quality.csv")
    rows = _measured(found, examined, settings, out)
    used = [prompts_used([examined])]
    print_lines([*_lines(rows), *filter(None, used), f"written to {out}: quality.csv, answers.jsonl"])
    raise typer.Exit(3 if any(row.failed for row in rows) else 0)


def _measured(
    found: Mapping[Path, Sequence[Example]], examined: Examined, settings: Settings, out: Path
) -> list[QualityRow]:
    """Measures the model on the questions of each file. Returns the rows of all files, and writes the
    rows and the answers into ``out``. ``found``: the questions by file."""
    rows, everything = list[QualityRow](), list[tuple[Path, GivenReply]]()
    for number, (path, listed) in enumerate(found.items()):
        with counted(f"answers to {printable(path.name)}") as progress:
            given = measure_quality(listed, examined, settings, progress)
        if given is None:
            raise interrupted(number, len(found), settings)
        rows += quality_rows(path.stem, examined, given)
        everything += [(path, each) for each in given]
    write_csv(out / "quality.csv", QualityRow, rows)
    records = ({"data": path.stem, **each.record()} for path, each in everything)
    write_jsonl(out / "answers.jsonl", records)
    return rows


def _examples(path: Path, count: int | None, seed: int) -> Sequence[Example]:
    listed = examples_in(path)
    return tuple(listed) if count is None else drawn(listed, count, seed, _ANYTHING).examples


def _lines(rows: Sequence[QualityRow]) -> Iterator[str]:
    yield f"{'':34}{'exact':>7}{'N/A':>7}{'other':>7}{'failed':>7}   share of exact answers"
    for row in rows:
        counts = "".join(f"{count:>7,}" for count in (row.exact, row.declined, row.other, row.failed))
        yield f"{printable(row.data):<16}{row.shown:<18}{counts}   {row.share}"
