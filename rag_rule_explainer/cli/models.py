"""This module makes replays and judges for a command: by the offline reader, or by a chat model at an
OpenAI-compatible endpoint."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from pydantic import SecretStr

from ..errors import InvalidInput, MissingExtra
from ..experiments.models import USUAL_KEY
from ..predicates import Judge, JudgeRequest
from ..probing.judging import error_text
from ..probing.replaying import Replay
from ..sources import Source
from ..testing.reader import read_answer
from ..verdicts import Answer

_VERSIONED = re.compile(r"/v\d+\w*$")


def offline_replay(question: str, sources: Sequence[Source]) -> Answer:
    """Returns the offline reader's answer."""
    return Answer(read_answer(question, [source.passage for source in sources]))


def chat_model_replay(
    name: str, base_url: str | None, temperature: float | None, key: str | None = None
) -> Replay:
    """Returns a replay by ``ChatOpenAI``. ``key``: the environment variable with its key; None for the
    usual one. Raises MissingExtra without ``langchain_openai``, InvalidInput without a key."""
    try:
        from langchain_openai import (
            ChatOpenAI,  # imported late: optional, and the import takes about a second
        )
        from langchain_rag_rule_explainer import chat_replay
    except ImportError as error:
        raise MissingExtra.naming("openai", "--model") from error
    said = _key_in(key or USUAL_KEY)
    # The replayer makes and counts the retries, so the client must not.
    model = ChatOpenAI(
        model=name, base_url=base_url, api_key=said, temperature=temperature, max_retries=0
    )
    return chat_replay(model)


def chat_model_judge(name: str, base_url: str | None) -> Judge:
    """Returns a judge by ``ChatOpenAI``. Raises MissingExtra without ``langchain_openai``, InvalidInput
    without a key."""
    try:
        from langchain_openai import ChatOpenAI  # imported late: optional and slow
        from langchain_rag_rule_explainer import judge_of
    except ImportError as error:
        raise MissingExtra.naming("openai", "--judge-model") from error
    # Retries are made and counted by the caller.
    return judge_of(ChatOpenAI(model=name, base_url=base_url, api_key=_key_in(USUAL_KEY), max_retries=0))


def endpoint(base_url: str | None) -> str | None:
    """Returns the endpoint of the model; None for that of OpenAI."""
    return base_url or os.environ.get("OPENAI_BASE_URL")


def unanswered(name: str, base_url: str | None, key: str | None, error: BaseException) -> str:
    """Returns the error message for a model that does not answer, with advice on the likely cause."""
    place, message = endpoint(base_url), error_text(error)
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
    """This class stands for a judge in an estimate, which needs its name, but makes no request and needs
    no key."""

    judge_name: str

    def __call__(self, _: JudgeRequest, /) -> NoReturn:
        """Raises AssertionError, because an estimate must not call the judge."""
        raise AssertionError(f"{self.judge_name} was to be named only")


def _key_in(variable: str) -> SecretStr:
    key = os.environ.get(variable)
    if not key:
        raise InvalidInput(f"{variable} is not set; export it (any value will do for a local endpoint)")
    return SecretStr(key)
