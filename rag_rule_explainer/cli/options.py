"""This module defines the options of the commands: their types and their help texts."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..comparison import FailOn
from ..errors import InvalidInput
from ..experiments.models import USUAL_KEY
from ..instrumentation.recording.captured import OnNewQuery
from ..instrumentation.recording.exposure_checks import OnNoRetrieval
from ..mining.partition import Others
from ..probing.noise import Vote
from ..probing.replaying import WantedScope
from ..settings import MinerName, Rules
from .conditions import SYNTAX
from .terminal import unstyled

ASK_ABOVE = 300
"""The maximum number of replays of a paid model that are made without asking the user."""


def place(written: str) -> Path:
    """Returns the path. Raises InvalidInput for an empty text, which ``Path`` would read as the current
    folder."""
    if not written:
        raise InvalidInput(
            "a path is empty; name a file or a folder (is a variable of the shell not set?)"
        )
    return Path(written)


Question = Annotated[str | None, typer.Option(help="The question to answer and to explain.")]
App = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:OBJECT",
        help="Explain this application, imported from this folder (or FILE.py:OBJECT): of a framework, "
        "or a plain function.",
    ),
]
FrameworkOption = Annotated[
    str | None,
    typer.Option(
        "--framework",
        metavar="NAME",
        help="The integration that explains it, such as plain, if it cannot be found.",
    ),
]
InputKey = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="The application takes {KEY: question}; 'messages' makes messages.",
    ),
]
Input = Annotated[
    str | None, typer.Option(metavar="JSON", help="The application's whole input, as JSON.")
]
Documents = Annotated[
    Path | None,
    typer.Option(
        parser=place,
        metavar="FILE_OR_DIR",
        help="Serve the application these instead of retrieving.",
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(parser=place, metavar="FILE", help="A logged answer, as text, or an incident, as JSON."),
]
Pinned = Annotated[
    list[str] | None,
    typer.Option(
        metavar="IDS",
        help='Always retain these, in no rule; separate by commas. Write "a, b" for an id with a comma.',
    ),
]
ScopeOption = Annotated[
    WantedScope,
    typer.Option("--scope", help="Explain by what the model was shown, or all that was retrieved."),
]
NewQuery = Annotated[
    OnNewQuery | None, typer.Option(help="What a replay gets for a query that the baseline did not make.")
]
Ignored = Annotated[
    list[str] | None,
    typer.Option(
        metavar="REGEX",
        help="What may differ in model requests from run to run, such as a request number; repeatable.",
    ),
]
ReplayBound = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        help="A replay may make N times the application's own model requests, tool calls and steps; "
        "5 by default.",
    ),
]
NoRetrieval = Annotated[OnNoRetrieval, typer.Option(help="Whether a replay may retrieve nothing.")]
RuleIds = Annotated[
    list[str],
    typer.Option("--rule", metavar="IDS", help="The sources that the rule names; separate by commas."),
]
KindOption = Annotated[
    Literal["retention", "omission"],
    typer.Option("--kind", help="Whether they are retained or omitted."),
]
Sources = Annotated[
    Path | None,
    typer.Option(
        parser=place,
        metavar="FILE_OR_DIR",
        help="A .jsonl of {id?, title?, text}, or - for one from a pipe, or a folder: all .txt and .md "
        "files in it, and in its folders.",
    ),
]
TopK = Annotated[int | None, typer.Option(min=1, help="Retrieve this many of the sources by BM25.")]
PredicateOption = Annotated[str, typer.Option(metavar="P", help=f"The condition: {unstyled(SYNTAX)}.")]
OmissionPredicate = Annotated[
    str | None,
    typer.Option(metavar="P", help="That of omission rules; by default the opposite of --predicate."),
]
JudgeModel = Annotated[
    str | None,
    typer.Option(help="Let this model decide judged:TEXT, consistent-with:TEXT and same-answer."),
]
JudgeBaseUrl = Annotated[str | None, typer.Option(help="The judge's endpoint.")]
JudgeSamples = Annotated[int, typer.Option(min=1, help="Opinions on one answer; the majority counts.")]
JudgeBatch = Annotated[
    int,
    typer.Option(
        min=1,
        help="Answers in one request; of several, one may speak for the others, so nothing is proved.",
    ),
]
Reference = Annotated[
    Path | None, typer.Option(metavar="FILE", help="What the criterion of judged:TEXT refers to.")
]
RulesOption = Annotated[Rules, typer.Option("--rules", help="Which kinds of rule to mine.")]
MinerOption = Annotated[
    MinerName,
    typer.Option(
        help="How to search. auto: exact for few sources, else sampled, capped; of agents, quick. "
        "quick: few replays, weaker tests. grouped: divide groups of sources, of which only those that "
        "rules name are kept."
    ),
]
Granularity = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEYS",
        help="grouped: begin with groups by these keys of the metadata, coarse ones first, e.g. title.",
    ),
]
PartitionOption = Annotated[
    str | None,
    typer.Option(
        "--partition",
        metavar="N|KEY",
        help="Mine rules per batch: of at most so many sources, or by this key of the metadata.",
    ),
]
HeldOption = Annotated[
    Others | None,
    typer.Option(
        "--others",
        help="--partition: what becomes of other batches' sources; by default omitted for retention "
        "rules, retained for omission rules.",
    ),
]
MergeDuplicates = Annotated[
    bool,
    typer.Option(
        "--merge-duplicates", help="Retain or leave out sources with nearly the same text together."
    ),
]
Similarity = Annotated[
    float | None,
    typer.Option(help="--merge-duplicates: the share of word shingles in common; 0.9 if not given."),
]
MaxViolation = Annotated[
    float | None,
    typer.Option(help="sampled: the share of subsets that a rule may fail on; 0.05 if not given."),
]
ConfidenceOption = Annotated[
    float | None, typer.Option(help="sampled: the confidence of that; 0.95 if not given.")
]
Jointly = Annotated[
    bool,
    typer.Option("--jointly", help="sampled: hold it for all rules together, which takes more draws."),
]
Neighbours = Annotated[
    bool,
    typer.Option(
        "--neighbours",
        help="sampled: up to 12 sources, try each rule with each one more and all but each one, too.",
    ),
]
SizesOption = Annotated[
    str | None,
    typer.Option(metavar="N[,N]", help="sampled: draw more subsets with so many sources retained."),
]
MaxRules = Annotated[
    int | None, typer.Option(min=1, help="sampled: end after so many of a kind; 20 if not given.")
]
ModelOption = Annotated[
    str | None, typer.Option(help=f"Ask this OpenAI-compatible model; its key is in {USUAL_KEY}.")
]
KeyVariable = Annotated[
    str | None,
    typer.Option("--key", metavar="VARIABLE", help=f"The variable of its key, if not {USUAL_KEY}."),
]
BaseUrl = Annotated[str | None, typer.Option(help="The model's endpoint, if not OPENAI_BASE_URL.")]
Temperature = Annotated[float | None, typer.Option(min=0.0, help="The model's temperature.")]
MaxReplays = Annotated[int | None, typer.Option(min=1, help="Stop after this many replays.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Stop after this many tokens.")]
MaxCost = Annotated[float | None, typer.Option(help="Stop when this much is spent; needs --price.")]
MaxSeconds = Annotated[float | None, typer.Option(help="Stop after this many seconds.")]
PriceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="MODEL=IN,OUT[,CACHED]",
        help="Prices of a million tokens, such as gpt-4o-mini=0.15,0.6; '*' for any other model. "
        "May be given several times.",
    ),
]
Timeout = Annotated[float | None, typer.Option(help="Seconds one replay may take.")]
RetriesOption = Annotated[int, typer.Option("--retries", min=0, help="Further tries of a failed replay.")]
Speculate = Annotated[
    float, typer.Option(help="The share of probes that guesses may waste to be done sooner, e.g. 0.1.")
]
SamplesOption = Annotated[
    int, typer.Option(min=1, help="Answers to one subset at the most, where they are put to the vote.")
]
VoteOption = Annotated[
    Vote | None,
    typer.Option(
        "--vote", help="Where and how to vote; by default by majority at the border, with --samples."
    ),
]
AskedAgain = Annotated[
    int,
    typer.Option(min=0, help="Random subsets above each rule to put to the vote before it is reported."),
]
MinConfidence = Annotated[
    float, typer.Option(help="The share of its subsets that a rule must hold on, up to 12 sources.")
]
Lockstep = Annotated[bool, typer.Option("--lockstep", help="Probe in rounds: always the same probes.")]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Keep paid answers here: a SQLite file or a database."),
]
NamespaceOption = Annotated[
    str | None,
    typer.Option(help="The namespace of the answers; by default, made of the application's requests."),
]
AnswerTokens = Annotated[int, typer.Option(min=0, help="Tokens that an answer is taken to have.")]
SecondsPerReplay = Annotated[float, typer.Option(min=0, help="Seconds that a replay is taken to last.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Most replays in flight.")]
WithoutSources = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The answer to no sources at all, instead of asking.")
]
RepeatCheck = Annotated[bool, typer.Option(help="Replay all sources once more before mining.")]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help=f"Do not ask before more than {ASK_ABOVE} replays, nor where the condition is not met.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print it as JSON, and nothing else.")]
BeforeFile = Annotated[Path, typer.Argument(metavar="A", help="What explain wrote, as JSON or HTML.")]
After = Annotated[Path, typer.Argument(metavar="B", help="Another such file.")]
FailOnOption = Annotated[
    FailOn, typer.Option("--fail-on", help="Exit with 1 for gained rules, lost ones, or any difference.")
]
IdOfOption = Annotated[
    str | None,
    typer.Option("--id-of", metavar="KEY", help="Match sources by id, text, or a key of their metadata."),
]
