"""This module checks the config and the keywords with which an explainer is called."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, cast

from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    Runnable,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.passthrough import RunnableAssign, RunnablePick

from rag_rule_explainer import InvalidInput
from rag_rule_explainer.instrumentation.checks import CALLED_ELSEWHERE, brief, checked_whole

from .graphs import graph_in

_TAKING_NONE = (RunnableParallel, RunnableAssign, RunnablePick, BasePromptTemplate)
"""Runnables whose ``invoke`` allows any keyword but ignores it. They are therefore treated as if they
accepted no keyword."""
_HANDING_ON: dict[type, tuple[str, ...]] = {
    RunnableLambda: ("func", "afunc"),
    RunnablePassthrough: ("func", "afunc"),
    BaseRetriever: ("_get_relevant_documents", "_aget_relevant_documents"),
}
"""Runnables that pass their keywords on to functions. For each class, the value names the attributes
that hold these functions. The Runnable accepts every keyword that one of the functions accepts."""
_NEAR = 0.8
"""The similarity (0 to 1) from which a keyword counts as a misspelt name of a setting. With a lower
limit, "stop" would count as a misspelt "store"."""


_OF_ESTIMATES = "assuming"
_ALSO = {"sources": "documents", "docs": "documents", "nodes": "documents", "pin": "pinned"}
"""Keywords that users may write by mistake. The value is the keyword of ``explain`` that they mean; an
error message names it."""


def check_config(given: Any) -> None:
    """Raises InvalidInput for a config that is no dict, or that has an invalid ``max_concurrency``."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(
            f"the second argument is LangChain's config, a dict, and this is {brief(given)}; a "
            "condition is a setting of the explainer: RuleExplainer(application, predicate=...)"
        )
    bound = cast("Mapping[str, Any]", given or {}).get("max_concurrency")
    if bound is not None:
        checked_whole("max_concurrency of the config", bound, 1)


def check_keywords(
    given: Iterable[str],
    application: Runnable[Any, Any],
    of_questions: Iterable[str],
    of_explainers: Iterable[str],
) -> None:
    """Raises InvalidInput for a keyword that is probably meant for the explainer.

    ``of_questions``: the keywords of ``explain``. ``of_explainers``: the names of the settings. A keyword
    is refused if the application does not accept it and it is similar to one of these names, or is the
    name by which another library calls a setting. Any other keyword is passed to the application.
    """
    taken, settings = None, set(of_explainers)
    known = {*of_questions, *settings, _OF_ESTIMATES}
    for name in given:
        called = _ALSO.get(name) or CALLED_ELSEWHERE.get(name) or name
        near = get_close_matches(called, known, n=1, cutoff=_NEAR)
        if not near:
            continue
        taken = taken or _taken_by(application)
        if taken(name):
            continue
        meant = near[0]
        hint = "" if meant == name else f"did you mean {meant!r}? "
        whose = (
            f"{meant} is a setting of the explainer: RuleExplainer(application, {meant}=...)"
            if meant in settings
            else "assuming is a keyword of estimate"
            if meant == _OF_ESTIMATES
            else f"{meant} is a keyword of explain, aexplain, verify and averify"
        )
        raise InvalidInput(f"the application takes no keyword {name!r}; {hint}{whose}")


def _taken_by(application: Runnable[Any, Any]) -> Callable[[str], bool]:
    """Returns a function that tells whether the application may accept a keyword."""
    taken = _names(application)
    return (lambda _: True) if taken is None else taken.__contains__


def _names(application: Any) -> set[str] | None:
    """Returns the keywords that an application accepts; None if it may accept any keyword."""
    application = _first(application)
    graph = graph_in(application)
    if graph is not None:
        # A graph also accepts other keywords, but ignores them. So only its named parameters are
        # returned.
        return {name for entry in (graph.invoke, graph.stream) for name in _parameters(entry)}
    for kind, functions in _HANDING_ON.items():
        if isinstance(application, kind):
            return _of_functions(application, functions)
    return set() if isinstance(application, _TAKING_NONE) else None


def _first(application: Any) -> Any:
    """Returns the part of an application that receives the keywords of a call: the first step of a
    chain, without the objects around it that bind a config or add fallbacks."""
    while True:
        if isinstance(application, RunnableBindingBase):
            application = cast("RunnableBindingBase[Any, Any]", application).bound
        elif isinstance(application, RunnableSequence):
            application = cast("RunnableSequence[Any, Any]", application).first
        elif isinstance(application, RunnableWithFallbacks):
            application = cast("RunnableWithFallbacks[Any, Any]", application).runnable
        else:
            return application


def _of_functions(owner: object, names: Iterable[str]) -> set[str] | None:
    taken = set[str]()
    for function in filter(None, (getattr(owner, name, None) for name in names)):
        try:
            parameters = _parameters(function)
        except (TypeError, ValueError):  # some built-in functions have no signature
            return None
        if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
            return None
        taken.update(parameters)
    return taken


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters
