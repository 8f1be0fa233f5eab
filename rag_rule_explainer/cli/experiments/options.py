"""The options that experiments share: their types, and what their help says."""

from pathlib import Path
from typing import Annotated

import typer

from ...experiments.models import SYNTAX
from ..terminal import unstyled

Data = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="HotpotQA's own JSON, or a .jsonl of {id, question, answer, sources: [{title, text, "
        "necessary}]}.",
    ),
]
ExampleCount = Annotated[int, typer.Option("--examples", min=1, help="Draw so many at random.")]
Seed = Annotated[int, typer.Option(help="Decides which ones are drawn, and all else that is.")]
Shuffle = Annotated[
    bool, typer.Option("--shuffle-distractors", help="Put the distractors in a random order.")
]
Necessary = Annotated[int, typer.Option(min=1, help="Draw questions with so many necessary sources.")]
Out = Annotated[
    Path, typer.Option(metavar="DIR", help="Where tables and figures go; made where it is missing.")
]
Figures = Annotated[
    bool, typer.Option("--figures/--no-figures", help="Draw figures, or leave it at the tables.")
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Keep paid answers here, and resume from there: a SQLite file or a database. By default "
        "answers.sqlite in --out.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(min=1, help="Most calls in flight; by default 8, and 1 for the offline reader."),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Ask this OpenAI-compatible model; else the offline reader answers.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="NAME", help=f"{unstyled(SYNTAX)}. May be given several times."),
]
BaseUrl = Annotated[str | None, typer.Option(help="The endpoint of a --model that names none.")]
KeyVariable = Annotated[str, typer.Option("--key", metavar="VARIABLE", help="What its key is in.")]
Temperature = Annotated[float, typer.Option(min=0.0, help="The model's temperature.")]
OutputTokens = Annotated[
    int, typer.Option("--max-output-tokens", min=1, help="Most tokens of an answer.")
]
Effort = Annotated[
    str | None,
    typer.Option(
        "--reasoning-effort",
        metavar="WORD",
        help="The model's word for the least, such as minimal or low; not sent if not given, because "
        "models that do not reason refuse it.",
    ),
]
JudgeModel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Let this model decide what near-exact match does not settle.",
    ),
]
JudgeBaseUrl = Annotated[str | None, typer.Option(help="The judge's endpoint.")]
JudgeKey = Annotated[
    str, typer.Option("--judge-key", metavar="VARIABLE", help="What the judge's key is in.")
]
Retries = Annotated[int, typer.Option("--retries", min=0, help="Further tries of a failed call.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds one call may take.")]
