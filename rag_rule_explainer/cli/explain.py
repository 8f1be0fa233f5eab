"""This module explains one answer for the commands, and runs ``rag-rules estimate``."""

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, TypeAlias

from ..citations import CiteOptions
from ..errors import BaselineFailed, InvalidInput
from ..explainer import Explainer
from ..instrumentation.importing import load_application
from ..instrumentation.integration import Integration
from ..predicates import Judge, JudgeFailed, Predicate
from ..predicates.inside import sources_named_in
from ..probing.replaying import Replay
from ..probing.retries import Retries
from ..progress import ProgressBar
from ..rules import RuleKind
from ..session.estimate.assumptions import Assumptions
from ..session.planning import choose, choose_to_verify
from ..settings import Settings
from ..sources import Source, SourceSet
from ..sources.given import no_source
from ..traces import Incident
from .agreeing import agree_on_cost
from .applications import (
    advice_on_input_key,
    application_explainer,
    application_input,
)
from .citing_entry import citing_entry
from .conditions import parsed
from .many_questions import capped
from .models import NamedJudge, chat_model_replay, offline_replay, unanswered
from .named_stores import with_a_namespace
from .options import ASK_ABOVE
from .rechecking_entry import RecheckAsked, rechecking_entry
from .requests import SearchRequest
from .sources import load_sources
from .terminal import exits_as_errors, print_json, print_lines, say, stdout_kept
from .traced import recorded_baseline, shown_to_the_model, traced_input

NamedRule: TypeAlias = tuple[tuple[str, ...], RuleKind]
"""A rule that the user names: the ids of its sources, and its kind."""
AskedRule: TypeAlias = NamedRule | CiteOptions | RecheckAsked | None
"""A rule to verify, or the options of a check of citations or of a recheck; None for an explanation."""
Predicates: TypeAlias = tuple[Predicate, Predicate | None]
"""The condition of retention rules, and the condition of omission rules. The second is None if it is
the negation of the first."""


def explained_or_verified(request: SearchRequest, settings: Settings, rule: AskedRule = None) -> Any:
    """Returns the explanation of the answer, the verification of one rule, the check of the answer's
    citations, or a recheck. The command tells which one by ``rule``."""
    return explained_incident(request, settings, conditions_of(request), request.incident(), rule)


def conditions_of(request: SearchRequest) -> Predicates:
    """Returns the conditions that the user named. A condition that needs a judge has the judge of the
    options."""
    return _predicates(request, request.condition.judge.judge())


def explained_incident(
    request: SearchRequest,
    settings: Settings,
    predicates: Predicates,
    incident: Incident | None,
    rule: AskedRule = None,
) -> Any:
    """Returns the result that ``rule`` asks for, such as the explanation of the answer, for conditions
    and an incident that the caller has already read. ``incident``: the logged answer, with its documents;
    None if nothing was logged."""
    of_kind = _of_application if request.subject.app is not None else _of_sources
    with stdout_kept():
        return of_kind(request, settings, predicates, incident, rule)


def _entry(explainer: Any, rule: AskedRule) -> Callable[..., Any]:
    if isinstance(rule, CiteOptions):
        return citing_entry(explainer, rule)
    if isinstance(rule, RecheckAsked):
        return rechecking_entry(explainer, rule)
    return explainer.explain if rule is None else partial(explainer.verify, *rule)


def _predicates(request: SearchRequest, judge: Judge | None) -> Predicates:
    judged_conditions = request.condition.judge.judged_conditions(judge)
    retention, omission = request.condition.written
    return parsed(retention, judged_conditions), None if omission is None else parsed(
        omission, judged_conditions
    )


def _of_sources(
    request: SearchRequest,
    settings: Settings,
    predicates: Predicates,
    incident: Incident | None,
    rule: AskedRule,
) -> Any:
    question, incident = _question(request, incident), _as_shown(request, incident)
    sources = _sources(request, question, incident)
    pinned = _pinned(request, incident)
    source_set = SourceSet.of(sources, pinned, settings.tied_from)
    _check_named(predicates, source_set)
    replay = _replay_of(request, settings, source_set, rule, incident)
    settings = with_a_namespace(settings, request.asking)
    with ProgressBar(keep=False) as bar:
        explainer = Explainer(
            replay,
            predicate=predicates[0],
            omission_predicate=predicates[1],
            settings=settings,
            progress=bar,
        )
        try:
            return _entry(explainer, rule)(question, sources, recorded_baseline(incident), pinned=pinned)
        except BaselineFailed as error:
            asking = request.asking
            if asking.model is None or isinstance(error.__cause__, JudgeFailed):
                raise
            raise BaselineFailed(
                unanswered(asking.model, asking.base_url, asking.key, error.__cause__ or error)
            ) from error


def _replay_of(
    request: SearchRequest,
    settings: Settings,
    source_set: SourceSet,
    rule: AskedRule,
    incident: Incident | None,
) -> Replay:
    """Returns a replay function that calls the model that ``--model`` names. The user must first agree to
    the number of replays.

    Without ``--model``, returns a replay function that calls the offline reader, which costs nothing.
    ``rule``: what the user asks for: a rule to verify, a check of citations, a recheck, or None for an
    explanation. The number of replays depends on it.
    """
    if not isinstance(rule, tuple):
        plan = choose(settings, source_set)
    else:
        plan = choose_to_verify(settings, source_set, source_set.mask_of(rule[0]))
    asking = request.asking
    if asking.model is None:
        return offline_replay
    recorded = None if incident is None else incident.request
    replay = chat_model_replay(asking.model, asking.base_url, asking.temperature, asking.key, recorded)
    replays = plan.worst_case(source_set.lattice.size)
    # If the settings limit the number of replays, this limit includes retries. So no retries are added to
    # the number that the user is told.
    retries = 0 if replays == plan.limits.replays else Retries.of(settings.retries).most
    agree_on_cost(replays, retries, yes=asking.yes)
    return replay


def estimate(request: SearchRequest, settings: Settings, assuming: Assumptions, *, as_json: bool) -> None:
    """Prints the estimated cost of an explanation. Calls no judge, and no model with the sources.
    ``assuming``: what the user expects, such as the tokens of an answer."""
    judge = None if request.condition.judge_model is None else NamedJudge(request.condition.judge_model)
    predicates = _predicates(request, judge)
    incident = request.incident()
    pinned = _pinned(request, incident)
    if request.subject.app is None:
        question, incident = _question(request, incident), _as_shown(request, incident)
        sources = _sources(request, question, incident)
        _check_named(predicates, SourceSet.of(sources))
        explainer = Explainer(
            predicate=predicates[0], omission_predicate=predicates[1], settings=settings
        )
        estimated = explainer.estimate(question, sources, pinned=pinned, assuming=assuming)
    else:
        with stdout_kept(), exits_as_errors(), advice_on_input_key(request):
            integration, application, given, documents = _application(request, incident)
            explainer = application_explainer(
                integration, application, request, settings, predicates, None, _traced(request, incident)
            )
            estimated = explainer.estimate(given, documents=documents, pinned=pinned, assuming=assuming)
    if as_json:
        print_json(json.dumps(asdict(estimated), indent=2))
    else:
        print_lines(str(estimated).splitlines())


def _application(
    request: SearchRequest, incident: Incident | None
) -> tuple[Integration, Any, Any, list[Source] | None]:
    """Returns the integration, the application, its input, and the documents that it gets.

    The documents are None if the application retrieves its documents itself.
    """
    if request.subject.app is None:
        raise InvalidInput("there is no application; name one with --app")
    asked = request.subject.question or (incident.question if incident else None)
    application = load_application(request.subject.app)
    integration = Integration.of(application, request.subject.framework)
    traced = None if request.subject.says_input else traced_input(incident)
    given, question = (
        application_input(integration, request, asked) if traced is None else (traced, str(asked))
    )
    documents = (
        load_sources(request.subject.documents, question, None)
        if request.subject.documents is not None
        else incident and incident.sources()
    )
    return integration, application, given, list(documents) if documents else None


def _sources(request: SearchRequest, question: str, incident: Incident | None) -> SourceSet:
    if request.subject.sources is not None:
        return load_sources(request.subject.sources, question, request.subject.top_k)
    logged = None if incident is None else incident.sources()
    if logged is None:
        raise InvalidInput(
            "there is nothing to explain by; give --sources, an --app, or a --baseline with documents"
        )
    return logged


def _of_application(
    request: SearchRequest,
    settings: Settings,
    predicates: Predicates,
    incident: Incident | None,
    rule: AskedRule,
) -> Any:
    integration, application, given, documents = _application(request, incident)
    # Every replay may cost money, and the number of replays is known only after the retrieval. The user
    # cannot be asked to agree at that point, so the number is limited.
    settings = settings if isinstance(rule, tuple) else request.recording.of_agent(settings)
    wanted, settings = settings, capped(settings, agreed=request.asking.yes)
    with ProgressBar(keep=False) as bar, exits_as_errors(), advice_on_input_key(request):
        explainer = application_explainer(
            integration, application, request, settings, predicates, bar, _traced(request, incident)
        )
        if settings is not wanted:
            say(f"at most {ASK_ABOVE} replays of the application; --yes lifts this limit")
        return _entry(explainer, rule)(
            given,
            documents=documents,
            pinned=_pinned(request, incident),
            baseline=incident.answer if incident else None,
        )


def _traced(request: SearchRequest, incident: Incident | None) -> str | None:
    """Returns the question in the trace; None if there is no trace."""
    return None if request.traced.trace is None or incident is None else incident.question


def _as_shown(request: SearchRequest, incident: Incident | None) -> Incident | None:
    is_traced = request.traced.trace is not None
    return shown_to_the_model(incident) if incident is not None and is_traced else incident


def _question(request: SearchRequest, incident: Incident | None) -> str:
    question = request.subject.question or (incident.question if incident else None)
    if question is None:
        raise InvalidInput("there is no question; give one with --question")
    return question


def _check_named(predicates: Predicates, sources: SourceSet) -> None:
    """Raises InvalidInput if a condition names a source that does not exist."""
    for name in (name for each in predicates for name in sources_named_in(each)):
        if name not in sources.ids:
            raise InvalidInput(f"the condition names {no_source([name], sources.ids)}")


def _pinned(request: SearchRequest, incident: Incident | None) -> tuple[str, ...]:
    return request.subject.pinned_ids or tuple(incident.pinned if incident else ())
