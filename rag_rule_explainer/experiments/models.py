"""This module makes the models that experiments examine: the offline reader, or a model at an endpoint
(the URL of a service)."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from ..errors import InvalidInput, MissingExtra
from ..predicates import Judge
from ..probing.replaying import Replay
from ..sources import Source
from ..testing.reader import NO_ANSWER, read_answer
from ..verdicts import Answer
from ..version import __version__
from .list_judge import ListJudge
from .prompts import OWN_JUDGE, OWN_PROMPT, JudgePrompt, PromptTemplate
from .reasoning import UNSENT, least_effort

USUAL_KEY = "OPENAI_API_KEY"
"""The environment variable with the API key, unless the user names a different one."""

MODEL_SYNTAX = "NAME[,as=LABEL][,url=URL][,key=VARIABLE][,temperature=T][,tokens=N][,effort=WORD]"


@dataclass(frozen=True, slots=True)
class Examined:
    """An ``Examined`` is a model that an experiment examines.

    ``replay``: a function that calls the model, in the form that ``Explainer`` needs. Its answers have
    the finish reason and the tokens if the model reports them. ``namespace``: the name under which a
    ``Store`` keeps its answers; it names everything that determines an answer besides the question and
    the sources. ``pace``: the largest useful number of calls at the same time; None if the endpoint
    decides. ``temperature``: the model's temperature; None if it has none. Experiments do not call the
    model without sources, because the answer is then ``NO_ANSWER``. ``prompt``: the name of the prompt
    that the model is sent; empty if it is sent none.
    """

    name: str
    namespace: str
    replay: Replay
    pace: int | None = None
    temperature: float | None = None
    prompt: str = ""


def offline_reader() -> Examined:
    """Returns the package's reader, which takes its answers from the passages. It costs nothing, always
    gives the same answer, and is often wrong."""
    # All its calls use one processor, so calls at the same time would not be faster. ``pace`` is
    # therefore 1.
    return Examined("offline-reader", f"experiments: offline reader {__version__}", _reading, pace=1)


def _reading(question: str, sources: Sequence[Source]) -> Answer:
    return Answer(read_answer(question, [source.passage for source in sources]))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An ``Endpoint`` is a model at an OpenAI-compatible endpoint (the URL of a service), called by
    ``ChatOpenAI``.

    ``key``: the name of the environment variable with its API key. ``temperature``: by default as in the
    paper. ``max_tokens``: the maximum number of tokens of an answer, by default as in the paper; a longer
    answer is cut off, and counts as an answer. ``reasoning_effort``: by default, as in the paper, the
    lowest effort that the model allows, if it is known; "unsent" sends none. Any other field that is None
    is not sent. ``label``: the name in tables; by default ``name``.
    ``prompt``: the prompt for answers. Raises InvalidInput for values that no endpoint accepts.
    """

    name: str
    base_url: str | None = None
    key: str = USUAL_KEY
    temperature: float | None = 1.0
    max_tokens: int | None = 100
    reasoning_effort: str | None = None
    label: str | None = None
    prompt: PromptTemplate = OWN_PROMPT

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InvalidInput("the name of a model is empty; name one")
        heat, most = self.temperature, self.max_tokens
        if heat is not None and not (isfinite(heat) and heat >= 0):
            raise InvalidInput(f"the temperature of {self.name} is {heat!r}; give 0 or more")
        if most is not None and most < 1:
            raise InvalidInput(f"{self.name} may answer in {most!r} tokens; give 1 or more")

    @classmethod
    def of(cls, written: str, usual: "Endpoint | None" = None) -> "Endpoint":
        """Returns the endpoint that a user described on the command line, as ``MODEL_SYNTAX`` says.
        ``usual``: has the values of all options that the user left out; None for the defaults. Raises
        InvalidInput for any other text."""
        name, *options = written.split(",")
        given = dict[str, Any]()
        for option in options:
            word, equals, value = option.partition("=")
            field, read = _OPTIONS.get(word.strip(), ("", str))
            if not (field and equals and value.strip()):
                raise InvalidInput(
                    f"{_masked(option)!r} in the model {_masked(written)!r} says nothing; write "
                    f"{MODEL_SYNTAX}"
                )
            try:
                given[field] = read(value.strip())
            except ValueError as error:
                raise InvalidInput(
                    f"{option!r} in the model {_masked(written)!r} is no number; write {MODEL_SYNTAX}"
                ) from error
        return replace(usual or cls("unnamed"), name=name.strip(), **given)

    def examined(self) -> Examined:
        """Returns the endpoint as a model to examine. Raises MissingExtra if a package is not installed,
        and InvalidInput if the environment variable has no API key."""
        model = self._chat_model()
        from langchain_rag_rule_explainer import chat_replay  # this cannot fail, _chat_model imported it

        replay = chat_replay(model, allow_length=True, prompt=self.prompt)
        name = self.label or self.name
        return Examined(
            name, self.namespace, replay, temperature=self.temperature, prompt=self.prompt.name
        )

    def judge(self, prompt: JudgePrompt = OWN_JUDGE) -> Judge:
        """Returns the endpoint as a judge, which is sent ``prompt``. It replies to the package's own
        prompt with a verdict for each answer, by id; to any other prompt with a list of booleans. Raises
        MissingExtra if a package is not installed, and InvalidInput if there is no API key."""
        model = self._chat_model()
        from langchain_rag_rule_explainer import (  # this cannot fail, _chat_model imported it
            chat_replay,
            judge_of,
        )

        own = judge_of(model)
        if prompt.text is None:
            return own
        # The judge passes its whole prompt as the question, and the replay sends the question unchanged.
        ask = chat_replay(model, allow_length=True, prompt=lambda whole, _: whole)
        name = f"{own.judge_name}, prompt {prompt.digest}, tokens {self.max_tokens}"
        return ListJudge(ask, prompt, name, self.name)

    @property
    def namespace(self) -> str:
        """Returns the name under which a store keeps this model's answers. The name contains everything
        that determines an answer besides the question and the sources, but never a key."""
        settings = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.effort,
        }
        parts = [f"{name} {value}" for name, value in settings.items() if value is not None]
        return ", ".join(
            [f"experiments: {self.name}", *self._place(), *parts, f"prompt {self.prompt.digest}"]
        )

    @property
    def effort(self) -> str | None:
        """Returns the reasoning effort that is sent to the model; None if none is sent."""
        given = self.reasoning_effort
        return least_effort(self.name) if given is None else None if given == UNSENT else given

    def _place(self) -> list[str]:
        if self.base_url is None:
            return []
        parts = urlsplit(self.base_url)
        # The text before "@" may contain a password, so it is left out.
        return [f"at {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"]

    def _chat_model(self) -> Any:
        try:
            import langchain_rag_rule_explainer  # pyright: ignore[reportUnusedImport] # noqa: F401 -- the import fails if the package is missing
            from langchain_openai import ChatOpenAI  # imported late: it is optional and takes a second
        except ImportError as error:
            raise MissingExtra.naming("experiments", "a model behind an endpoint") from error
        key = os.environ.get(self.key)
        if not key:
            raise InvalidInput(
                f"{unset(self.key)}, and {self.name} needs a key; export it (any value will do for a "
                "local endpoint), or name another variable"
            )
        return ChatOpenAI(
            model=self.name,
            base_url=self.base_url,
            api_key=SecretStr(key),
            temperature=self.temperature,
            max_completion_tokens=self.max_tokens,
            reasoning_effort=self.effort,
            # The client must not retry by itself, because the replayer retries calls and counts the
            # retries.
            max_retries=0,
        )


def shuffled(model: Examined, seed: int) -> Examined:
    """Returns a model that shows the sources to ``model`` in a random order, which depends only on
    ``seed`` and the question. Without this, necessary sources come first in the prompt, as in the paper.
    """

    def replay(question: str, sources: Sequence[Source]) -> Any:
        def place(source: Source) -> bytes:
            return sha256(f"{seed} {question} {source.id}".encode("utf-8", "surrogatepass")).digest()

        return model.replay(question, sorted(sources, key=place))

    return replace(model, replay=replay, namespace=f"{model.namespace}, shuffled by {seed}")


def check_distinct(models: Sequence[Examined]) -> None:
    """Raises InvalidInput if two models have the same name and temperature, because their rows could not
    be distinguished."""
    seen = set[tuple[str, float | None]]()
    for model in models:
        if (model.name, model.temperature) in seen:
            raise InvalidInput(
                f"{model.name} is named twice at the same temperature; name it once, or call one of them "
                "something else, as in NAME,as=LABEL"
            )
        seen.add((model.name, model.temperature))


def _masked(written: str) -> str:
    """Returns the user's text about a model on the command line, with the value of ``key`` masked,
    because some users write the key itself there."""
    return re.sub(r"(key\s*=)[^,]+", r"\1***", written, flags=re.IGNORECASE)


def unset(variable: str) -> str:
    """Returns a clause that says that the environment variable for the key is not set. The clause shows
    the variable's name only if this is ``USUAL_KEY``: a user may by mistake have given the key itself as
    the name."""
    if variable == USUAL_KEY:
        return f"{variable} is not set"
    return (
        "the variable that is named for the key is not set (give the name of a variable, such as "
        f"{USUAL_KEY}, and not the key)"
    )


_OPTIONS: dict[str, tuple[str, Any]] = {
    "as": ("label", str),
    "url": ("base_url", str),
    "key": ("key", str),
    "temperature": ("temperature", float),
    "tokens": ("max_tokens", int),
    "effort": ("reasoning_effort", str),
}

__all__ = [
    "MODEL_SYNTAX",
    "NO_ANSWER",
    "USUAL_KEY",
    "Endpoint",
    "Examined",
    "check_distinct",
    "offline_reader",
    "shuffled",
    "unset",
]
