"""The commands and their options, and how any error ends: one line, exit code 2."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

from ..assuming import Assuming
from ..errors import RagRuleError
from ..printable import shortened
from ..probing.conduct import OnNoRetrieval
from ..probing.gating import OnNewQuery
from ..probing.limits import Limits
from ..probing.replaying import WantedScope
from ..probing.retries import Retries
from ..settings import DEFAULT_TIMEOUT, MOST_REPLAYS, MinerName, Rules, Settings
from ..version import __version__
from .conditions import SYNTAX
from .demo import demo
from .explain import ASK_ABOVE, estimate, explain
from .frameworks import Framework
from .models import KEY
from .requests import Request, parsed_ids, parsed_prices, parsed_store
from .stores import store
from .terminal import print_lines, say

app = typer.Typer(
    name="rag-rules",
    help="Explain the answers of a RAG application by rules over its retrieved sources.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(store)

_USUAL, _USUAL_RETRIES = Assuming(), Retries()

Question = Annotated[str | None, typer.Option(help="The question to answer and to explain.")]
App = Annotated[
    str | None,
    typer.Option(metavar="MODULE:OBJECT", help="Explain this application, imported from this folder."),
]
FrameworkOption = Annotated[
    Framework | None,
    typer.Option("--framework", help="What it is built with, where that cannot be told."),
]
InputKey = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="The application takes {KEY: question}; 'messages' makes messages."),
]
Input = Annotated[
    str | None, typer.Option(metavar="JSON", help="The application's whole input, as JSON.")
]
Documents = Annotated[
    Path | None,
    typer.Option(metavar="FILE_OR_DIR", help="Serve the application these instead of retrieving."),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A logged answer, as text, or an incident, as JSON."),
]
Pinned = Annotated[
    list[str] | None,
    typer.Option(metavar="IDS", help="Always retain these, in no rule; separate by commas."),
]
ScopeOption = Annotated[
    WantedScope,
    typer.Option("--scope", help="Explain by what the model was shown, or all that was retrieved."),
]
NewQuery = Annotated[
    OnNewQuery | None, typer.Option(help="What a replay gets that asks what the baseline did not.")
]
NoRetrieval = Annotated[OnNoRetrieval, typer.Option(help="Whether a replay may retrieve nothing.")]
Sources = Annotated[
    Path | None,
    typer.Option(metavar="FILE_OR_DIR", help="A .jsonl of {id?, title?, text}, or a folder of texts."),
]
TopK = Annotated[int | None, typer.Option(min=1, help="Retrieve this many of the sources by BM25.")]
Predicate = Annotated[str, typer.Option(metavar="P", help=f"The condition: {SYNTAX}.")]
OmissionPredicate = Annotated[
    str | None,
    typer.Option(metavar="P", help="That of omission rules; by default the opposite of --predicate."),
]
RulesOption = Annotated[Rules, typer.Option("--rules", help="Which kinds of rule to mine.")]
Miner = Annotated[
    MinerName, typer.Option(help="How to search. auto: exact, capped where it may cost much.")
]
PricedModel = Annotated[str | None, typer.Option("--model", help="The model whose --price is taken.")]
Model = Annotated[
    str | None, typer.Option(help=f"Ask this OpenAI-compatible model; its key is in {KEY}.")
]
BaseUrl = Annotated[str | None, typer.Option(help="The model's endpoint.")]
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
        help="Prices of a million tokens; '*' for any other model. May be given several times.",
    ),
]
Timeout = Annotated[float | None, typer.Option(help="Seconds one replay may take.")]
RetriesOption = Annotated[int, typer.Option("--retries", min=0, help="Further tries of a failed replay.")]
Speculate = Annotated[
    float, typer.Option(help="The most of all probes that may be wasted to be done sooner, e.g. 0.1.")
]
Lockstep = Annotated[bool, typer.Option("--lockstep", help="Probe in rounds: always the same probes.")]
StoreUrl = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Keep paid answers here: a SQLite file or a database."),
]
Namespace = Annotated[
    str | None,
    typer.Option(help="Whose answers these are; a new one when the application changes."),
]
AnswerTokens = Annotated[int, typer.Option(min=0, help="Tokens that an answer is taken to have.")]
SecondsPerReplay = Annotated[float, typer.Option(min=0, help="Seconds that a replay is taken to last.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Most replays in flight.")]
WithoutSources = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The answer to no sources at all, instead of asking.")
]
RepeatCheck = Annotated[bool, typer.Option(help="Replay all sources once more before mining.")]
Yes = Annotated[bool, typer.Option("--yes", help=f"Do not ask before more than {ASK_ABOVE} replays.")]
Json = Annotated[bool, typer.Option("--json", help="Print the explanation as JSON, and nothing else.")]


@app.command("demo")
def _demo() -> None:
    """Explain two stories, offline: one document that spoils an answer, and a pair that does."""
    demo()


@app.command("explain")
def _explain(  # noqa: PLR0913, PLR0917 -- one parameter an option
    question: Question = None,
    sources: Sources = None,
    top_k: TopK = None,
    app: App = None,
    framework: FrameworkOption = None,
    input_key: InputKey = None,
    input: Input = None,  # noqa: A002 -- the option's name
    documents: Documents = None,
    baseline: BaselineFile = None,
    pinned: Pinned = None,
    scope: ScopeOption = "seen",
    on_new_query: NewQuery = None,
    on_no_retrieval: NoRetrieval = "error",
    predicate: Predicate = "same-answer",
    omission_predicate: OmissionPredicate = None,
    rules: RulesOption = "both",
    miner: Miner = "auto",
    model: Model = None,
    base_url: BaseUrl = None,
    temperature: Temperature = None,
    max_replays: MaxReplays = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    price: PriceOption = None,
    concurrency: Concurrency = 8,
    timeout: Timeout = DEFAULT_TIMEOUT,
    retries: RetriesOption = _USUAL_RETRIES.most,
    speculate: Speculate = 0.0,
    lockstep: Lockstep = False,
    store: StoreUrl = None,
    namespace: Namespace = None,
    answer_without_sources: WithoutSources = None,
    repeat_check: RepeatCheck = True,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Explain the answer to one question, from given sources or of an application.

    Without --app and --model, the offline reader answers: an extractive reader that needs no key.
    """
    # The offline reader's replays are free: no cap below the most that there can be.
    cap = max_replays or (None if model or app else MOST_REPLAYS)
    settings = Settings(
        rules=rules,
        miner=miner,
        limits=Limits(cap, max_tokens, max_cost, max_seconds),
        prices=parsed_prices(price),
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        speculate=speculate,
        lockstep=lockstep,
        store=parsed_store(store, namespace),
        check_repeatable=repeat_check,
        answer_without_sources=answer_without_sources,
    )
    request = Request(
        question=question,
        sources=sources,
        top_k=top_k,
        app=app,
        framework=framework,
        input_key=input_key,
        input=input,
        documents=documents,
        baseline=baseline,
        pinned=parsed_ids(pinned),
        scope=scope,
        on_new_query=on_new_query,
        on_no_retrieval=on_no_retrieval,
        predicate=predicate,
        omission_predicate=omission_predicate,
        model=model,
        base_url=base_url,
        temperature=temperature,
        yes=yes,
        json=json,
    )
    explain(request, settings)


@app.command("estimate")
def _estimate(  # noqa: PLR0913, PLR0917 -- one parameter an option
    question: Question = None,
    sources: Sources = None,
    top_k: TopK = None,
    app: App = None,
    framework: FrameworkOption = None,
    input_key: InputKey = None,
    input: Input = None,  # noqa: A002 -- the option's name
    documents: Documents = None,
    pinned: Pinned = None,
    rules: RulesOption = "both",
    miner: Miner = "auto",
    model: PricedModel = None,
    price: PriceOption = None,
    max_replays: MaxReplays = None,
    concurrency: Concurrency = 8,
    answer_tokens: AnswerTokens = _USUAL.answer_tokens,
    seconds_per_replay: SecondsPerReplay = _USUAL.seconds_per_replay,
    repeat_check: RepeatCheck = True,
    json: Json = False,
) -> None:
    """Say what explaining would cost at best, typically and at worst, before anything is spent.

    With --app, the application retrieves once, and no model is shown what it found.
    """
    settings = Settings(
        rules=rules,
        miner=miner,
        limits=Limits(max_replays),
        prices=parsed_prices(price),
        concurrency=concurrency,
        check_repeatable=repeat_check,
    )
    request = Request(
        question=question,
        sources=sources,
        top_k=top_k,
        app=app,
        framework=framework,
        input_key=input_key,
        input=input,
        documents=documents,
        pinned=parsed_ids(pinned),
        json=json,
    )
    estimate(request, settings, Assuming(answer_tokens, seconds_per_replay, model))


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print_lines([__version__])
        raise typer.Exit
    if context.invoked_subcommand is None:
        print_lines([context.get_help()])


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs ``rag-rules``; exits with 0, 2 for bad input, or 130 after an interrupt."""
    try:
        code = app(args=arguments, standalone_mode=False)
    except RagRuleError as error:
        say(f"rag-rules: {shortened(str(error), 1200)}")
        sys.exit(2)
    except TyperException as error:
        say(f"rag-rules: {_told(error).rstrip('.')}. See rag-rules --help.")
        sys.exit(2)
    except (KeyboardInterrupt, Abort):
        say("rag-rules: interrupted")
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _told(error: TyperException) -> str:
    told = getattr(error, "format_message", None)
    return str(told() if callable(told) else error)
