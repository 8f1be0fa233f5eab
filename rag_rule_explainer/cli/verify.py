"""``rag-rules verify``: one rule of an answer, and whether it holds."""

from contextlib import suppress

import typer

from ..choosing import MOST_REPLAYS
from ..errors import InvalidInput
from ..probing.limits import Limits
from ..probing.noise import Noise
from ..probing.retries import Retries
from ..rules import RuleKind
from ..settings import DEFAULT_TIMEOUT, Settings
from .explain import asked, said_of, show
from .options import (
    App,
    BaselineFile,
    BaseUrl,
    Concurrency,
    Confidence,
    Documents,
    FrameworkOption,
    Input,
    InputKey,
    Json,
    JudgeBaseUrl,
    JudgeModel,
    JudgeSamples,
    KindOption,
    Lockstep,
    MaxCost,
    MaxReplays,
    MaxSeconds,
    MaxTokens,
    MaxViolation,
    MergeDuplicates,
    Miner,
    Model,
    Namespace,
    NewQuery,
    NoRetrieval,
    OmissionPredicate,
    Pinned,
    Predicate,
    PriceOption,
    Question,
    Recheck,
    Reference,
    RepeatCheck,
    RetriesOption,
    RuleIds,
    Samples,
    ScopeOption,
    Similarity,
    Sizes,
    Sources,
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
from .terminal import print_lines

_USUAL_RETRIES = Retries()
_CODES = {True: 0, False: 1, None: 3}


def verify(  # noqa: PLR0913, PLR0917 -- one parameter an option
    rule: RuleIds,
    kind: KindOption,
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
    miner: Miner = "auto",
    merge_duplicates: MergeDuplicates = False,
    similarity: Similarity = None,
    max_violation: MaxViolation = None,
    confidence: Confidence = None,
    sizes: Sizes = None,
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
    lockstep: Lockstep = False,
    samples: Samples = 1,
    vote: VoteOption = None,
    recheck: Recheck = 0,
    store: StoreUrl = None,
    namespace: Namespace = None,
    answer_without_sources: WithoutSources = None,
    repeat_check: RepeatCheck = True,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Check one rule: whether it holds on all subsets that it speaks about, or where it breaks.

    Above 8 other sources, or 20 where the offline reader answers, it is tested on random ones, and what
    that guarantees is stated.

    Exit code 0: it held; 1: it breaks, and a witness is shown; 2: bad input; 3: undecided, because the
    search was stopped or a subset has no verdict.
    """
    named = parsed_ids(rule)
    if not named:
        raise InvalidInput("the rule names no source; give ids, such as --rule D2,D4")
    # The offline reader's replays are free: no cap below the most that there can be.
    cap = max_replays or (None if model or app else MOST_REPLAYS)
    settings = Settings(
        rules=kind,
        miner=parsed_miner(miner, max_violation, confidence, sizes, None),
        merge_duplicates=parsed_duplicates(similarity, merged=merge_duplicates),
        limits=Limits(cap, max_tokens, max_cost, max_seconds),
        prices=parsed_prices(price),
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        lockstep=lockstep,
        noise=Noise(samples, vote, recheck),
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
        rule=(named, RuleKind(kind)),
        json=json,
    )
    verification = asked(request, settings)
    # A reader that has gone away ends the output; the exit code is for somebody else.
    with suppress(SystemExit):
        if not json:
            print_lines([str(verification), ""])
        show(verification.explanation, as_json=json)
    said_of(verification.explanation, settings)
    raise typer.Exit(_CODES[verification.holds])
