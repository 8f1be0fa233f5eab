"""This module makes the functions by which the commands get answers and judgements.

They use the offline reader, or a chat model at an OpenAI-compatible endpoint.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from pydantic import SecretStr

from ..errors import InvalidInput, MissingExtra
from ..experiments.models import USUAL_KEY, unset
from ..predicates import Judge, JudgeRequest
from ..probing.judging import error_text
from ..probing.replaying import Replay
from ..probing.wholeness import CALLS, CUT_OFF, EMPTY_REPLY, HALF
from ..sources import Source
from ..testing.reader import read_answer
from ..traces import RecordedRequest
from ..verdicts import Answer

NO_WHOLE_ANSWER = (CALLS, CUT_OFF, EMPTY_REPLY, HALF)
_VERSIONED = re.compile(r"/v\d+\w*$")


def offline_replay(question: str, sources: Sequence[Source]) -> Answer:
    """Returns the answer of the offline reader, which copies the answer from the sources, without a
    model."""
    return Answer(read_answer(question, [source.passage for source in sources]))


def chat_model_replay(
    name: str,
    base_url: str | None,
    temperature: float | None,
    key: str | None = None,
    recorded: RecordedRequest | None = None,
) -> Replay:
    """Returns a replay function that calls a chat model by ``ChatOpenAI``.

    ``base_url``: the endpoint; None for OpenAI's own. ``temperature``: None for the model's default.
    ``key``: the environment variable that has the API key; None for OPENAI_API_KEY. ``recorded``: the
    request to replay; None for this package's own prompt. Raises MissingExtra if ``langchain_openai`` is
    not installed, and InvalidInput if there is no key.
    """
    try:
        from langchain_openai import (
            ChatOpenAI,  # imported only when needed: it is optional and takes about a second
        )
        from langchain_rag_rule_explainer import chat_replay
    except ImportError as error:
        raise MissingExtra.naming("openai", "--model") from error
    said = _key_in(key or USUAL_KEY)
    # The client must not retry, because the search of rules makes and counts the retries.
    model = ChatOpenAI(
        model=name, base_url=base_url, api_key=said, temperature=temperature, max_retries=0
    )
    return chat_replay(model, messages=None if recorded is None else recorded.written)


def chat_model_judge(name: str, base_url: str | None) -> Judge:
    """Returns a judge that calls a chat model by ``ChatOpenAI``. ``name``: the model's name.
    ``base_url``: its endpoint; None for OpenAI's own.

    Raises MissingExtra if ``langchain_openai`` is not installed, and InvalidInput if there is no key.
    """
    try:
        from langchain_openai import ChatOpenAI  # imported only when needed: it is optional and slow
        from langchain_rag_rule_explainer import judge_of
    except ImportError as error:
        raise MissingExtra.naming("openai", "--judge-model") from error
    # The client must not retry, because the caller makes and counts the retries.
    return judge_of(ChatOpenAI(model=name, base_url=base_url, api_key=_key_in(USUAL_KEY), max_retries=0))


def endpoint(base_url: str | None) -> str | None:
    """Returns the URL of the model's endpoint; None for OpenAI's own endpoint."""
    return base_url or os.environ.get("OPENAI_BASE_URL")


def unanswered(name: str, base_url: str | None, key: str | None, error: BaseException) -> str:
    """Returns the error message for a model that does not answer, with advice on the likely cause.
    ``error``: the error that the call of the model raised. ``base_url``: the endpoint; None for OpenAI's
    own. ``key``: the environment variable that has the API key; None for OPENAI_API_KEY."""
    place, message = endpoint(base_url), error_text(error)
    if any(fault in message for fault in NO_WHOLE_ANSWER):
        return f"the model {name}{f' at {place}' if place else ''} gave no answer: {message}"
    return (
        f"the model {name}{f' at {place}' if place else ''} does not answer; "
        f"{_first_look(place, message)}check that its endpoint is up, and --model, --base-url and "
        f"{key or USUAL_KEY}: {message}"
    )


def _first_look(place: str | None, message: str) -> str:
    if "Error code: 404" not in message:
        return ""
    path = (place or "/v1").rstrip("/")
    if path.endswith("/completions"):
        return "give --base-url without /chat/completions; "
    return "is that its name there? " if _VERSIONED.search(path) else "does its base URL end in /v1? "


@dataclass(frozen=True, slots=True)
class NamedJudge:
    """This class stands for the judge in an estimate, which needs only the judge's name.

    It needs no API key, because it makes no requests.
    """

    judge_name: str

    def __call__(self, _: JudgeRequest, /) -> NoReturn:
        """Raises AssertionError, because no judge may be called for an estimate."""
        raise AssertionError(f"{self.judge_name} was to be named only")


def _key_in(variable: str) -> SecretStr:
    key = os.environ.get(variable)
    if not key:
        raise InvalidInput(f"{unset(variable)}; export it (any value will do for a local endpoint)")
    return SecretStr(key)
