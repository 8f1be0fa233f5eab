"""``rag-rules explain``: one question, sources or an application, and the rules of the answer."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeAlias

import typer

from ..assuming import Assuming
from ..choosing import choose, choose_to_verify
from ..display import ProgressBar
from ..errors import BaselineFailed, InvalidInput
from ..explainer import Explainer
from ..explanation import Explanation
from ..inquiry import INTERRUPTED
from ..predicates import Judge, Predicate
from ..printable import amount
from ..probing.judging import described
from ..probing.retries import Retries
from ..report import lines
from ..settings import Settings
from ..sources import Source, SourceSet
from .applications import application_explainer, application_input, load_application
from .conditions import parsed
from .frameworks import Integration
from .incidents import Incident, load_incident
from .models import KEY, UnaskedJudge, chat_model_replay, offline_replay
from .requests import Request
from .sources import load
from .terminal import print_json, print_lines, say

ASK_ABOVE = 300
"""Replays of a paid model that nobody is asked about."""

Predicates: TypeAlias = tuple[Predicate, Predicate | None]
"""The condition of retention rules, and that of omission rules where it is one of its own."""


def explain(request: Request, settings: Settings) -> None:
    """Explains and prints. Exits with 130 after an interrupt, having printed what was proved."""
    explanation = asked(request, settings)
    show(explanation, as_json=request.json)
    said_of(explanation, settings)


def asked(request: Request, settings: Settings) -> Any:
    """What comes of asking the explainer: an Explanation, or a Verification of the request's rule."""
    predicates = _predicates(request, request.judge.judge())
    incident = None if request.baseline is None else load_incident(request.baseline)
    of_kind = _of_application if request.app is not None else _of_sources
    return of_kind(request, settings, predicates, incident)


def said_of(explanation: Explanation, settings: Settings) -> None:
    """What is said beside the result. Exits with 130 after an interrupt."""
    if settings.store is not None:
        counts = explanation.counts
        say(f"{counts.stored} answers came from the store; {counts.replays} replays were made")
    if explanation.stop_reason == INTERRUPTED:
        raise typer.Exit(130)


def _entry(explainer: Any, request: Request) -> Callable[..., Any]:
    return explainer.explain if request.rule is None else partial(explainer.verify, *request.rule)


def _predicates(request: Request, judge: Judge | None) -> Predicates:
    bench = request.judge.bench(judge)
    omission = request.omission_predicate
    return parsed(request.predicate, bench), None if omission is None else parsed(omission, bench)


def _of_sources(
    request: Request, settings: Settings, predicates: Predicates, incident: Incident | None
) -> Any:
    question = request.question or (incident.question if incident else None)
    if question is None:
        raise InvalidInput("there is no question; give one with --question")
    sources = _sources(request, question, incident)
    pinned = _pinned(request, incident)
    source_set = SourceSet.of(sources, pinned, settings.tied_from)
    units = source_set.lattice.size
    if request.rule is None:
        choice = choose(settings, source_set)
    else:
        choice = choose_to_verify(settings, source_set, source_set.mask_of(request.rule[0]))
    if request.model is None:
        replay = offline_replay
    else:
        replay = chat_model_replay(request.model, request.base_url, request.temperature)
        replays = choice.worst_case(units)
        # A cap counts retries too.
        retries = 0 if replays == choice.limits.replays else Retries.of(settings.retries).most
        _agree_on_cost(replays, retries, yes=request.yes)
    with ProgressBar(keep=False) as bar:
        explainer = Explainer(
            replay,
            predicate=predicates[0],
            omission_predicate=predicates[1],
            settings=settings,
            progress=bar,
        )
        try:
            return _entry(explainer, request)(
                question, sources, incident.answer if incident else None, pinned=pinned
            )
        except BaselineFailed as error:
            raise error if request.model is None else _without_answer(request, error) from error


def estimate(request: Request, settings: Settings, assuming: Assuming) -> None:
    """Prints what explaining would take. Asks no model that is shown anything, and no judge."""
    judge = None if request.judge_model is None else UnaskedJudge(request.judge_model)
    predicates = _predicates(request, judge)
    if request.app is None:
        if request.question is None:
            raise InvalidInput("there is no question; give one with --question")
        sources = _sources(request, request.question, None)
        explainer = Explainer(
            predicate=predicates[0], omission_predicate=predicates[1], settings=settings
        )
        estimated = explainer.estimate(
            request.question, sources, pinned=request.pinned, assuming=assuming
        )
    else:
        integration, application, given, documents = _application(request, None)
        explainer = application_explainer(integration, application, request, settings, predicates, None)
        estimated = explainer.estimate(
            given, documents=documents, pinned=request.pinned, assuming=assuming
        )
    if request.json:
        print_json(json.dumps(asdict(estimated), indent=2))
    else:
        print_lines(str(estimated).splitlines())


def _application(
    request: Request, incident: Incident | None
) -> tuple[Integration, Any, Any, list[Source] | None]:
    """What explains it, the application, its input, and the documents to serve it, if they are given."""
    if request.app is None:
        raise InvalidInput("there is no application; name one with --app")
    asked = request.question or (incident.question if incident else None)
    application = load_application(request.app)
    integration = Integration.of(application, request.framework)
    given, question = application_input(integration, request, asked)
    documents = (
        load(request.documents, question, None)
        if request.documents is not None
        else incident and incident.sources()
    )
    return integration, application, given, list(documents) if documents else None


def _sources(request: Request, question: str, incident: Incident | None) -> SourceSet:
    if request.sources is not None:
        return load(request.sources, question, request.top_k)
    logged = None if incident is None else incident.sources()
    if logged is None:
        raise InvalidInput(
            "there is nothing to explain by; give --sources, an --app, or a --baseline with documents"
        )
    return logged


def _of_application(
    request: Request, settings: Settings, predicates: Predicates, incident: Incident | None
) -> Any:
    integration, application, given, documents = _application(request, incident)
    if not request.yes and settings.limits.replays is None:
        # How much it retrieves is not known yet, and every replay may cost.
        settings = replace(settings, limits=replace(settings.limits, replays=ASK_ABOVE))
        say(f"at most {ASK_ABOVE} replays of the application; --yes lifts this limit")
    with ProgressBar(keep=False) as bar:
        explainer = application_explainer(integration, application, request, settings, predicates, bar)
        return _entry(explainer, request)(
            given,
            documents=documents,
            pinned=_pinned(request, incident),
            baseline=incident.answer if incident else None,
        )


def _pinned(request: Request, incident: Incident | None) -> tuple[str, ...]:
    return request.pinned or tuple(incident.pinned if incident else ())


def _agree_on_cost(replays: int, retries: int, *, yes: bool) -> None:
    more = f", and {retries} more of each that fails" if retries else ""
    say(f"at most {amount(replays)} replays of the model{more}")
    if yes or replays <= ASK_ABOVE:
        return
    if not (sys.stdin and sys.stdin.isatty()):
        raise InvalidInput(f"more than {ASK_ABOVE} replays need a yes; pass --yes to agree in a script")
    if not typer.confirm("Go on?", err=True):
        raise InvalidInput("nothing was asked; pass fewer sources, a smaller --top-k, or --max-replays")


def _without_answer(request: Request, error: BaselineFailed) -> BaselineFailed:
    place = f" at {request.base_url}" if request.base_url else ""
    return BaselineFailed(
        f"the model {request.model}{place} does not answer; check that its endpoint is up, and --model, "
        f"--base-url and {KEY}: {described(error.__cause__ or error)}"
    )


def show(explanation: Explanation, *, as_json: bool) -> None:
    """Prints it on stdout."""
    if as_json:
        # In ASCII: every encoding can write it, and no control character reaches a terminal.
        print_json(json.dumps(explanation.model_dump(mode="json"), indent=2))
    else:
        print_lines(lines(explanation))
