"""This module runs ``rag-rules judge-check``, which compares a predicate's verdicts with labels."""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from ..checking import JudgeCheck, LabelledCase, check_judge
from ..checking.text import SHOWN
from ..predicates import Predicate
from ..probing.limits import INTERRUPTED, Limits
from ..probing.retries import Retries
from ..settings import DEFAULT_TIMEOUT, Settings
from .conditions import SYNTAX, JudgedConditions, parsed
from .judges import JudgeOptions
from .labels import load_labels
from .options import (
    Json,
    JudgeBaseUrl,
    JudgeBatch,
    JudgeModel,
    JudgeSamples,
    MaxCost,
    MaxSeconds,
    MaxTokens,
    NamespaceOption,
    PriceOption,
    StoreUrl,
)
from .output_options import OutOption, ShortFormatOption
from .printing import ChosenOutput
from .searching import check_priced, parsed_prices, parsed_store
from .terminal import counted, unstyled

EACH_ITS_OWN = "consistent-with"
"""The predicate that can be written with a text or without one. Without a text, it compares each answer
with the truth that the answer's line in the file gives."""

_NEEDED = {
    EACH_ITS_OWN: {
        "truth": "which consistent-with compares the answer with; add it, or write consistent-with:TEXT"
    },
    "same-answer": {"baseline": "the answer that same-answer compares this one with; add it"},
    "cites": {"sources": "which cites looks for; add them as a list of {id, text}"},
    "mentions": {"sources": "which mentions looks for; add them as a list of {id, text}"},
}
"""For each predicate, by its name: the fields that every line of the file must have if this predicate is
checked, each with the reason."""

_USUAL_RETRIES = Retries()
_SYNTAX = SYNTAX.replace(f"{EACH_ITS_OWN}:TEXT", f"{EACH_ITS_OWN}[:TEXT]")

Labels = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS",
        help="A .jsonl of {question, answer, label}; also id, truth, reference, baseline, sources, kept.",
    ),
]
Checked = Annotated[
    str,
    typer.Option(
        metavar="P",
        help=f"What the labels are about: {unstyled(_SYNTAX)}. Without a TEXT, each line's own truth.",
    ),
]
Fallback = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What judged:TEXT refers to, on lines without a reference."),
]
InFlight = Annotated[int, typer.Option(min=1, help="Most requests in flight.")]
Seconds = Annotated[float | None, typer.Option(help="Seconds one request may take.")]
Further = Annotated[int, typer.Option(min=0, help="Further tries of a failed request.")]
Show = Annotated[int, typer.Option(min=0, help="Disagreements to show, and cases without a verdict.")]


@dataclass(frozen=True, slots=True)
class CheckedJudge:
    """These options choose the condition that the labels are about, and the judge that is checked."""

    predicate: Checked = EACH_ITS_OWN
    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None
    judge_samples: JudgeSamples = 1
    judge_batch: JudgeBatch = 1
    reference: Fallback = None

    def options(self) -> JudgeOptions:
        """Returns the options as ``JudgeOptions``, which checks them and makes the judge."""
        return JudgeOptions(
            self.judge_model,
            self.judge_base_url,
            self.judge_samples,
            self.reference,
            self.judge_batch,
        )


@dataclass(frozen=True, slots=True)
class CheckedSpending:
    """These options say what the check may spend, and where judgements are kept."""

    max_tokens: MaxTokens = None
    max_cost: MaxCost = None
    max_seconds: MaxSeconds = None
    price: PriceOption = None
    concurrency: InFlight = 8
    timeout: Seconds = DEFAULT_TIMEOUT
    retries: Further = _USUAL_RETRIES.most
    store: StoreUrl = None
    namespace: NamespaceOption = None

    def settings(self) -> Settings:
        """Returns the settings of the check. Raises InvalidInput for options that cannot be used."""
        check_priced(self.max_cost, self.price)
        return Settings(
            limits=Limits(tokens=self.max_tokens, cost=self.max_cost, seconds=self.max_seconds),
            prices=parsed_prices(self.price),
            concurrency=self.concurrency,
            timeout=self.timeout,
            retries=self.retries,
            store=parsed_store(self.store, self.namespace),
        )


@dataclass(frozen=True, slots=True)
class CheckedOutput:
    """These options choose the form in which the result is printed."""

    show: Show = SHOWN
    json: Json = False
    format: ShortFormatOption = None
    out: OutOption = None


def judge_check(
    labels: Labels,
    judge: CheckedJudge,
    spending: CheckedSpending,
    output: CheckedOutput,
) -> None:
    """Measure a judge, or any condition, against labelled answers.

    Prints precision, recall and false positive rate, each with a 95 % interval.

    Examples:
      rag-rules judge-check labels.jsonl --judge-model gpt-4o-mini
      rag-rules judge-check labels.jsonl --predicate judged:TEXT --judge-model m
      rag-rules judge-check labels.jsonl --predicate refuses --show 20

    Environment:
      OPENAI_API_KEY   key of --judge-model
      OPENAI_BASE_URL  its endpoint

    Exit codes:
      0    every answer has a verdict
      2    bad input
      3    some answers have no verdict: the judge was unsure, failed or was stopped
      130  interrupted
    """
    printed = ChosenOutput("judge-check", output.json, output.format, output.out)
    check = _checked(labels, judge.predicate, judge.options(), spending.settings())
    # Printing ends the program if the reader of the output has closed the pipe. That is suppressed, so
    # that the exit code below is right even then.
    with suppress(SystemExit):
        printed.show(check, check.lines(output.show))
    raise typer.Exit(130 if check.stop_reason == INTERRUPTED else 3 if check.unknown else 0)


def _checked(labels: Path, written: str, options: JudgeOptions, settings: Settings) -> JudgeCheck:
    options.check((written,))
    cases = load_labels(labels, _needed(written))
    judged_conditions = options.judged_conditions(options.judge())
    # The predicate is made once before all lines are judged, so that an error in it is not reported as an
    # error of some line.
    _predicate(written, judged_conditions, cases[0])
    with counted("answers judged") as progress:
        return check_judge(
            cases,
            predicate_of=lambda case: _predicate(written, judged_conditions, case),
            settings=settings,
            progress=progress,
        )


def _needed(written: str) -> dict[str, str]:
    name, colon, _ = written.removeprefix("not:").partition(":")
    return {} if name == EACH_ITS_OWN and colon else _NEEDED.get(name, {})


def _predicate(written: str, judged_conditions: JudgedConditions | None, case: LabelledCase) -> Predicate:
    """Returns the predicate for one line of the file, ``case``. It uses the truth and the reference of
    this line, if the line has them. ``written``: the predicate as the user wrote it.
    ``judged_conditions``: the judge; None if there is none."""
    if written.removeprefix("not:") == EACH_ITS_OWN:
        written = f"{written}:{case.truth}"
    if judged_conditions is not None and case.reference is not None:
        judged_conditions = replace(judged_conditions, reference=case.reference)
    return parsed(written, judged_conditions)
