"""This module makes the models that experiments examine: the offline reader, or a model at an
endpoint."""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from ..errors import InvalidInput, MissingExtra
from ..predicates import Judge
from ..probing.replaying import Replay
from ..sources import Source
from ..testing.prompts import qa_prompt
from ..testing.reader import NO_ANSWER, read_answer
from ..verdicts import Answer
from ..version import __version__

USUAL_KEY = "OPENAI_API_KEY"
"""The environment variable that holds the API key, unless the user names another one."""

MODEL_SYNTAX = "NAME[,as=LABEL][,url=URL][,key=VARIABLE][,temperature=T][,tokens=N][,effort=WORD]"


@dataclass(frozen=True, slots=True)
class Examined:
    """An ``Examined`` is a model that an experiment examines.

    ``replay``: the replay for ``Explainer``. Its answers have the finish reason and the tokens if the
    model reports them. ``namespace``: a name, for a ``Store``, of everything that determines an answer
    besides the question and the sources. ``pace``: the maximum number of calls that are useful at the
    same time; None if the endpoint decides. ``temperature``: the model's temperature; None if it has
    none. Experiments do not call the model without sources, because the answer is then ``NO_ANSWER``.
    """

    name: str
    namespace: str
    replay: Replay
    pace: int | None = None
    temperature: float | None = None


def offline_reader() -> Examined:
    """Returns the package's extractive reader. It costs nothing, is deterministic, and is often wrong."""
    # All its calls use one processor. Concurrent calls would only take longer, so ``pace`` is 1.
    return Examined("offline-reader", f"experiments: offline reader {__version__}", _reading, pace=1)


def _reading(question: str, sources: Sequence[Source]) -> Answer:
    return Answer(read_answer(question, [source.passage for source in sources]))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An ``Endpoint`` is a model at an OpenAI-compatible endpoint, called by ``ChatOpenAI``.

    ``key``: the environment variable that holds its API key. ``temperature``, ``max_tokens`` (of an
    answer): by default as in the paper. ``reasoning_effort``: sent only if given, because other models
    reject it; the lowest value is "none", "minimal" or "low", depending on the model. A field that is
    None is not sent. An answer that was cut off at ``max_tokens`` counts as an answer. ``label``: the
    name in tables; by default ``name``. Raises InvalidInput for values that no endpoint accepts.
    """

    name: str
    base_url: str | None = None
    key: str = USUAL_KEY
    temperature: float | None = 1.0
    max_tokens: int | None = 100
    reasoning_effort: str | None = None
    label: str | None = None

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
        """Returns the endpoint that a user wrote on the command line, in the form of ``MODEL_SYNTAX``.
        ``usual``: has the values of the options that the user did not write. Raises InvalidInput for a
        text of another form."""
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
        """Returns the endpoint as a model to examine. Raises MissingExtra if a package is not
        installed, and InvalidInput if there is no API key."""
        model = self._chat_model()
        from langchain_rag_rule_explainer import chat_replay  # cannot fail, because _chat_model succeeded

        replay = chat_replay(model, allow_length=True)
        name = self.label or self.name
        return Examined(name, self.namespace, replay, temperature=self.temperature)

    def judge(self) -> Judge:
        """Returns the endpoint as a judge. Raises MissingExtra if a package is not installed, and
        InvalidInput if there is no API key."""
        model = self._chat_model()
        from langchain_rag_rule_explainer import judge_of  # cannot fail, because _chat_model succeeded

        return judge_of(model)

    @property
    def namespace(self) -> str:
        """Returns a name of everything that determines an answer besides the question and the sources.
        It never contains a key."""
        settings = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.reasoning_effort,
        }
        parts = [f"{name} {value}" for name, value in settings.items() if value is not None]
        return ", ".join([f"experiments: {self.name}", *self._place(), *parts, f"prompt {_PROMPT}"])

    def _place(self) -> list[str]:
        if self.base_url is None:
            return []
        parts = urlsplit(self.base_url)
        # The text before "@" may contain a password, so it is left out.
        return [f"at {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"]

    def _chat_model(self) -> Any:
        try:
            import langchain_rag_rule_explainer  # pyright: ignore[reportUnusedImport]  # noqa: F401 -- is it there?
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
            reasoning_effort=self.reasoning_effort,
            # The client must not retry, because the replayer makes and counts the retries.
            max_retries=0,
        )


def check_distinct(models: Sequence[Examined]) -> None:
    """Raises InvalidInput for two models with the same name and temperature. Their rows could not be
    distinguished."""
    seen = set[tuple[str, float | None]]()
    for model in models:
        if (model.name, model.temperature) in seen:
            raise InvalidInput(
                f"{model.name} is named twice at the same temperature; name it once, or call one of them "
                "something else, as in NAME,as=LABEL"
            )
        seen.add((model.name, model.temperature))


def _masked(written: str) -> str:
    """Returns the description of a model on the command line, with the value of ``key`` masked: users
    may write the key itself there."""
    return re.sub(r"(key\s*=)[^,]+", r"\1***", written, flags=re.IGNORECASE)


def unset(variable: str) -> str:
    """Returns a sentence that says that the environment variable of a key is not set. A name that the
    user gave is not shown, because it may be the key itself."""
    if variable == USUAL_KEY:
        return f"{variable} is not set"
    return (
        "the variable that is named for the key is not set (give the name of a variable, such as "
        f"{USUAL_KEY}, and not the key)"
    )


def _digest_of_prompt() -> str:
    content = qa_prompt("a question", ("a source", "another source"))
    return hashlib.sha256(content.encode()).hexdigest()[:12]


_PROMPT = _digest_of_prompt()
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
    "unset",
]
