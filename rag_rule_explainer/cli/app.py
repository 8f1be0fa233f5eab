"""The commands and their options."""

from typing import Annotated

import typer

from ..assuming import Assuming
from ..choosing import MOST_REPLAYS
from ..probing.limits import Limits
from ..probing.noise import Noise
from ..probing.retries import Retries
from ..settings import DEFAULT_TIMEOUT, Settings
from ..version import __version__
from .demo import demo
from .differences import diff
from .experiments import experiment
from .explain import estimate, explain
from .judge_check import judge_check
from .options import (
    AnswerTokens,
    App,
    BaselineFile,
    BaseUrl,
    Concurrency,
    Confidence,
    Documents,
    FrameworkOption,
    Granularity,
    Input,
    InputKey,
    Jointly,
    Json,
    JudgeBaseUrl,
    JudgeModel,
    JudgeSamples,
    Lockstep,
    MaxCost,
    MaxReplays,
    MaxRules,
    MaxSeconds,
    MaxTokens,
    MaxViolation,
    MergeDuplicates,
    MinConfidence,
    Miner,
    Model,
    Namespace,
    NewQuery,
    NoRetrieval,
    OmissionPredicate,
    Pinned,
    Predicate,
    PricedModel,
    PriceOption,
    Question,
    Recheck,
    Reference,
    RepeatCheck,
    RetriesOption,
    RulesOption,
    Samples,
    ScopeOption,
    SecondsPerReplay,
    Similarity,
    Sizes,
    Sources,
    Speculate,
    StoreUrl,
    Temperature,
    Timeout,
    TopK,
    VoteOption,
    WithoutSources,
    Yes,
)
from .requests import Request, parsed_duplicates, parsed_ids, parsed_prices, parsed_store
from .sampling import parsed_miner
from .stores import store
from .terminal import print_lines
from .verify import verify

app = typer.Typer(
    name="rag-rules",
    help="Explain the answers of a RAG application by rules over its retrieved sources.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(store)
app.add_typer(experiment)

_USUAL, _USUAL_RETRIES = Assuming(), Retries()


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
    judge_model: JudgeModel = None,
    judge_base_url: JudgeBaseUrl = None,
    judge_samples: JudgeSamples = 1,
    reference: Reference = None,
    rules: RulesOption = "both",
    miner: Miner = "auto",
    granularity: Granularity = None,
    merge_duplicates: MergeDuplicates = False,
    similarity: Similarity = None,
    max_violation: MaxViolation = None,
    confidence: Confidence = None,
    jointly: Jointly = False,
    sizes: Sizes = None,
    max_rules: MaxRules = None,
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
    samples: Samples = 1,
    vote: VoteOption = None,
    recheck: Recheck = 0,
    min_confidence: MinConfidence = 1.0,
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
        miner=parsed_miner(miner, max_violation, confidence, sizes, max_rules, jointly=jointly),
        granularity=parsed_ids(granularity),
        merge_duplicates=parsed_duplicates(similarity, merged=merge_duplicates),
        limits=Limits(cap, max_tokens, max_cost, max_seconds),
        prices=parsed_prices(price),
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        speculate=speculate,
        lockstep=lockstep,
        noise=Noise(samples, vote, recheck, min_confidence),
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
        judge_model=judge_model,
        judge_base_url=judge_base_url,
        judge_samples=judge_samples,
        reference=reference,
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
    predicate: Predicate = "same-answer",
    omission_predicate: OmissionPredicate = None,
    judge_model: JudgeModel = None,
    judge_base_url: JudgeBaseUrl = None,
    judge_samples: JudgeSamples = 1,
    reference: Reference = None,
    rules: RulesOption = "both",
    miner: Miner = "auto",
    granularity: Granularity = None,
    merge_duplicates: MergeDuplicates = False,
    similarity: Similarity = None,
    max_violation: MaxViolation = None,
    confidence: Confidence = None,
    jointly: Jointly = False,
    sizes: Sizes = None,
    max_rules: MaxRules = None,
    model: PricedModel = None,
    price: PriceOption = None,
    max_replays: MaxReplays = None,
    samples: Samples = 1,
    vote: VoteOption = None,
    min_confidence: MinConfidence = 1.0,
    concurrency: Concurrency = 8,
    answer_tokens: AnswerTokens = _USUAL.answer_tokens,
    seconds_per_replay: SecondsPerReplay = _USUAL.seconds_per_replay,
    repeat_check: RepeatCheck = True,
    json: Json = False,
) -> None:
    """Say what explaining would cost at best, typically and at worst, before anything is spent.

    With --app, the application retrieves once, and no model is shown what it found. No judge is asked.
    """
    settings = Settings(
        rules=rules,
        miner=parsed_miner(miner, max_violation, confidence, sizes, max_rules, jointly=jointly),
        granularity=parsed_ids(granularity),
        merge_duplicates=parsed_duplicates(similarity, merged=merge_duplicates),
        limits=Limits(max_replays),
        noise=Noise(samples, vote, min_confidence=min_confidence),
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
        predicate=predicate,
        omission_predicate=omission_predicate,
        judge_model=judge_model,
        judge_base_url=judge_base_url,
        judge_samples=judge_samples,
        reference=reference,
    )
    estimate(request, settings, Assuming(answer_tokens, seconds_per_replay, model))


app.command("diff")(diff)
app.command("judge-check")(judge_check)
app.command("verify")(verify)


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
