"""This module defines the options of ``rag-rules audit``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..audit.blame_plan import check_rate
from ..audit.engine import WORKERS
from ..errors import InvalidInput
from ..predicates import Predicate
from ..probing.limits import Limits
from ..settings import Settings
from .conditions import SYNTAX, parsed
from .judges import JudgeOptions
from .options import (
    App,
    FrameworkOption,
    InputKey,
    JudgeBaseUrl,
    JudgeBatch,
    JudgeModel,
    JudgeSamples,
    Reference,
    Sources,
    TopK,
    place,
)
from .requests import SubjectOptions
from .searching import SearchOptions, check_priced
from .terminal import unstyled

AuditedFile = Annotated[
    Path,
    typer.Option(
        parser=place,
        metavar="FILE",
        help="A question on each line: text, JSON {question, id?, sources?}, or a .csv with a column "
        "'question'.",
    ),
]
ReportFolder = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        parser=place,
        metavar="DIR",
        help="The folder for the report. An audit that was stopped goes on in it.",
    ),
]
BadOutcome = Annotated[
    str, typer.Option("--predicate", metavar="P", help=f"What a bad answer is: {unstyled(SYNTAX)}.")
]
GoodOutcome = Annotated[
    str | None,
    typer.Option("--good", metavar="P", help="What a good answer is; by default, one that is not bad."),
]
SavedAs = Annotated[
    Literal["html", "json", "none"],
    typer.Option("--explanations", help="The form in which each explanation is saved."),
]
AllReplays = Annotated[
    int | None,
    typer.Option(
        min=1, help="Stop after this many replays of all questions, in all runs with the same --out."
    ),
]
AllTokens = Annotated[int | None, typer.Option(min=1, help="The same for tokens.")]
AllCost = Annotated[float | None, typer.Option(help="The same for their cost; needs --price.")]
AllSeconds = Annotated[float | None, typer.Option(help="The same for seconds, of this run alone.")]
QuestionsAtOnce = Annotated[
    int, typer.Option(min=1, help="Questions that are explained at the same time.")
]
EngineOption = Annotated[
    Literal["process", "ray"],
    typer.Option("--engine", help="Where questions are explained: in this process, or on a Ray cluster."),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="The Ray cluster: auto, HOST:PORT or ray://HOST:PORT; by default, this machine alone.",
    ),
]
Actors = Annotated[
    int | None, typer.Option(min=1, help="Workers on the cluster; by default, one per processor.")
]
RayWorkingDir = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="The folder of the application, which Ray brings to its workers."),
]
ReplaysPerMinute = Annotated[
    float | None, typer.Option(help="With --engine ray: replays that all workers begin in a minute.")
]
TokensPerMinute = Annotated[float | None, typer.Option(help="The same for tokens, on average.")]

Fdr = Annotated[
    float | None,
    typer.Option(
        "--fdr",
        metavar="SHARE",
        help="List the documents to blame, of which at most this share is innocent, on average. Fresh "
        "replays test them.",
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option(
        "--deterministic", help="The application never varies: what a proved rule blames needs no test."
    ),
]
BlameReplays = Annotated[
    int | None, typer.Option(min=0, help="At most this many replays for these tests.")
]


@dataclass(frozen=True, slots=True)
class AuditedBlame:
    """These options say how it is tested which documents are to blame for bad answers."""

    fdr: Fdr = None
    deterministic: Deterministic = False
    blame_replays: BlameReplays = None

    def fields(self) -> dict[str, Any]:
        """Returns these options as keywords of ``audit``. Raises InvalidInput if ``fdr`` cannot be a
        false discovery rate, or if it is None although another of these options is given."""
        if self.fdr is not None:
            check_rate(self.fdr)
        elif self.deterministic or self.blame_replays is not None:
            raise InvalidInput(
                "--deterministic and --blame-replays are for a list of documents to blame; give --fdr "
                "0.05, or leave them out"
            )
        return {
            "fdr": self.fdr,
            "deterministic": self.deterministic,
            "blame_replays": self.blame_replays,
        }


@dataclass(frozen=True, slots=True)
class AuditedSubject:
    """These options give the questions, the application or the sources that answer them, and the folder
    of the report."""

    questions: AuditedFile
    out: ReportFolder
    app: App = None
    framework: FrameworkOption = None
    input_key: InputKey = None
    sources: Sources = None
    top_k: TopK = None
    explanations: SavedAs = "html"

    def asking(self, question: str) -> SubjectOptions:
        """Returns the options that explain one question."""
        return SubjectOptions(
            question,
            sources=self.sources,
            top_k=self.top_k,
            app=self.app,
            framework=self.framework,
            input_key=self.input_key,
        )


@dataclass(frozen=True, slots=True)
class AuditedOutcomes:
    """These options say which answers are bad and which are good, and name the judge."""

    predicate: BadOutcome
    good: GoodOutcome = None
    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None
    judge_samples: JudgeSamples = 1
    judge_batch: JudgeBatch = 1
    reference: Reference = None

    def predicates(self) -> tuple[Predicate, Predicate | None]:
        """Returns the conditions of bad and of good answers; the second is None without ``--good``.
        Raises InvalidInput for conditions that cannot be read, and for a judge that cannot be used or has
        nothing to decide."""
        options = JudgeOptions(
            self.judge_model, self.judge_base_url, self.judge_samples, self.reference, self.judge_batch
        )
        options.check((self.predicate, self.good))
        judged = options.judged_conditions(options.judge())
        return parsed(self.predicate, judged), None if self.good is None else parsed(self.good, judged)


@dataclass(frozen=True, slots=True)
class AuditedTogether:
    """These options say what all questions together may spend, and where they are explained."""

    all_replays: AllReplays = None
    all_tokens: AllTokens = None
    all_cost: AllCost = None
    all_seconds: AllSeconds = None
    workers: QuestionsAtOnce = WORKERS
    engine: EngineOption = "process"
    ray_address: RayAddress = None
    actors: Actors = None
    ray_working_dir: RayWorkingDir = None
    replays_per_minute: ReplaysPerMinute = None
    tokens_per_minute: TokensPerMinute = None

    def engine_chosen(self) -> Any:
        """Returns the engine that ``--engine`` names: "process", or an ``OnRay`` with the options of the
        cluster. Raises InvalidInput for options of a cluster with "process"."""
        of_ray = (
            self.ray_address,
            self.actors,
            self.ray_working_dir,
            self.replays_per_minute,
            self.tokens_per_minute,
        )
        if self.engine == "process":
            if any(each is not None for each in of_ray):
                raise InvalidInput(
                    "--ray-address, --actors, --ray-working-dir and the rates per minute are for "
                    "--engine ray; add it, or leave them out"
                )
            return self.engine
        # Imported only here, because they load SQLAlchemy, which the engine "process" does not need.
        from ..audit.cluster.connecting import LOCAL
        from ..audit.cluster.ledger import Rates
        from ..audit.cluster.on_ray import OnRay

        shipped = self.ray_working_dir
        environment = {} if shipped is None else {"runtime_env": {"working_dir": shipped}}
        return OnRay(
            address=self.ray_address or LOCAL,
            actors=self.actors,
            rates=Rates(self.replays_per_minute, self.tokens_per_minute),
            ray_options=environment,
        )

    def limits(self, prices: list[str] | None) -> Limits:
        """Returns the limits of the whole audit. Raises InvalidInput if the cost is limited but no prices
        are given."""
        check_priced(self.all_cost, prices, "--all-cost")
        return Limits(self.all_replays, self.all_tokens, self.all_cost, self.all_seconds, failures=None)


def audit_settings(search: SearchOptions, *, free: bool) -> Settings:
    """Returns the settings of each explanation. ``free``: True if replays cost nothing. Raises
    InvalidInput if one kind of rule is left out, because an audit needs both kinds."""
    if search.mining.rules != "both":
        raise InvalidInput("an audit needs rules of both kinds; leave --rules out")
    return search.settings(free=free)
