"""This module makes the explainer and the input of the application that ``--app`` names."""

import json
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ..errors import BaselineFailed, InvalidInput
from ..instrumentation.integration import Integration
from ..predicates import Predicate
from ..progress.report import Progress
from ..settings import Settings
from .requests import SearchRequest


def application_explainer(
    integration: Integration,
    application: Any,
    request: SearchRequest,
    settings: Settings,
    predicates: tuple[Predicate, Predicate | None],
    progress: Progress | None,
    traced: str | None = None,
) -> Any:
    """Returns a RuleExplainer of the application, with the options of the request.

    ``predicates``: the conditions of retention and of omission rules. ``traced``: the question in a
    trace; None if there is no trace. Raises InvalidInput for an object that is no application.
    """
    predicate, omission = predicates
    asked = request.subject.question or traced
    # If the user gives both a question and an input, the user's question is used, because the integration
    # may be unable to find a question in the input.
    says_both = asked is not None and (request.subject.input or request.subject.input_key or traced)
    return integration.explainer(
        application,
        str(request.subject.app),
        predicate=predicate,
        omission_predicate=omission,
        settings=settings,
        progress=progress,
        **request.recording.keywords,
        **({"question_of": _always(asked)} if says_both else {}),
    )


def _always(question: str | None) -> Callable[[Any], str | None]:
    return lambda _: question


_WANTS_KEYS = re.compile(
    r"string indices|'str' object|\bdict\b|\bmapping\b|KeyError|InvalidUpdateError", re.IGNORECASE
)
"""A pattern for the errors that Python, LangChain and LangGraph raise when an application expects a
dict and gets a str."""


@contextmanager
def advice_on_input_key(request: SearchRequest) -> Generator[None, None, None]:
    """Adds advice to an error that the block raises because the application needs a dict as input.

    The advice says how to pass a dict. It is added only if the input was a str.
    """
    try:
        yield
    except BaselineFailed as error:
        subject, message = request.subject, str(error)
        is_str = subject.input is None and subject.input_key is None
        if error.__cause__ is None or not is_str or not _WANTS_KEYS.search(message):
            raise
        raise BaselineFailed(
            f"{message}. It was given the question as a str; if it takes a dict, name the key of the "
            "question, such as --input-key question, or give the whole --input as JSON"
        ) from error.__cause__


def application_input(
    integration: Integration, request: SearchRequest, question: str | None
) -> tuple[Any, str]:
    """Returns the application's input, and the question that it contains.

    ``question``: the question that the user gave; None if it must be read from ``--input``.
    """
    if request.subject.input is not None:
        try:
            given = json.loads(request.subject.input)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"--input is not JSON: {error}") from error
        return given, integration.question_in(given) if question is None else question
    if question is None:
        raise InvalidInput("there is no question; give one with --question, or the whole --input as JSON")
    if request.subject.input_key is None:
        return question, question
    if request.subject.input_key == "messages":
        return {"messages": [{"role": "user", "content": question}]}, question
    return {request.subject.input_key: question}, question
