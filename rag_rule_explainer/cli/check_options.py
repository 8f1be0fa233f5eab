"""This module defines the options of ``rag-rules check``."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from ..errors import InvalidInput
from ..explanation.question_check import QuestionCheck
from ..instrumentation.importing import load_application
from ..mining import Sampled
from ..report.saving import check_place
from ..settings import Settings
from .conditions import SYNTAX
from .forms import MATRIX, chosen_form
from .options import (
    App,
    Documents,
    FrameworkOption,
    InputKey,
    Json,
    JudgeBaseUrl,
    JudgeBatch,
    JudgeModel,
    JudgeSamples,
    Pinned,
    Reference,
    Sources,
    TopK,
)
from .output_options import OutOption
from .requests import Condition, SubjectOptions
from .searching import Spending, Testing, VotingOptions
from .terminal import stdout_kept, unstyled

CheckedKind: TypeAlias = Literal["retention", "omission", "both"]

QuestionsFile = Annotated[
    Path,
    typer.Option(
        metavar="FILE", help="A question on each line: text, or JSON {question, id?, sources?}."
    ),
]
Forbidden = Annotated[str, typer.Option(metavar="P", help=f"What no answer may be: {unstyled(SYNTAX)}.")]
MaxSize = Annotated[
    int | None, typer.Option(min=0, help="Forbid only rules that name at most so many sources.")
]
CheckedKinds = Annotated[
    CheckedKind,
    typer.Option("--kind", help="Forbid rules about documents that are retained, or omitted."),
]
Explanations = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Save the explanation of each question here, as soon as it is made."
    ),
]


@dataclass(frozen=True, slots=True)
class ForbiddenOptions:
    """These options say what is forbidden, and name the judge."""

    forbid: Forbidden
    max_size: MaxSize = None
    kind: CheckedKinds = "retention"
    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None
    judge_samples: JudgeSamples = 1
    judge_batch: JudgeBatch = 1
    reference: Reference = None

    @property
    def condition(self) -> Condition:
        """Returns the forbidden condition. The same condition is used for retention rules and for
        omission rules."""
        judge = self.judge_model, self.judge_base_url, self.judge_samples, self.judge_batch
        return Condition(self.forbid, self.forbid, *judge, self.reference)


@dataclass(frozen=True, slots=True)
class CheckedSubject:
    """These options give the questions, and the application or the sources that answer them."""

    questions: QuestionsFile
    app: App = None
    framework: FrameworkOption = None
    input_key: InputKey = None
    documents: Documents = None
    sources: Sources = None
    top_k: TopK = None
    pinned: Pinned = None
    explanations: Explanations = None

    def asking(self, question: str, own: Path | None) -> SubjectOptions:
        """Returns the options to explain one question. ``own``: a file with sources for this question
        only; None to use the sources for all questions."""
        subject = SubjectOptions(
            question,
            self.sources,
            self.top_k,
            self.app,
            self.framework,
            self.input_key,
            None,
            self.documents,
            self.pinned,
        )
        if own is None:
            return subject
        return replace(subject, documents=own) if self.app else replace(subject, sources=own, top_k=None)

    def prepare(self) -> None:
        """Loads the application, and makes the folder for explanations. Raises InvalidInput if that
        fails, so that it fails before anything is paid for."""
        if self.app is not None:
            with stdout_kept():
                load_application(self.app)
        if self.explanations is not None:
            try:
                self.explanations.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InvalidInput(f"--explanations {self.explanations}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class CheckSearch:
    """These options say how forbidden rules are searched for."""

    testing: Testing
    spending: Spending
    voting: VotingOptions

    def settings(self, kind: CheckedKind, *, free: bool) -> Settings:
        """Returns these options as settings.

        ``kind``: the kind of rules to search for. ``free``: True if replays cost nothing, so that their
        number need hardly be limited.

        Two settings are stricter than for ``explain``, because weaker ones would leave most checks
        undecided. With several samples, every subset gets a vote. If rules are tested on random subsets,
        the confidence holds for all of these rules together, not only for each alone. Raises
        InvalidInput for options that do not fit together.
        """
        voting, testing = self.voting, self.testing
        if voting.samples > 1 and voting.vote is None and not voting.recheck:
            voting = replace(voting, vote="every")
        more = {"jointly": True} if testing.miner == "sampled" else None
        tested = testing.settings(more)
        if testing.miner == "auto":
            tested["miner"] = Sampled(jointly=True, if_many=True)
        return Settings.of(
            Settings(rules=kind, noise=voting.noise()), {**tested, **self.spending.settings(free=free)}
        )


CheckFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="FORM", help=f"Print it as one of: {', '.join(MATRIX['check'])}."),
]


@dataclass(frozen=True, slots=True)
class CheckWritten:
    """These options choose the form of the result, such as JSON, and the file for it. Raises InvalidInput
    if the command cannot write this form, or if the file cannot be written."""

    json: Json = False
    format: CheckFormat = None
    out: OutOption = None

    def __post_init__(self) -> None:
        chosen_form("check", self.format, self.out, json=self.json)
        if self.out is not None:
            check_place(self.out)

    def text(self, result: QuestionCheck) -> str:
        """Returns the result as text in the form that the user chose, such as SARIF."""
        return MATRIX["check"][chosen_form("check", self.format, self.out, json=self.json)](result)
