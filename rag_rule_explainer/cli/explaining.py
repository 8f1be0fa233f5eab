"""This module runs ``rag-rules explain``."""

from dataclasses import replace

import typer

from ..errors import ConditionFalse, InvalidInput
from ..explanation.explanation import Explanation
from ..probing.limits import INTERRUPTED
from ..settings import Settings
from ..traces import Incident
from .agreeing import is_interactive
from .annotated import AnnotateOptions
from .explain import Predicates, conditions_of, explained_incident
from .printing import PrintedOptions
from .requests import SearchRequest
from .terminal import say


def explain(
    request: SearchRequest, settings: Settings, printed: PrintedOptions, annotating: AnnotateOptions
) -> None:
    """Explains the answer, prints the explanation and annotates the trace with it. Exits with code 130 if
    the user interrupted the search."""
    annotating.check(request.traced.trace)
    predicates, incident = conditions_of(request), request.incident()
    annotating.check_incident(incident)
    explanation = _explained_once_confirmed(request, settings, predicates, incident)
    printed.show(explanation)
    made = annotating.made(explanation, incident)
    annotating.put(made, stopped=explanation.stop_reason == INTERRUPTED)
    print_notes(explanation, settings)


def _explained_once_confirmed(
    request: SearchRequest, settings: Settings, predicates: Predicates, incident: Incident | None
) -> Explanation:
    """Returns the explanation. If the answer does not meet the condition, the user is first asked whether
    to search for rules anyway."""
    if request.asking.yes:
        return explained_incident(request, settings, predicates, incident)
    try:
        asked = replace(settings, false_condition="error")
        return explained_incident(request, asked, predicates, incident)
    except ConditionFalse as false:
        if not is_interactive():
            raise
        say(false.finding)
        if not typer.confirm("Look for rules all the same?", err=True):
            raise InvalidInput("nothing else was asked; give another --predicate") from false
        return explained_incident(request, settings, predicates, incident)


def print_notes(explanation: Explanation, settings: Settings) -> None:
    """Prints the number of answers that came from the store, if there is a store. Exits with code 130 if
    the user interrupted the search."""
    if settings.store is not None:
        counts = explanation.counts
        came = "1 answer came" if counts.stored == 1 else f"{counts.stored} answers came"
        made = "1 replay was made" if counts.replays == 1 else f"{counts.replays} replays were made"
        say(f"{came} from the store; {made}")
    if explanation.stop_reason == INTERRUPTED:
        raise typer.Exit(130)
