"""The options that experiments share, in groups: who is examined, who judges, how calls are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from ...errors import InvalidInput
from ...experiments.examples import Criteria, Example, drawn
from ...experiments.models import KEY, Endpoint, Examined, offline_reader
from ...experiments.published import examples_in
from ...predicates import Judge
from ...settings import DEFAULT_TIMEOUT, Settings
from ...storing.store import Store
from ..terminal import say
from .folders import STORE
from .options import (
    BaseUrl,
    Concurrency,
    Data,
    Effort,
    ExampleCount,
    JudgeBaseUrl,
    JudgeKey,
    JudgeModel,
    KeyVariable,
    Out,
    OutputTokens,
    Retries,
    Seed,
    Shuffle,
    StoreUrl,
    Temperature,
    Timeout,
)

USUAL_CONCURRENCY = 8


@dataclass(frozen=True, slots=True)
class Drawing:
    """Which questions are drawn, and in what order their distractors come."""

    data: Data = None
    examples: ExampleCount = 50
    seed: Seed = 0
    shuffle_distractors: Shuffle = False

    @property
    def file(self) -> Path:
        """Where the questions are. Raises InvalidInput where that is not said."""
        if self.data is None:
            raise InvalidInput("this is measured on labelled questions; give their file as --data")
        return self.data

    @property
    def distractors(self) -> int | None:
        """The seed of their order; None as published."""
        return self.seed if self.shuffle_distractors else None

    def drawn(self, criteria: Criteria) -> tuple[Example, ...]:
        """The questions. Raises InvalidInput."""
        return drawn(examples_in(self.file), self.examples, self.seed, criteria).examples


@dataclass(frozen=True, slots=True)
class Endpoints:
    """How models are asked that do not say otherwise themselves."""

    base_url: BaseUrl = None
    key: KeyVariable = KEY
    temperature: Temperature = 1.0
    max_output_tokens: OutputTokens = 100
    reasoning_effort: Effort = None

    def examined(self, models: Sequence[str], free: Examined | None = None) -> tuple[Examined, ...]:
        """The models named; where none is, ``free``, else the offline reader.

        Raises InvalidInput, MissingExtra.
        """
        if not models:
            given = {"--base-url": self.base_url, "--reasoning-effort": self.reasoning_effort}
            for option, value in given.items():
                if value is not None:
                    # Otherwise the offline reader would answer, and be taken for that endpoint.
                    raise InvalidInput(f"{option} goes with --model only; name one, or leave it out")
            return (free or offline_reader(),)
        settings = self.temperature, self.max_output_tokens, self.reasoning_effort
        usual = Endpoint("unnamed", self.base_url, self.key, *settings)
        return tuple([Endpoint.of(written, usual).examined() for written in models])


@dataclass(frozen=True, slots=True)
class Judging:
    """Who decides what near-exact match does not settle."""

    judge_model: JudgeModel = None
    judge_base_url: JudgeBaseUrl = None
    judge_key: JudgeKey = KEY

    def judge(self) -> Judge | None:
        """The one that is named: its temperature and the length of what it says are left to it.

        Raises InvalidInput, MissingExtra.
        """
        if self.judge_model is None:
            if self.judge_base_url is not None:
                raise InvalidInput(
                    "--judge-base-url goes with --judge-model only; name the judge as well"
                )
            return None
        usual = Endpoint(
            "unnamed", self.judge_base_url, self.judge_key, temperature=None, max_tokens=None
        )
        return Endpoint.of(self.judge_model, usual).judge()


@dataclass(frozen=True, slots=True)
class Running:
    """Where it goes, where paid answers are kept, and how calls are made."""

    out: Out
    store: StoreUrl = None
    concurrency: Concurrency = None
    retries: Retries = 3
    timeout: Timeout = DEFAULT_TIMEOUT

    def settings(self, models: Sequence[Examined], namespace: str) -> Settings:
        """With the store that is named, else the one in ``out``. Raises InvalidInput."""
        paces = [model.pace for model in models if model.pace is not None]
        pace = min(paces) if len(paces) == len(models) else None
        return Settings(
            retries=self.retries,
            timeout=self.timeout,
            concurrency=self.concurrency or pace or USUAL_CONCURRENCY,
            store=Store(str(self.out / STORE) if self.store is None else self.store, namespace),
        )


def interrupted(done: int, of: int, store: Store | None) -> typer.Exit:
    """Says how to go on after Ctrl-C, and is the exit to raise."""
    kept = "" if store is None else f"; what was paid for is in {store.as_dict()['url']}"
    say(f"interrupted after {done:,} of {of:,}{kept}. Run the same command again to go on")
    return typer.Exit(130)
